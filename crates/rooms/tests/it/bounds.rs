//! What a caller can make grow, and where it ends. Bounds inside of one module
//! have their tests there: `store/index.rs`, `store/room.rs`, `store/lock.rs`,
//! `waits.rs`, `search_messages.rs`, `model/mentions.rs`.

use serde_json::{Value, json};

use super::desk::{Desk, confirmed, in_files, member, room, with};

#[tokio::test]
async fn names_are_limited_per_key_and_in_all() {
    let desk = Desk::with(|settings| {
        settings.max_names_per_key = 2.try_into().unwrap();
        settings.max_names = 3.try_into().unwrap();
    });
    desk.room("r", &[]).await;
    let enter = async |key, name: &str| {
        desk.outcome(Some(key), "enter_room", member("r", name))
            .await
    };
    let full = "AGENT_NAME_LIMIT_EXCEEDED";
    assert_eq!(enter("a", "a1").await, "ok");
    assert_eq!(enter("a", "a2").await, "ok");
    assert_eq!(enter("a", "a3").await, full);
    assert_eq!(enter("b", "b1").await, "ok");
    assert_eq!(enter("b", "b2").await, full);
    // What is held can be used on.
    let leave = desk
        .outcome(Some("a"), "leave_room", member("r", "a1"))
        .await;
    assert_eq!(leave, "ok");
    assert_eq!(enter("a", "A1").await, "ok");
    desk.enter("r", "local").await;
}

#[tokio::test]
async fn the_members_of_a_room_are_limited() {
    let desk = Desk::with(|settings| settings.max_members = 2.try_into().unwrap());
    desk.room("r", &["a", "b"]).await;
    desk.refuses("enter_room", member("r", "c"), "ROOM_MEMBER_LIMIT_EXCEEDED")
        .await;
    // Nobody takes a name that way.
    desk.outcome(Some("key"), "enter_room", member("r", "c"))
        .await;
    assert!(!desk.file("owners.json").exists());
    desk.ok("leave_room", member("r", "a")).await;
    desk.enter("r", "c").await;
}

#[tokio::test]
async fn the_profiles_of_a_room_share_a_limit() {
    let desk = Desk::new();
    desk.room("r", &[]).await;
    let enter = |agent: String, length: usize| {
        let profile = json!({ "description": "d".repeat(length) });
        json!({ "roomName": "r", "agentName": agent, "profile": profile })
    };
    for agent in 0..26 {
        desk.ok("enter_room", enter(format!("a{agent}"), 9_800))
            .await;
    }
    desk.refuses(
        "enter_room",
        enter("late".into(), 9_800),
        "INVALID_ARGUMENT",
    )
    .await;
    desk.ok("enter_room", enter("late".into(), 10)).await;
}

#[tokio::test]
async fn the_oldest_agents_that_left_are_forgotten() {
    let desk = Desk::on_files(|_| {});
    desk.room("r", &["first"]).await;
    let known: Value = (0..10_000)
        .map(|n| (format!("a{n}"), json!({"firstSeenAt": ""})))
        .collect();
    desk.write("agents.json", &json!({"agents": known}).to_string());
    desk.enter("r", "new").await;
    let agents = desk.json("agents.json");
    let agents = agents["agents"].as_object().unwrap();
    assert_eq!(agents.len(), 10_000);
    assert!(agents.contains_key("new") && !agents.contains_key("a0"));

    let read: Value = (0..2_500)
        .map(|n| (format!("a{n}"), json!({"agentName": format!("a{n}")})))
        .chain([("first".to_owned(), json!({"agentName": "first"}))])
        .collect();
    desk.write("rooms/r/read_status.json", &read.to_string());
    desk.send("r", "first", "hello").await;
    desk.ok("mark_read", member("r", "new")).await;
    let read = desk.json("rooms/r/read_status.json");
    let read = read.as_object().unwrap();
    assert_eq!(read.len(), 2_000);
    assert!(read.contains_key("new") && read.contains_key("first"));
}

