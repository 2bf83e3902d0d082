//! Migrations: once, in order, and never against the record.

use std::time::{Duration, Instant};

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
const LATER: Migration = Migration {
    version: 3,
    name: "later",
    sql: "CREATE TABLE later (id BIGINT);",
};
const CONTRACT: Migration = Migration {
    version: 3,
    name: "no labels",
    sql: "-- needs step 2
        ALTER TABLE seat DROP COLUMN label;",
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
        // An unknown step before a known one.
        let error = database.migrate(steps(&[ONE, LATER])).await.unwrap_err();
        assert_eq!(error.code, STORAGE_ERROR);
        assert!(
            error.message.contains("written by a newer version"),
            "{error}"
        );
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
    }
}

/// Desks are replaced one after the other, so an older program starts beside a newer one
/// as long as the tables suit both.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_older_program_starts_unless_a_step_needs_a_newer_one() {
    for scratch in testing::both().await {
        let (old, new) = (&scratch.database, &scratch.again().await);
        old.migrate(steps(&[ONE])).await.unwrap();
        new.migrate(steps(&[ONE, TWO])).await.unwrap();
        old.migrate(steps(&[ONE])).await.unwrap();
        let seat = |sql: &mut dyn kit::Sql| sql.execute("INSERT INTO seat (id) VALUES (2)", &[]);
        write(old, seat).await.unwrap();
        // Now the newer one takes away what the older one uses.
        new.migrate(steps(&[ONE, TWO, CONTRACT])).await.unwrap();
        let error = old.migrate(steps(&[ONE])).await.unwrap_err();
        assert_eq!(error.code, STORAGE_ERROR);
        assert!(error.message.contains("too old"), "{error}");
        assert!(error.next.unwrap().contains("Replace this program"));
        // One that knows the step it needs goes on.
        new.migrate(steps(&[ONE, TWO])).await.unwrap();
    }
}

/// Tables of before the record of what programs need.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn tables_without_that_record_are_only_for_programs_that_know_all_steps() {
    for scratch in testing::both().await {
        let database = &scratch.database;
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
        write(database, |sql| {
            sql.execute("DELETE FROM madoguchi_compatibility", &[])
        })
        .await
        .unwrap();
        let error = database.migrate(steps(&[ONE])).await.unwrap_err();
        assert!(
            error.message.contains("written by a newer version"),
            "{error}"
        );
        database.migrate(steps(&[ONE, TWO])).await.unwrap();
        database.migrate(steps(&[ONE])).await.unwrap();
    }
}

/// A desk that runs while a newer one changes the tables reports it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_running_program_reports_that_it_is_too_old() {
    let scratch = testing::postgres().await;
    let (old, new) = (&scratch.database, &scratch.again().await);
    old.migrate(steps(&[ONE])).await.unwrap();
    new.migrate(steps(&[ONE, TWO])).await.unwrap();
    new.migrate(steps(&[ONE, TWO, CONTRACT])).await.unwrap();
    let started = Instant::now();
    while old.trouble().is_none() {
        assert!(started.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(old.trouble().unwrap().contains("too old"));
    assert_eq!(new.trouble(), None);
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
