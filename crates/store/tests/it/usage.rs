//! The limit of what one caller may have stored, on both engines.

use std::sync::Arc;

use futures::future::join_all;
use kit::{
    Error, Store,
    sql::Budget,
    usage::{self, Bound, Exceeded},
};
use store::testing::both;

const HOUR: i64 = 60 * 60 * 1000;
const BOUND: Bound = Bound {
    subject: "things",
    kept_ms: 2 * HOUR,
    items: 10,
};

/// Adds one item as a tool would: beyond the bound nothing is stored.
async fn add(store: &Arc<dyn Store>, caller: &'static str, bytes: usize, now: i64) -> Option<i64> {
    add_to(BOUND, store, caller, bytes, now).await
}

async fn add_to(
    bound: Bound,
    store: &Arc<dyn Store>,
    caller: &'static str,
    bytes: usize,
    now: i64,
) -> Option<i64> {
    let added = store
        .transaction(Budget::default(), move |sql| {
            let added = bound.add(sql, caller, bytes, now)?;
            added.map_err(|Exceeded { free_at }| Error::new("FULL", free_at.to_string()))
        })
        .await;
    added.err().map(|error| {
        assert_eq!(error.code, "FULL", "{error} {:?}", error.cause);
        error.message.parse().unwrap()
    })
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_bound_is_reached_and_freed_hour_by_hour() {
    for scratch in both().await {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(usage::MIGRATIONS).await.unwrap();
        for number in 0..10 {
            // Four in the first hour, six in the second.
            let now = if number < 4 { 0 } else { HOUR };
            assert_eq!(add(&store, "one", 1, now).await, None);
        }
        assert_eq!(add(&store, "one", 1, HOUR).await, Some(3 * HOUR));
        assert_eq!(add(&store, "two", 1, HOUR).await, None);
        assert_eq!(add(&store, "one", 1, 3 * HOUR - 1).await, Some(3 * HOUR));
        for _ in 0..4 {
            assert_eq!(add(&store, "one", 1, 3 * HOUR).await, None);
        }
        assert_eq!(add(&store, "one", 1, 3 * HOUR).await, Some(4 * HOUR));
        // Bytes count too.
        assert_eq!(add(&store, "two", 40_959, HOUR).await, None);
        assert_eq!(add(&store, "two", 1, HOUR).await, Some(4 * HOUR));
        store
            .transaction(Budget::default(), |sql| usage::purge(sql, 6 * HOUR))
            .await
            .unwrap();
        let rows = store
            .query(Budget::default(), |sql| {
                sql.query("SELECT caller FROM usage_by_hour", &[])
            })
            .await
            .unwrap();
        assert!(rows.is_empty(), "{rows:?}");
    }
}

/// From far below the bound to beyond it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn many_at_once_from_two_processes_are_counted_exactly() {
    for scratch in both().await {
        let again = scratch.again().await;
        let stores: [Arc<dyn Store>; 2] = [Arc::new(scratch.database.clone()), Arc::new(again)];
        stores[0].migrate(usage::MIGRATIONS).await.unwrap();
        for (caller, items, bytes, most) in [
            ("few", 10, 1, 10),
            ("many", 200, 1, 200),
            // The bytes are used up first.
            ("large", 600, 16 * 1024, 150),
            ("huge", 600, 128 * 1024, 18),
        ] {
            let bound = Bound { items, ..BOUND };
            let adds = (0..most + 60).map(|number| {
                let store = Arc::clone(&stores[number % 2]);
                // Over the end of an hour.
                let now = if number % 3 == 0 { HOUR - 1 } else { HOUR };
                tokio::spawn(async move { add_to(bound, &store, caller, bytes, now).await })
            });
            let added = join_all(adds).await;
            let added = added.iter().filter(|one| one.as_ref().unwrap().is_none());
            assert_eq!(added.count(), most, "{caller}");
        }
    }
}

/// Calls of one caller do not wait for each other's commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn far_below_the_bound_nobody_waits() {
    let scratch = store::testing::postgres().await;
    let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
    store.migrate(usage::MIGRATIONS).await.unwrap();
    let bound = Bound {
        items: 1000,
        ..BOUND
    };
    let (added, is_added) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let slow = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let work = store.transaction(Budget::default(), move |sql| {
                bound.add(sql, "one", 1, HOUR)?.unwrap();
                added.send(()).unwrap();
                let _ = ended.recv();
                Ok(())
            });
            work.await.unwrap();
        })
    };
    tokio::task::spawn_blocking(move || is_added.recv().unwrap())
        .await
        .unwrap();
    // Two connections may use the same row, so not all of them have to pass.
    let others = (0..9).map(|_| {
        let store = Arc::clone(&store);
        let add = async move { add_to(bound, &store, "one", 1, HOUR).await };
        tokio::time::timeout(std::time::Duration::from_secs(5), add)
    });
    let others = join_all(others).await;
    let passed = others.iter().filter(|other| **other == Ok(None)).count();
    end.send(()).unwrap();
    slow.await.unwrap();
    assert!(passed >= 2, "{others:?}");
}

/// Programs from before parts were used add to a row of the hour and sum all rows.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn parts_of_an_hour_count_for_older_programs_and_are_joined_later() {
    let scratch = store::testing::postgres().await;
    let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
    store.migrate(usage::MIGRATIONS).await.unwrap();
    let bound = Bound {
        items: 100,
        ..BOUND
    };
    let rows = async || {
        let all = "SELECT CAST(SUM(items) AS BIGINT), COUNT(*), MAX(hour) FROM usage_by_hour";
        let row = store.query(Budget::default(), move |sql| sql.query_one(all, &[]));
        let row = row.await.unwrap().unwrap();
        [row.int(0), row.int(1), row.int(2)].map(Result::unwrap)
    };
    let older = "INSERT INTO usage_by_hour (subject, caller, hour, items, bytes, expires_at)
         VALUES ('things', 'one', 1, 90, 1, 14400000)";
    let older = store.transaction(Budget::default(), move |sql| sql.execute(older, &[]));
    older.await.unwrap();
    for _ in 0..10 {
        assert_eq!(add_to(bound, &store, "one", 1, HOUR).await, None);
    }
    assert_eq!(add_to(bound, &store, "one", 1, HOUR).await, Some(4 * HOUR));
    assert_eq!(rows().await[0], 100);
    let purge = |now| store.transaction(Budget::default(), move |sql| usage::purge(sql, now));
    purge(2 * HOUR).await.unwrap();
    purge(3 * HOUR).await.unwrap();
    assert_eq!(rows().await, [100, 1, 1]);
    assert_eq!(
        add_to(bound, &store, "one", 1, 3 * HOUR).await,
        Some(4 * HOUR)
    );
}
