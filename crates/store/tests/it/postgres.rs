//! What only PostgreSQL can get wrong: lost servers, conflicts, types.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use kit::Sql;
use store::{
    Database, Options,
    testing::{self, Postgres, ServerSetup},
    url::DatabaseUrl,
};

use crate::{ids, insert, open, prepare, read, write};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn refused_connections_say_why() {
    let mut server = Postgres::start_own();
    let missing = format!("{}_missing", server.url());
    let error = open(&missing).await.err().unwrap();
    assert!(error.message.contains("doesn't exist"), "{error}");
    let stranger = server.url().replace("postgres@", "stranger:secret@");
    let error = open(&stranger).await.err().unwrap();
    assert!(error.message.contains("refused the login"), "{error}");
    assert!(!format!("{error:?}").contains("secret"));
    let url = server.url().to_owned();
    server.stop();
    let error = open(&url).await.err().unwrap();
    assert_eq!(error.code, kit::error::UNAVAILABLE);
    assert!(error.message.contains("can't be reached"), "{error}");
}

/// Ten desks with ten connections each, and a server that allows fewer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn work_waits_while_the_server_has_no_connection_left() {
    let settings = ["max_connections=8", "superuser_reserved_connections=0"];
    let server = Postgres::start_with(&ServerSetup {
        settings: settings.map(str::to_owned).into(),
        ..ServerSetup::default()
    });
    let options = Options {
        pool: 20,
        wait_for_primary: Duration::from_secs(60),
        busy_timeout: Duration::from_secs(60),
        ..Options::default()
    };
    let url = DatabaseUrl::parse(server.url()).unwrap();
    let database = Database::open(&url, options).await.unwrap();
    prepare(&database).await;
    let writes = (0..40).map(|id| {
        write(&database, move |sql| {
            sql.query("SELECT pg_sleep(0.05)::text", &[])?;
            insert(sql, id)
        })
    });
    for written in join_all(writes).await {
        written.unwrap_or_else(|error| panic!("{error} {:?}", error.cause));
    }
    assert_eq!(ids(&database).await.len(), 40);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_write_survives_the_end_of_all_connections() {
    let scratch = testing::postgres().await;
    prepare(&scratch.database).await;
    write(&scratch.database, |sql| insert(sql, 1))
        .await
        .unwrap();
    // As a restart does, the server ends all connections of this database.
    let other = scratch.again().await;
    let ended = read(&other, |sql| {
        sql.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
            &[],
        )
    });
    assert!(!ended.await.unwrap().is_empty());
    // Nobody notices, because the write is repeated.
    write(&scratch.database, |sql| insert(sql, 2))
        .await
        .unwrap();
    scratch.database.check().await.unwrap();
    assert_eq!(ids(&scratch.database).await, [1, 2]);
}

/// Two jobs lock two rows in opposite order: PostgreSQL ends one of them, and it is
/// repeated.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_deadlock_is_repeated() {
    let scratch = testing::postgres().await;
    prepare(&scratch.database).await;
    let fill = |sql: &mut dyn Sql| {
        insert(sql, 1)?;
        insert(sql, 2)
    };
    write(&scratch.database, fill).await.unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let both_locked = Arc::new(std::sync::Barrier::new(2));
    let cross = |first: i64, second: i64| {
        let (runs, both_locked) = (Arc::clone(&runs), Arc::clone(&both_locked));
        write(&scratch.database, move |sql| {
            let update = "UPDATE note SET weight = COALESCE(weight, 0) + 1 WHERE id = $1";
            sql.execute(update, &[first.into()])?;
            if runs.fetch_add(1, Ordering::SeqCst) < 2 {
                both_locked.wait();
            }
            sql.execute(update, &[second.into()])
        })
    };
    let (one, two) = futures::join!(cross(1, 2), cross(2, 1));
    one.unwrap();
    two.unwrap();
    // One attempt more than without the deadlock; more if the two collide again.
    assert!(runs.load(Ordering::SeqCst) >= 3);
    let weights = read(&scratch.database, |sql| {
        sql.query("SELECT weight FROM note", &[])
    });
    for row in weights.await.unwrap() {
        assert!((row.real(0).unwrap() - 2.0).abs() < f64::EPSILON);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn types_without_a_cell_are_named() {
    let scratch = testing::postgres().await;
    let error = read(&scratch.database, |sql| {
        sql.query("SELECT 1.5::numeric", &[])
    });
    let cause = error.await.unwrap_err().cause.unwrap().to_string();
    assert!(cause.contains("numeric"), "{cause}");
    let row = read(&scratch.database, |sql| {
        sql.query(
            "SELECT 1::int2, 2::int4, true, 0.5::float4, 'n'::name, 'v'::varchar(3)",
            &[],
        )
    });
    let row = row.await.unwrap().remove(0);
    let found = format!("{row:?}");
    assert_eq!(
        found,
        r#"Row([Int(1), Int(2), Int(1), Real(0.5), Text("n"), Text("v")])"#
    );
}

/// A multi-row insert is another statement for every number of rows.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn many_different_statements_do_not_pile_up() {
    let scratch = testing::postgres().await;
    let count = write(&scratch.database, |sql| {
        for number in 0..600 {
            sql.query(&format!("SELECT {number}"), &[])?;
        }
        sql.query("SELECT COUNT(*) FROM pg_prepared_statements", &[])
    });
    assert!(count.await.unwrap()[0].int(0).unwrap() < 300);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn tables_live_in_their_own_schema() {
    let scratch = testing::postgres().await;
    prepare(&scratch.database).await;
    let schemas = read(&scratch.database, |sql| {
        sql.query(
            "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ($1, $2)",
            &["note".into(), "madoguchi_migrations".into()],
        )
    });
    let schemas = schemas.await.unwrap();
    assert_eq!(schemas.len(), 1);
    assert_eq!(schemas[0].text(0).unwrap(), "madoguchi");
}

/// The clock of the server decides, however wrong the one of this machine is.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_clock_is_the_servers() {
    let scratch = testing::postgres().await;
    let store: &dyn kit::Store = &scratch.database;
    let clock = store.clock();
    // As if this machine were a day late.
    let day = 24 * 60 * 60 * 1_000_000;
    let late = clock.now().as_microsecond() - day;
    clock.follow(late, Instant::now());
    let again = scratch.again().await;
    let right = kit::Store::clock(&again).now();
    let off = right.as_microsecond() - clock.now().as_microsecond();
    assert!((off - day).abs() < 5_000_000, "{off}");
    let started = Instant::now();
    while clock.now() < right {
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(30), "it is never corrected");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