#[tokio::test]
async fn a_full_archive_refuses_messages() {
    let desk = Desk::with(|settings| {
        settings.max_archive_mb = 1.try_into().unwrap();
        settings.max_messages = 1.try_into().unwrap();
    });
    desk.room("r", &["a"]).await;
    let say = |id: usize| json!({"roomName": "r", "agentName": "a", "message": "あ".repeat(10_000), "clientMessageId": id.to_string()});
    let mut sent = 0;
    let refused = loop {
        match desk.call("send_message", say(sent)).await {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code, "ROOM_ARCHIVE_FULL");
    assert_eq!(desk.count("r").await as usize, sent, "nothing is lost");
    if in_files() {
        let size = desk.file("rooms/r/messages.archive.jsonl").metadata();
        let size = size.unwrap().len();
        assert!((1_000_000..1_040_000).contains(&size), "{size}");
    } else {
        assert!((33..=35).contains(&sent), "{sent}");
    }
    // A retry of what was sent is answered still.
    let again = desk.ok("send_message", say(sent - 1)).await;
    assert_eq!(again["duplicate"], true);
    let clear = confirmed("r");
    desk.ok("clear_room_messages", clear).await;
    desk.ok("send_message", say(sent)).await;
}

#[tokio::test]
async fn deeply_nested_metadata_is_refused() {
    let desk = Desk::new();
    desk.room("r", &["a"]).await;
    let nested = |depth: usize| "{\"a\":".repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
    let say = |metadata: String| json!({"roomName": "r", "agentName": "a", "message": "hi", "metadata": metadata});
    desk.ok("send_message", say(nested(64))).await;
    for depth in [65, 127] {
        desk.refuses("send_message", say(nested(depth)), "INVALID_MESSAGE_FORMAT")
            .await;
    }
    let profile = format!("{{\"metadata\":{}}}", nested(65));
    let mut enter = member("r", "b");
    enter["profile"] = profile.into();
    desk.refuses("enter_room", enter, "INVALID_ARGUMENT").await;
    let mut enter = member("r", "b");
    enter["profile"] = json!({"description": "x".repeat(10_001)});
    desk.refuses("enter_room", enter, "INVALID_ARGUMENT").await;
    let all = desk.ok("get_messages", room("r")).await;
    assert_eq!(all["count"], 1);
}

#[tokio::test]
async fn a_large_search_result_is_cut() {
    let desk = Desk::new();
    for room in ["r", "s", "t"] {
        desk.room(room, &["a"]).await;
        for number in 0..40 {
            let text = format!("{number} {}", "あ".repeat(9_990));
            desk.send(room, "a", &text).await;
        }
    }
    for only in [json!({}), room("s")] {
        let arguments = with(only, json!({"limit": 1000}));
        let found = desk.ok("search_messages", arguments).await;
        assert_eq!(found["hasMore"], true);
        let bytes = found.to_string().len();
        assert!((80_000..110_000).contains(&bytes), "{bytes}");
        let first = found["messages"][0]["message"].as_str().unwrap();
        assert!(first.starts_with("39 "), "{first:.10}");
    }
    let few = desk.ok("search_messages", json!({"limit": 2})).await;
    let rooms = few["messages"].as_array().unwrap().iter();
    assert!(rooms.clone().all(|found| found["roomName"] == "t"));
    assert_eq!((rooms.len(), &few["hasMore"]), (2, &json!(true)));
}

#[tokio::test]
async fn waiting_calls_are_limited() {
    let desk = Desk::with(|settings| settings.max_waits_per_caller = 1.try_into().unwrap());
    desk.room("r", &["a", "b"]).await;
    let wait = with(member("r", "a"), json!({"timeout": 60}));
    let first = desk.ok("wait_for_messages", wait);
    let second = async {
        desk.until_waiting("r", "a").await;
        desk.refuses("wait_for_messages", member("r", "b"), "TOO_MANY_WAITING")
            .await;
        desk.send("r", "b", "hello").await;
    };
    let (waited, ()) = tokio::join!(first, second);
    assert_eq!(waited["count"], 1);
    // It has ended, so there is a place again.
    desk.send("r", "a", "hello").await;
    desk.ok("wait_for_messages", member("r", "b")).await;
}

/// Whoever creates and deletes rooms leaves nothing behind.
#[cfg(unix)]
#[tokio::test]
async fn deleted_rooms_leave_no_files() {
    let desk = Desk::on_files(|_| {});
    desk.room("kept", &["a"]).await;
    for number in 0..20 {
        let (name, key) = (format!("room-{number}"), Some("key"));
        let created = desk.outcome(key, "create_room", room(&name)).await;
        desk.enter(&name, "a").await;
        desk.send(&name, "a", "hello").await;
        let deleted = desk.outcome(key, "delete_room", confirmed(&name)).await;
        assert_eq!((created.as_str(), deleted.as_str()), ("ok", "ok"));
    }
    assert_eq!(desk.files_like("rooms", ""), ["kept"]);
    assert!(!desk.read("owners.json").contains("room-"));
}

#[tokio::test]
async fn a_message_mentions_at_most_a_hundred_even_later_members() {
    let desk = Desk::new();
    desk.room("r", &["a", "z"]).await;
    let words: String = (0..1_500).map(|n| format!("@w{n} ")).collect();
    let say = json!({"roomName": "r", "agentName": "a", "message": format!("{words} @z")});
    let sent = desk.ok("send_message", say).await;
    assert_eq!(sent["mentions"].as_array().unwrap().len(), 100);
    if in_files() {
        let line = desk.lines("rooms/r/messages.jsonl").remove(0);
        assert_eq!(line["mentions"].as_array().unwrap().len(), 100);
    }
    for (name, count) in [("w99", 1), ("w100", 0), ("z", 0)] {
        if name != "z" {
            desk.enter("r", name).await;
        }
        let mut mine = with(member("r", name), json!({"mentionsOnly": true}));
        let found = desk.ok("get_messages", mine.clone()).await;
        assert_eq!(found["count"], count, "{name}");
        mine["timeout"] = 1.into();
        let waited = desk.ok("wait_for_messages", mine).await;
        assert_eq!(waited["count"], count, "{name}");
    }
}
