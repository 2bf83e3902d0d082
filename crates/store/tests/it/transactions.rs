//! Transactions: all or nothing, beside others.

use futures::future::join_all;
use kit::Error;

use crate::{both, ids, insert, read, write};

/// More than the writer's queue holds, and many times a batch.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn many_concurrent_writes_all_land() {
    for scratch in both().await {
        let jobs = (0..1_500).map(|id| write(&scratch.database, move |sql| insert(sql, id)));
        for outcome in join_all(jobs).await {
            assert_eq!(outcome.unwrap(), 1);
        }
        assert_eq!(ids(&scratch.database).await, (0..1_500).collect::<Vec<_>>());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_runtime_thread_is_enough() {
    for scratch in both().await {
        let writes = (0..40).map(|id| write(&scratch.database, move |sql| insert(sql, id)));
        let reads = (0..40).map(|_| read(&scratch.database, |sql| sql.query("SELECT 1", &[])));
        let (written, answered) = futures::join!(join_all(writes), join_all(reads));
        assert!(written.iter().all(Result::is_ok));
        assert!(answered.iter().all(Result::is_ok));
        assert_eq!(ids(&scratch.database).await.len(), 40);
    }
}

/// Jobs that are committed together still fail one by one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn failures_and_panics_undo_only_themselves() {
    for scratch in both().await {
        let jobs = (0..60).map(|id| {
            write(&scratch.database, move |sql| {
                insert(sql, id)?;
                match id % 4 {
                    1 => Err(Error::new("NO", "Refused.")),
                    2 => panic!("job {id} is broken"),
                    // A duplicate key: the statement itself fails.
                    3 => insert(sql, id),
                    _ => Ok(1),
                }
            })
        });
        for (id, outcome) in join_all(jobs).await.into_iter().enumerate() {
            match id % 4 {
                0 => assert_eq!(outcome.unwrap(), 1),
                1 => assert_eq!(outcome.unwrap_err().code, "NO"),
                2 => {
                    let cause = outcome.unwrap_err().cause.unwrap().to_string();
                    assert!(cause.contains("is broken"), "{cause}");
                }
                _ => assert!(outcome.unwrap_err().is_internal()),
            }
        }
        let expected: Vec<_> = (0..60).step_by(4).collect();
        assert_eq!(ids(&scratch.database).await, expected, "{}", scratch.url);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_job_alone_that_fails_leaves_nothing() {
    for scratch in both().await {
        let outcome = write(&scratch.database, |sql| {
            insert(sql, 1)?;
            Err::<(), _>(Error::new("NO", "Refused."))
        });
        assert_eq!(outcome.await.unwrap_err().code, "NO");
        assert!(ids(&scratch.database).await.is_empty());
        write(&scratch.database, |sql| insert(sql, 1))
            .await
            .unwrap();
    }
}

/// PostgreSQL would silently roll such a job back, SQLite would commit it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_job_can_not_go_on_after_a_failed_statement() {
    for scratch in both().await {
        let outcome = write(&scratch.database, |sql| {
            insert(sql, 1)?;
            assert!(insert(sql, 1).is_err());
            assert!(insert(sql, 2).is_err(), "the job is doomed");
            Ok(())
        });
        assert!(outcome.await.unwrap_err().is_internal());
        assert!(ids(&scratch.database).await.is_empty());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reads_can_not_write_and_survive_panics() {
    for scratch in both().await {
        let error = read(&scratch.database, |sql| insert(sql, 1))
            .await
            .unwrap_err();
        assert!(error.is_internal(), "{error}");
        for _ in 0..20 {
            let error = read::<()>(&scratch.database, |_| panic!("broken"))
                .await
                .unwrap_err();
            assert!(error.is_internal());
        }
        assert!(ids(&scratch.database).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_read_sees_one_committed_snapshot() {
    for scratch in both().await {
        let (began, has_begun) = tokio::sync::oneshot::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        let database = scratch.database.clone();
        let reading = tokio::spawn(async move {
            read(&database, move |sql| {
                let before = sql.query("SELECT id FROM note", &[])?.len();
                began.send(()).unwrap();
                may_go_on.recv().unwrap();
                Ok((before, sql.query("SELECT id FROM note", &[])?.len()))
            })
            .await
        });
        has_begun.await.unwrap();
        write(&scratch.database, |sql| insert(sql, 1))
            .await
            .unwrap();
        // A new read sees it at once, the running one does not.
        assert_eq!(ids(&scratch.database).await, [1]);
        go_on.send(()).unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_instances_write_to_one_database() {
    for scratch in both().await {
        let other = scratch.again().await;
        let jobs = (0..400).map(|id| {
            let database = if id % 2 == 0 {
                &scratch.database
            } else {
                &other
            };
            write(database, move |sql| insert(sql, id))
        });
        for outcome in join_all(jobs).await {
            outcome.unwrap();
        }
        assert_eq!(ids(&scratch.database).await.len(), 400);
        assert_eq!(ids(&other).await.len(), 400);
    }
}
