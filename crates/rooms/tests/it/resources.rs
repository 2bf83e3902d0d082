//! Rooms and messages as resources, and who is told of changes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kit::{
    context::Change,
    resource::{CompletionQuestion, Reference},
};
use serde_json::Value;
use tokio::time::sleep;

use super::desk::{Desk, eventually, message, texts};

async fn read(desk: &Desk, uri: &str) -> Option<Value> {
    let text = (**desk).read(uri).await?;
    Some(serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn rooms_and_messages_can_be_listed_read_and_completed() {
    let desk = Desk::new();
    desk.room("dev-team", &["x"]).await;
    desk.create("general").await;
    desk.send("dev-team", "x", "hello").await;
    let resources = desk.counter.resources.as_ref().unwrap();
    let page = resources.list(&desk.context, None).await.unwrap();
    let uris: Vec<&str> = page.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(
        uris,
        [
            "rooms://dev-team",
            "rooms://dev-team/messages",
            "rooms://general",
            "rooms://general/messages"
        ]
    );
    let messages = read(&desk, "rooms://dev-team/messages").await.unwrap();
    assert_eq!(texts(&messages), ["hello"]);
    let room = read(&desk, "rooms://dev-team").await.unwrap();
    assert_eq!(room["users"][0]["name"], "x");
    for missing in ["rooms://nowhere", "rooms://../x/messages", "rooms://"] {
        assert!(read(&desk, missing).await.is_none(), "{missing}");
    }
    let question = CompletionQuestion {
        about: Reference::Template("rooms://{roomName}/messages".into()),
        argument: "roomName".into(),
        typed: "GEN".into(),
        settled: Vec::new(),
    };
    let values = resources.complete(&desk.context, &question).await.unwrap();
    assert_eq!(values, ["general"]);
}

#[tokio::test]
async fn a_call_reports_what_it_changed() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let context = desk.new_context();
    let send = message("a", "x", "hi");
    desk.call_as(&context, "send_message", send).await.unwrap();
    let changed = Change::Resource("rooms://a/messages".into());
    assert_eq!(context.take_changes(), [changed]);
}

#[tokio::test]
async fn subscribers_are_notified_of_other_processes_only() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let heard: Arc<Mutex<Vec<Change>>> = Arc::default();
    let ears = Arc::clone(&heard);
    let background = desk.counter.background.as_ref().unwrap();
    background.start(Arc::new(move |change| ears.lock().unwrap().push(change)));
    sleep(Duration::from_millis(200)).await;
    heard.lock().unwrap().clear();

    desk.send("a", "x", "mine").await;
    sleep(Duration::from_millis(100)).await;
    let messages = Change::Resource("rooms://a/messages".into());
    assert!(
        !heard.lock().unwrap().contains(&messages),
        "the call itself says so"
    );

    let other = desk.beside();
    other.enter("a", "y").await;
    other.send("a", "y", "theirs").await;
    other.create("b").await;
    let wanted = [
        messages,
        Change::Resource("rooms://a".into()),
        Change::ResourceList,
    ];
    let is_heard = |change| heard.lock().unwrap().contains(change);
    eventually(async || wanted.iter().all(is_heard)).await;
    let heard_now = heard.lock().unwrap().clone();
    for change in wanted {
        assert!(heard_now.contains(&change), "{change:?} in {heard_now:?}");
    }
    background.stop().await;
}
