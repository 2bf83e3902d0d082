//! Copies of a file that others write to.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use store::{
    Database, Options,
    snapshot::{Freeze, is_used_by_nobody, problems},
    testing,
    url::DatabaseUrl,
};

use crate::{ids, insert, prepare, write};

fn path(scratch: &testing::Scratch) -> &std::path::Path {
    match &scratch.url {
        DatabaseUrl::Sqlite(path) => path,
        DatabaseUrl::Postgres(_) => panic!("not a file"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_shows_the_moment_of_the_freeze_while_others_write() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    for id in 0..2_000 {
        let body = "x".repeat(500);
        let add = move |sql: &mut dyn kit::Sql| {
            sql.execute(
                "INSERT INTO note (id, body) VALUES ($1, $2)",
                &[id.into(), (&body).into()],
            )
        };
        write(&scratch.database, add).await.unwrap();
    }
    let frozen = Freeze::new(path(&scratch)).unwrap();
    let snapshot = frozen.snapshot(path(&scratch)).unwrap();
    // A writer waits while it is frozen.
    let is_written = Arc::new(AtomicBool::new(false));
    let (flag, database) = (Arc::clone(&is_written), scratch.database.clone());
    let writing = tokio::spawn(async move {
        for id in 5_000..5_100 {
            write(&database, move |sql| insert(sql, id)).await.unwrap();
            flag.store(true, Ordering::SeqCst);
        }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!is_written.load(Ordering::SeqCst));
    drop(frozen);
    writing.await.unwrap();
    let copy = path(&scratch).with_file_name("copy.db");
    let size = snapshot.size;
    snapshot.copy_to(&copy, &|_| {}).unwrap();
    assert_eq!(std::fs::metadata(&copy).unwrap().len(), size);
    assert_eq!(problems(&copy).unwrap(), Vec::<String>::new());
    let url = DatabaseUrl::Sqlite(copy);
    let copied = Database::open(&url, Options::default()).await.unwrap();
    assert_eq!(ids(&copied).await, (0..2_000).collect::<Vec<_>>());
    assert_eq!(ids(&scratch.database).await.len(), 2_100);
}

#[tokio::test]
async fn a_damaged_file_is_reported() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    for id in 0..500 {
        write(&scratch.database, move |sql| insert(sql, id))
            .await
            .unwrap();
    }
    scratch.database.close().await.unwrap();
    assert_eq!(problems(path(&scratch)).unwrap(), Vec::<String>::new());
    let mut bytes = std::fs::read(path(&scratch)).unwrap();
    let end = bytes.len() - 4096;
    bytes[end..end + 512].fill(0xff);
    std::fs::write(path(&scratch), bytes).unwrap();
    assert!(!problems(path(&scratch)).unwrap().is_empty());
}

#[tokio::test]
async fn an_idle_process_that_has_the_file_open_is_noticed() {
    let scratch = testing::sqlite().await;
    prepare(&scratch.database).await;
    assert!(!is_used_by_nobody(path(&scratch)).unwrap());
    write(&scratch.database, |sql| insert(sql, 1))
        .await
        .unwrap();
    scratch.database.close().await.unwrap();
    assert!(is_used_by_nobody(path(&scratch)).unwrap());
    let again = scratch.again().await;
    assert_eq!(ids(&again).await, [1]);
}
