//! What only SQLite can get wrong: files, locks, full disks.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use kit::{Error, Store, error::TIMEOUT, sql::Budget};
use store::{Database, Options, STORAGE_ERROR, testing, url::DatabaseUrl};

use crate::{ids, insert, prepare, write};

async fn refusal(path: &Path) -> Error {
    let url = DatabaseUrl::Sqlite(path.to_owned());
    let outcome = Database::open(&url, Options::default()).await;
    let error = outcome.err().unwrap();
    assert_eq!(error.code, STORAGE_ERROR);
    assert!(error.next.is_some());
    // Paths are only in the log.
    let name = path.to_string_lossy().into_owned();
    assert!(!error.to_string().contains(&name), "{error}");
    let cause = error.cause.as_ref().unwrap().to_string();
    assert!(cause.contains(&name), "{cause}");
    error
}

fn path(scratch: &testing::Scratch) -> &Path {
    match &scratch.url {
        DatabaseUrl::Sqlite(path) => path,
        DatabaseUrl::Postgres(_) => panic!("not a file"),
    }
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("letter.txt");
    let text = "Dear Sir or Madam, ".repeat(200);
    fs::write(&path, &text).unwrap();
    let error = refusal(&path).await;
    assert!(error.message.contains("not a SQLite database"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn unusable_paths_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = refusal(directory.path()).await;
    assert!(error.message.contains("can't be opened"), "{error}");
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = refusal(&file.join("x.db")).await;
    assert!(error.message.contains("can't be created"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn new_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    let path = path(&scratch);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(path), 0o600);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
}

#[tokio::test]
async fn closing_leaves_one_file() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    write(&scratch.database, |sql| insert(sql, 1))
        .await
        .unwrap();
    assert_eq!(ids(&scratch.database).await, [1]);
    scratch.database.close().await.unwrap();
    let files = fs::read_dir(path(&scratch).parent().unwrap())
        .unwrap()
        .count();
    assert_eq!(files, 1);
}

/// Jobs accepted before `close` are done.
#[tokio::test(flavor = "multi_thread")]
async fn closing_finishes_what_was_accepted() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    let jobs = (0..300).map(|id| write(&scratch.database, move |sql| insert(sql, id)));
    let (outcomes, closed) = futures::join!(join_all(jobs), scratch.database.close());
    closed.unwrap();
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(ids(&scratch.again().await).await.len(), 300);
}

#[tokio::test]
async fn a_full_disk_is_named_and_spares_the_others() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    // SQLite reports its own limit just as it reports a full disk.
    write(&scratch.database, |sql| {
        sql.query("PRAGMA max_page_count = 20", &[])
    })
    .await
    .unwrap();
    let jobs = (0..30).map(|id| {
        write(&scratch.database, move |sql| {
            let body = "x".repeat(if id == 15 { 500_000 } else { 10 });
            sql.execute(
                "INSERT INTO note (id, body) VALUES ($1, $2)",
                &[id.into(), body.as_str().into()],
            )
        })
    });
    for (id, outcome) in join_all(jobs).await.into_iter().enumerate() {
        if id == 15 {
            let error = outcome.unwrap_err();
            assert_eq!(error.code, STORAGE_ERROR);
            assert!(error.message.contains("full"), "{error}");
        } else {
            outcome.unwrap();
        }
    }
    assert_eq!(ids(&scratch.database).await.len(), 29);
}

#[tokio::test]
async fn a_job_can_not_end_its_transaction() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    let outcome = write(&scratch.database, |sql| {
        insert(sql, 1)?;
        sql.execute("ROLLBACK", &[])?;
        insert(sql, 2)
    });
    assert!(outcome.await.unwrap_err().is_internal());
    write(&scratch.database, |sql| insert(sql, 3))
        .await
        .unwrap();
    assert_eq!(ids(&scratch.database).await, [3]);
}

/// Another process holds the lock: wait for a limited time.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_held_elsewhere_is_waited_for() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    let options = Options {
        busy_timeout: Duration::from_millis(300),
        ..Options::default()
    };
    let database = Database::open(&scratch.url, options).await.unwrap();
    let elsewhere = rusqlite::Connection::open(path(&scratch)).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    let deadline = Some(started + Duration::from_millis(600));
    let store: &dyn Store = &database;
    let budget = Budget {
        deadline,
        ..Budget::default()
    };
    let (patient, impatient) = futures::join!(
        store.transaction(budget, |sql| insert(sql, 1)),
        write(&database, |sql| insert(sql, 2)),
    );
    assert_eq!(patient.unwrap_err().code, TIMEOUT);
    let error = impatient.unwrap_err();
    assert!(error.message.contains("busy"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
    // Reads are not blocked; a writer gets the lock as soon as it is free.
    assert!(ids(&database).await.is_empty());
    let write = write(&scratch.database, |sql| insert(sql, 3));
    let release = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        elsewhere.execute_batch("ROLLBACK").unwrap();
    };
    let (written, ()) = futures::join!(write, release);
    written.unwrap();
    assert_eq!(ids(&database).await, [3]);
}

#[tokio::test]
async fn the_end_of_a_process_is_detected() {
    let scratch = testing::sqlite().await;
    let other = scratch.again().await;
    let presence = scratch.database.presence().unwrap();
    let name = presence.name().to_owned();
    assert!(!other.is_gone(&name) && !scratch.database.is_gone(&name));
    drop(presence);
    assert!(other.is_gone(&name));
    // A killed process leaves its marker, without the lock.
    let marks = path(&scratch).with_file_name("test.db-alive");
    fs::write(marks.join(&name), "").unwrap();
    assert!(other.is_gone(&name));
    let next = other.presence().unwrap();
    let left: Vec<_> = fs::read_dir(&marks).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].path().ends_with(next.name()));
    // Processes without a marker are never reported as gone.
    assert!(!other.is_gone("somebody") && !other.is_gone(""));
}

#[tokio::test]
async fn a_lease_is_taken_over_at_once_from_dead_processes_only() {
    let scratch = testing::sqlite().await;
    let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
    store.migrate(kit::lease::MIGRATIONS).await.unwrap();
    let take = async |holder: &str| {
        let taken = kit::lease::take(&store, "work", holder, 1_000, 60_000);
        taken.await.unwrap()
    };
    let (one, two) = (store.presence().unwrap(), store.presence().unwrap());
    assert!(take(one.name()).await);
    assert!(!take(two.name()).await);
    drop(one);
    assert!(take(two.name()).await);
    assert!(!take("somebody").await);
}
