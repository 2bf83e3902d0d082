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
    let added = store
        .transaction(Budget::default(), move |sql| {
            let added = BOUND.add(sql, caller, bytes, now)?;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn many_at_once_from_two_processes_are_counted_exactly() {
    for scratch in both().await {
        let again = scratch.again().await;
        let stores: [Arc<dyn Store>; 2] = [Arc::new(scratch.database.clone()), Arc::new(again)];
        stores[0].migrate(usage::MIGRATIONS).await.unwrap();
        let adds = (0..40).map(|number| {
            let store = Arc::clone(&stores[number % 2]);
            tokio::spawn(async move { add(&store, "one", 1, HOUR).await })
        });
        let added = join_all(adds).await;
        let added = added.iter().filter(|one| one.as_ref().unwrap().is_none());
        assert_eq!(added.count(), 10);
    }
}
