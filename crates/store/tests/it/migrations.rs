//! Migrations: once, in order, and never against the record.

use kit::{Store, counter::Migrations, sql::Migration};
use store::{Database, Options, STORAGE_ERROR, testing};

use crate::{read, write};

const ONE: Migration = Migration {
    version: 1,
    name: "seats",
    sql: "-- Seats; and more.
        CREATE TABLE seat (id BIGINT PRIMARY KEY, label TEXT NOT NULL DEFAULT 'a;b');
        /* one; two */
        INSERT INTO seat (id) VALUES (1);
        ",
};
const TWO: Migration = Migration {
    version: 2,
    name: "rows",
    sql: "ALTER TABLE seat ADD COLUMN line TEXT; CREATE INDEX seat_line ON seat (line);",
};
const EDITED: Migration = Migration {
    version: 1,
    name: "seats",
    sql: "CREATE TABLE seat (id BIGINT PRIMARY KEY);",
};
const BROKEN: Migration = Migration {
    version: 2,
    name: "broken",
    sql: "CREATE TABLE half (id BIGINT); CREATE TABEL oops (id BIGINT);",
};

fn steps(steps: &'static [Migration]) -> Migrations {
    Migrations {
        owner: "cinema",
        steps,
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn steps_are_applied_once_and_in_order() {
    for scratch in testing::both().await {
        let database = &scratch.database;
        database.migrate(steps(&[ONE])).await.unwrap();
        database.migrate(steps(&[ONE])).await.unwrap();
        database.migrate(steps(&[TWO, ONE])).await.unwrap();
        let (label, record) = read(database, |sql| {
            let label = sql.query("SELECT label, line FROM seat", &[])?[0].text(0)?;
            let record = sql.query(
                "SELECT version, name, applied_at FROM madoguchi_migrations
                 WHERE owner = 'cinema' ORDER BY version",
                &[],
            )?;
            Ok((label, record))
        })
        .await
        .unwrap();
        assert_eq!(label, "a;b");
        assert_eq!(record.len(), 2);
        assert_eq!(
            (record[1].int(0).unwrap(), record[1].text(1).unwrap()),
            (2, "rows".into())
        );
        assert!(record[1].int(2).unwrap() > 1_700_000_000_000);
        // Owners have separate steps.
        let other = Migrations {
            owner: "other",
            steps: &[],
        };
        database.migrate(other).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn instances_that_start_together_apply_once() {
    for scratch in testing::both().await {
        let mut others = Vec::new();
        for _ in 0..6 {
            others.push(scratch.again().await);
        }
        let starts = others
            .iter()
            .map(|database| database.migrate(steps(&[ONE, TWO])));
        for outcome in futures::future::join_all(starts).await {
            outcome.unwrap();
        }
        let seats = read(&scratch.database, |sql| {
            sql.query("SELECT id FROM seat", &[])
        });
        assert_eq!(seats.await.unwrap().len(), 1);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn another_history_is_refused() {
    for scratch in testing::both().await {
        let database = &scratch.database;
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
        let error = database.migrate(steps(&[EDITED, TWO])).await.unwrap_err();
        assert_eq!(error.code, STORAGE_ERROR);
        assert!(error.message.contains("another version"), "{error}");
        let error = database.migrate(steps(&[ONE])).await.unwrap_err();
        assert_eq!(error.code, STORAGE_ERROR);
        assert!(
            error.message.contains("written by a newer version"),
            "{error}"
        );
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_broken_step_changes_nothing() {
    for scratch in testing::both().await {
        let database = &scratch.database;
        let error = database.migrate(steps(&[ONE, BROKEN])).await.unwrap_err();
        assert_eq!(error.code, STORAGE_ERROR);
        assert!(error.message.contains("Step 2 (broken)"), "{error}");
        for table in ["half", "seat", "madoguchi_migrations"] {
            let query = format!("SELECT * FROM {table}");
            let outcome = read(database, move |sql| sql.query(&query, &[])).await;
            assert!(outcome.is_err(), "{table}");
        }
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
    }
}

/// Statements prepared before a change of the tables work after it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn running_instances_survive_a_change_of_tables() {
    for scratch in testing::both().await {
        let options = Options {
            pool: 1,
            ..Options::default()
        };
        let old = &Database::open(&scratch.url, options).await.unwrap();
        old.migrate(steps(&[ONE])).await.unwrap();
        let all = |sql: &mut dyn kit::Sql| sql.query("SELECT * FROM seat", &[]);
        assert_eq!(read(old, all).await.unwrap()[0].0.len(), 2);
        let new = scratch.again().await;
        new.migrate(steps(&[ONE, TWO])).await.unwrap();
        assert_eq!(write(old, all).await.unwrap()[0].0.len(), 3);
        assert_eq!(read(old, all).await.unwrap()[0].0.len(), 3);
        write(old, |sql| sql.execute("UPDATE seat SET line = 'A'", &[]))
            .await
            .unwrap();
    }
}
