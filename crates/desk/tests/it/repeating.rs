//! Calls with an idempotency key, and the rows that changes leave.

use std::num::NonZeroU32;

use desk::{Settings, keys::NewKey, ledger};
use serde_json::{Value, json};

use crate::office::{DAY, NOW, Office};

fn note(text: &str, key: &str) -> Value {
    json!({ "text": text, "key": key })
}

const WRITES: &str = "SELECT tool FROM desk_writes";
const REPLIES: &str = "SELECT idempotency_key FROM desk_replies";

#[tokio::test]
async fn a_retry_gets_the_first_answer_for_a_day() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let first = visitor.ok("notes.add", note("a", "k")).await;
    office.pass(DAY);
    assert_eq!(visitor.ok("notes.add", note("a", "k")).await, first);
    let reused = visitor.code("notes.add", note("b", "k")).await;
    assert_eq!(reused, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(office.notes().await, ["a"]);
    // Keys of other callers are other keys.
    let phone = office.with_key(NewKey {
        name: "phone".into(),
        ..NewKey::default()
    });
    phone.await.ok("notes.add", note("c", "k")).await;
    office.pass(1);
    let later = visitor.ok("notes.add", note("b", "k")).await;
    assert_eq!(later["text"], "b", "the key is free again");
    assert_eq!(office.notes().await, ["a", "c", "b"]);
}

#[tokio::test]
async fn a_blank_key_is_none_and_a_long_one_is_stored_as_its_digest() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    for _ in 0..2 {
        visitor.ok("notes.add", note("a", " ")).await;
    }
    let (long, longer) = ("k".repeat(200), "k".repeat(201));
    for key in [&long, &longer] {
        for _ in 0..2 {
            visitor.ok("notes.add", note("b", key)).await;
        }
    }
    assert_eq!(office.notes().await, ["a", "a", "b", "b"]);
    let stored = office.texts(REPLIES).await;
    assert!(stored.contains(&long), "{stored:?}");
    assert!(!stored.contains(&longer), "{stored:?}");
    assert_eq!(stored.len(), 2);
}

#[tokio::test]
async fn only_a_change_leaves_a_row_and_rows_are_deleted_after_a_day() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.ok("look", json!({})).await;
    let impossible = visitor.code("notes.add", note("impossible", "k")).await;
    assert_eq!(impossible, "IMPOSSIBLE");
    assert!(office.texts(WRITES).await.is_empty());
    assert!(office.texts(REPLIES).await.is_empty(), "the key is free");
    visitor.ok("notes.add", note("a", "k")).await;
    assert_eq!(office.texts(WRITES).await, ["notes.add"]);
    let changes = office.texts("SELECT changes FROM desk_writes").await;
    assert_eq!(changes, ["office://notes"]);
    for (now, rows) in [(NOW + DAY, 1), (NOW + DAY + 1, 0)] {
        ledger::purge(&office.store, now).await.unwrap();
        assert_eq!(office.texts(WRITES).await.len(), rows);
        assert_eq!(office.texts(REPLIES).await.len(), rows);
    }
}

#[tokio::test]
async fn a_caller_can_have_only_so_many_answers_kept() {
    let most = |settings: &mut Settings| {
        settings.limits.kept_answers_per_caller = NonZeroU32::new(2).unwrap();
    };
    let office = Office::open(most).await;
    let visitor = office.anonymous();
    for key in ["1", "2"] {
        visitor.ok("notes.add", note("a", key)).await;
    }
    let refused = visitor.refused("notes.add", note("a", "3")).await;
    assert_eq!(refused.code, "TOO_MANY_IDEMPOTENCY_KEYS");
    assert_eq!(refused.details.unwrap()["most"], 2);
    visitor.ok("notes.add", note("a", "2")).await;
    visitor.ok("notes.add", json!({ "text": "b" })).await;
    assert_eq!(office.notes().await, ["a", "a", "b"]);
}

/// The answer exists already, so nobody has to be asked.
#[tokio::test]
async fn a_retry_of_an_approved_call_is_answered_without_asking() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let message = |text: &str| json!({ "to": "Ann", "text": text, "key": "k" });
    visitor.refused("send", message("a")).await;
    office.approve().await;
    let first = visitor.ok("send", message("a")).await;
    assert_eq!(visitor.ok("send", message("a")).await, first);
    let reused = visitor.code("send", message("b")).await;
    assert_eq!(reused, "IDEMPOTENCY_KEY_REUSED");
    assert!(office.waiting().await.is_empty());
    assert_eq!(office.notes().await, ["Ann: a"]);
}
