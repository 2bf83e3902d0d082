//! Deadlines and cancellation.

use std::time::{Duration, Instant};

use futures::future::join_all;
use kit::{
    Store,
    error::{CANCELLED, TIMEOUT},
    sql::{Budget, Sql},
};

use crate::{both, ids, insert, read, write};

/// Would take minutes.
const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000)
    SELECT CAST(COUNT(*) AS BIGINT) FROM n";
const ENDLESS_WRITE: &str = "INSERT INTO note (id)
    WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000)
    SELECT i FROM n";

fn within(time: Duration) -> Budget {
    Budget {
        deadline: Some(Instant::now() + time),
        ..Budget::default()
    }
}

const SHORT: Duration = Duration::from_millis(150);
/// Far below what the statements take, far above a pause of a slow machine.
const SOON: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_deadline_ends_a_long_read() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let started = Instant::now();
        let error = store
            .query(within(SHORT), |sql| sql.query(ENDLESS, &[]))
            .await
            .unwrap_err();
        assert_eq!(error.code, TIMEOUT);
        assert!(started.elapsed() < SOON);
        // Every reader still works.
        for _ in 0..20 {
            assert!(ids(&scratch.database).await.is_empty());
        }
    }
}

/// SQLite undoes the whole transaction when it stops a writing statement, so
/// the jobs that share it must be run again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_deadline_ends_a_long_write_and_spares_the_others() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let before = (0..20).map(|id| write(&scratch.database, move |sql| insert(sql, id)));
        let long = store.transaction(within(SHORT), |sql| {
            insert(sql, 500)?;
            sql.execute(ENDLESS_WRITE, &[])
        });
        let after = (20..40).map(|id| write(&scratch.database, move |sql| insert(sql, id)));
        let started = Instant::now();
        let (before, long, after) = futures::join!(join_all(before), long, join_all(after));
        assert_eq!(long.unwrap_err().code, TIMEOUT);
        assert!(started.elapsed() < SOON);
        assert!(before.iter().chain(&after).all(Result::is_ok));
        assert_eq!(ids(&scratch.database).await, (0..40).collect::<Vec<_>>());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_job_cancelled_before_its_commit_has_done_nothing() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let budget = Budget::default();
        let cancel = budget.cancel.clone();
        let error = store
            .transaction(budget, move |sql| {
                let changed = insert(sql, 1)?;
                cancel.cancel();
                Ok(changed)
            })
            .await
            .unwrap_err();
        assert_eq!(error.code, CANCELLED);
        assert!(ids(&scratch.database).await.is_empty());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_job_whose_budget_is_over_is_not_started() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let never = |_: &mut dyn Sql| -> kit::Result<()> { panic!("it was started") };
        let cancelled = Budget::default();
        cancelled.cancel.cancel();
        for (budget, code) in [(cancelled, CANCELLED), (within(Duration::ZERO), TIMEOUT)] {
            let error = store.transaction(budget.clone(), never).await.unwrap_err();
            assert_eq!(error.code, code);
            assert_eq!(store.query(budget, never).await.unwrap_err().code, code);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cancelling_stops_a_running_statement() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let budget = Budget::default();
        let cancel = budget.cancel.clone();
        let started = Instant::now();
        let long = store.transaction(budget, |sql| sql.execute(ENDLESS_WRITE, &[]));
        let stop = async {
            tokio::time::sleep(SHORT).await;
            cancel.cancel();
        };
        let (long, ()) = futures::join!(long, stop);
        assert_eq!(long.unwrap_err().code, CANCELLED);
        assert!(started.elapsed() < SOON);
        assert!(ids(&scratch.database).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn dropping_the_future_cancels_the_job() {
    for scratch in both().await {
        let long = write(&scratch.database, |sql| sql.execute(ENDLESS_WRITE, &[]));
        assert!(tokio::time::timeout(SHORT, long).await.is_err());
        // The lock is free soon, and nothing was written.
        let next = write(&scratch.database, |sql| insert(sql, 1));
        tokio::time::timeout(SOON, next).await.unwrap().unwrap();
        assert_eq!(ids(&scratch.database).await, [1]);
    }
}

/// A long job must not delay the answer to a queued job whose deadline passed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_waiting_job_is_answered_at_its_deadline() {
    for scratch in both().await {
        let store: &dyn Store = &scratch.database;
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let mut stopped = Some(stopped);
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let slow = write(&scratch.database, move |sql| {
            insert(sql, 1)?;
            begun.take().unwrap().send(()).unwrap();
            stopped.take().unwrap().recv().unwrap();
            Ok(())
        });
        let waiting = async {
            has_begun.await.unwrap();
            let started = Instant::now();
            // On PostgreSQL it waits for the row lock, on SQLite for the writer.
            let outcome = store.transaction(within(SHORT), |sql| insert(sql, 1)).await;
            assert_eq!(outcome.unwrap_err().code, TIMEOUT);
            assert!(started.elapsed() < SOON);
            stop.send(()).unwrap();
        };
        let (slow, ()) = futures::join!(slow, waiting);
        slow.unwrap();
        assert_eq!(
            read(&scratch.database, |sql| insert_count(sql))
                .await
                .unwrap(),
            1
        );
    }
}

fn insert_count(sql: &mut dyn Sql) -> kit::Result<i64> {
    sql.query("SELECT COUNT(*) FROM note", &[])?[0].int(0)
}
