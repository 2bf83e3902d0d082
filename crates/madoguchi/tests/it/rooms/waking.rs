//! Messages wake whoever waits for them or watches them.

use std::time::Duration;

use serde_json::json;

use super::{NewPlace, Way, member, on_both_stores, room, say};
use crate::harness::{Socket, initialize, initialized, modern, plain, result};

on_both_stores! {
    many_wait_at_once_and_one_message_wakes_them_all
    watched_messages_tell_their_watchers_in_both_eras
}

/// The limit of connections is far beyond this; each of these keeps one open.
async fn many_wait_at_once_and_one_message_wakes_them_all(place: NewPlace) {
    const MANY: usize = 50;
    let place = place();
    let (desk, speaker) = (Way::http(&place).await, Way::stdio(&place));
    speaker.ok("create_room", room("r")).await;
    speaker.ok("enter_room", member("speaker", "r")).await;
    for number in 0..MANY {
        let agent = member(&format!("agent-{number}"), "r");
        desk.ok("enter_room", agent).await;
    }
    let waits = (0..MANY).map(|number| {
        let mut wait = member(&format!("agent-{number}"), "r");
        wait["timeout"] = 120.into();
        desk.ok("wait_for_messages", wait)
    });
    let (answers, ()) = tokio::join!(futures::future::join_all(waits), async {
        loop {
            let users = speaker.ok("list_room_users", room("r")).await;
            let users = users["users"].as_array().unwrap();
            if users.iter().filter(|user| user["waiting"] == true).count() == MANY {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        say(&speaker, "speaker", "r", "good morning").await;
    });
    for answer in answers {
        assert_eq!(answer["messages"][0]["message"], "good morning");
        assert_eq!(answer["unreadCount"], 0);
    }
}

async fn watched_messages_tell_their_watchers_in_both_eras(place: NewPlace) {
    let place = place();
    let way = Way::http(&place).await;
    let Way::Http(desk) = &way else {
        unreachable!()
    };
    way.ok("create_room", room("dev-team")).await;
    way.ok("enter_room", member("a", "dev-team")).await;
    let uri = "rooms://dev-team/messages";

    let mut newer = Socket::open(desk, "rooms").await;
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    newer.send(&modern(9, "subscriptions/listen", filter)).await;
    assert_eq!(
        newer.receive().await["method"],
        "notifications/subscriptions/acknowledged"
    );
    let mut older = Socket::open(desk, "rooms").await;
    result(&older.request(&initialize(1, "2025-06-18")).await);
    older.send(&initialized()).await;
    result(
        &older
            .request(&plain(2, "resources/subscribe", json!({ "uri": uri })))
            .await,
    );

    let other = Way::stdio(&place);
    other.ok("enter_room", member("b", "dev-team")).await;
    say(&other, "b", "dev-team", "hello").await;
    for socket in [&mut newer, &mut older] {
        loop {
            let message = socket.receive().await;
            if message["method"] == "notifications/resources/updated" {
                assert_eq!(message["params"]["uri"], uri);
                break;
            }
        }
    }
    let read = desk
        .rpc("rooms", "resources/read", json!({ "uri": uri }))
        .await;
    assert!(result(&read).to_string().contains("hello"), "{read}");
}
