//! What a desk notices of other processes on its store.

use std::{sync::Arc, time::Duration};

use desk::{events::Event, watch};
use kit::{Sql, context::Change, sql::Budget};
use serde_json::json;
use tokio::time::timeout;

use crate::office::Office;

const PATIENCE: Duration = Duration::from_secs(30);

/// On a slow machine the first look comes long after somebody subscribed, and longer
/// after a change that began before.
#[tokio::test]
async fn a_change_is_noticed_however_late_the_first_look_is() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.ok("notes.add", json!({ "text": "a" })).await;
    let by_another = |sql: &mut dyn Sql| sql.execute("UPDATE desk_writes SET process = 'x'", &[]);
    let written = office.store.transaction(Budget::default(), by_another);
    assert_eq!(written.await.unwrap(), 1);

    let mut events = office.served().events.subscribe();
    office.pass(9_000);
    let watching = tokio::spawn(watch::watch(Arc::clone(&office.desk)));
    let heard = timeout(PATIENCE, events.recv()).await.unwrap().unwrap();
    assert_eq!(heard, Event(Change::Resource("office://notes".into())));
    // Later looks find the row again, and say nothing.
    let second = timeout(Duration::from_secs(1), events.recv()).await;
    assert!(second.is_err(), "{second:?}");

    office.desk.stopping.cancel();
    watching.await.unwrap();
}
