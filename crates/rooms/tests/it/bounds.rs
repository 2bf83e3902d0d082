//! What a caller can make grow, and where it ends. Bounds inside of one module
//! have their tests there: `store/index.rs`, `store/room.rs`, `store/lock.rs`,
//! `waits.rs`, `search_messages.rs`, `model/mentions.rs`.

use kit::Context;
use serde_json::{Value, json};

use crate::desk::Desk;

fn act(room: &str, agent: &str) -> Value {
    json!({"roomName": room, "agentName": agent})
}

fn names(path: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect()
}

#[tokio::test]
async fn a_key_holds_so_many_names_and_all_keys_so_many() {
    let desk = Desk::with(|settings| {
        settings.max_names_per_key = 2.try_into().unwrap();
        settings.max_names = 3.try_into().unwrap();
    });
    desk.room("r", &[]).await;
    let enter = async |key, name: &str| desk.outcome(Some(key), "enter_room", act("r", name)).await;
    let full = "AGENT_NAME_LIMIT_EXCEEDED";
    assert_eq!(enter("a", "a1").await, "ok");
    assert_eq!(enter("a", "a2").await, "ok");
    assert_eq!(enter("a", "a3").await, full);
    assert_eq!(enter("b", "b1").await, "ok");
    assert_eq!(enter("b", "b2").await, full);
    // What is held can be used on.
    let leave = desk.outcome(Some("a"), "leave_room", act("r", "a1")).await;
    assert_eq!(leave, "ok");
    assert_eq!(enter("a", "A1").await, "ok");
    desk.enter("r", "local").await;
}

#[tokio::test]
async fn a_room_has_so_many_members() {
    let desk = Desk::with(|settings| settings.max_members = 2.try_into().unwrap());
    desk.room("r", &["a", "b"]).await;
    let full = desk.no("enter_room", act("r", "c")).await;
    assert_eq!(full, "ROOM_MEMBER_LIMIT_EXCEEDED");
    // Nobody takes a name that way.
    desk.outcome(Some("key"), "enter_room", act("r", "c")).await;
    assert!(!desk.file("owners.json").exists());
    desk.ok("leave_room", act("r", "a")).await;
    desk.enter("r", "c").await;
}

#[tokio::test]
async fn the_profiles_of_a_room_have_a_bound_together() {
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
    let refused = desk.no("enter_room", enter("late".into(), 9_800)).await;
    assert_eq!(refused, "INVALID_ARGUMENT");
    desk.ok("enter_room", enter("late".into(), 10)).await;
}

#[tokio::test]
async fn agents_that_left_are_forgotten_in_the_end() {
    let desk = Desk::new();
    desk.room("r", &["first"]).await;
    let known: Value = (0..10_000)
        .map(|n| (format!("a{n}"), json!({"firstSeenAt": ""})))
        .collect();
    desk.write("agents.json", &json!({"agents": known}).to_string());
    desk.enter("r", "new").await;
    let agents: Value = serde_json::from_str(&desk.read("agents.json")).unwrap();
    let agents = agents["agents"].as_object().unwrap();
    assert_eq!(agents.len(), 10_000);
    assert!(agents.contains_key("new") && !agents.contains_key("a0"));

    let read: Value = (0..2_500)
        .map(|n| (format!("a{n}"), json!({"agentName": format!("a{n}")})))
        .chain([("first".to_owned(), json!({"agentName": "first"}))])
        .collect();
    desk.write("rooms/r/read_status.json", &read.to_string());
    desk.send("r", "first", "hello").await;
    desk.ok("mark_read", act("r", "new")).await;
    let read: Value = serde_json::from_str(&desk.read("rooms/r/read_status.json")).unwrap();
    let read = read.as_object().unwrap();
    assert_eq!(read.len(), 2_000);
    assert!(read.contains_key("new") && read.contains_key("first"));
}

#[tokio::test]
async fn an_archive_has_an_end_and_says_so() {
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
    let size = desk.file("rooms/r/messages.archive.jsonl").metadata();
    let size = size.unwrap().len();
    assert!((1_000_000..1_040_000).contains(&size), "{size}");
    // A retry of what was sent is answered still.
    let again = desk.ok("send_message", say(sent - 1)).await;
    assert_eq!(again["duplicate"], true);
    let clear = json!({"roomName": "r", "confirm": true});
    desk.ok("clear_room_messages", clear).await;
    desk.ok("send_message", say(sent)).await;
}

#[tokio::test]
async fn metadata_too_deep_to_be_read_again_is_refused() {
    let desk = Desk::new();
    desk.room("r", &["a"]).await;
    let nested = |depth: usize| "{\"a\":".repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
    let say = |metadata: String| json!({"roomName": "r", "agentName": "a", "message": "hi", "metadata": metadata});
    desk.ok("send_message", say(nested(64))).await;
    for depth in [65, 127] {
        let refused = desk.no("send_message", say(nested(depth))).await;
        assert_eq!(refused, "INVALID_MESSAGE_FORMAT");
    }
    let profile = format!("{{\"metadata\":{}}}", nested(65));
    let mut enter = act("r", "b");
    enter["profile"] = profile.into();
    assert_eq!(desk.no("enter_room", enter).await, "INVALID_ARGUMENT");
    let mut enter = act("r", "b");
    enter["profile"] = json!({"description": "x".repeat(10_001)});
    assert_eq!(desk.no("enter_room", enter).await, "INVALID_ARGUMENT");
    let all = desk.ok("get_messages", json!({"roomName": "r"})).await;
    assert_eq!(all["count"], 1);
}

#[tokio::test]
async fn what_a_search_answers_is_cut_like_a_page() {
    let desk = Desk::new();
    for room in ["r", "s", "t"] {
        desk.room(room, &["a"]).await;
        for number in 0..40 {
            let text = format!("{number} {}", "あ".repeat(9_990));
            desk.send(room, "a", &text).await;
        }
    }
    for only in [json!({}), json!({"roomName": "s"})] {
        let mut arguments = json!({"limit": 1000});
        let object = arguments.as_object_mut().unwrap();
        object.extend(only.as_object().unwrap().clone());
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
async fn so_many_wait_at_once() {
    let desk = Desk::with(|settings| settings.max_waits_per_caller = 1.try_into().unwrap());
    desk.room("r", &["a", "b"]).await;
    let mut wait = act("r", "a");
    wait["timeout"] = 60.into();
    let context: Context = desk.context();
    let first = desk.call_in(&context, "wait_for_messages", wait);
    let second = async {
        loop {
            let users = desk.ok("list_room_users", json!({"roomName": "r"})).await;
            if users["users"][0]["waiting"] == true {
                break;
            }
            tokio::task::yield_now().await;
        }
        let refused = desk.no("wait_for_messages", act("r", "b")).await;
        assert_eq!(refused, "TOO_MANY_WAITING");
        desk.send("r", "b", "hello").await;
    };
    let (waited, ()) = tokio::join!(first, second);
    assert_eq!(waited.unwrap()["count"], 1);
    // It has ended, so there is a place again.
    desk.send("r", "a", "hello").await;
    desk.ok("wait_for_messages", act("r", "b")).await;
}

/// Whoever creates and deletes rooms leaves nothing behind.
#[cfg(unix)]
#[tokio::test]
async fn deleted_rooms_leave_no_files() {
    let desk = Desk::new();
    desk.room("kept", &["a"]).await;
    for number in 0..20 {
        let room = format!("room-{number}");
        let key = Some("key");
        let created = json!({"roomName": room});
        assert_eq!(desk.outcome(key, "create_room", created).await, "ok");
        desk.enter(&room, "a").await;
        desk.send(&room, "a", "hello").await;
        let confirmed = json!({"roomName": room, "confirm": true});
        assert_eq!(desk.outcome(key, "delete_room", confirmed).await, "ok");
    }
    assert_eq!(names(&desk.file("rooms")), ["kept"]);
    assert!(!desk.read("owners.json").contains("room-"));
}

#[tokio::test]
async fn a_message_mentions_a_hundred_and_whoever_enters_later_finds_theirs() {
    let desk = Desk::new();
    desk.room("r", &["a", "z"]).await;
    let words: String = (0..1_500).map(|n| format!("@w{n} ")).collect();
    let say = json!({"roomName": "r", "agentName": "a", "message": format!("{words} @z")});
    let sent = desk.ok("send_message", say).await;
    assert_eq!(sent["mentions"].as_array().unwrap().len(), 100);
    let line = desk.lines("rooms/r/messages.jsonl").remove(0);
    assert_eq!(line["mentions"].as_array().unwrap().len(), 100);
    for (name, count) in [("w99", 1), ("w100", 0), ("z", 0)] {
        if name != "z" {
            desk.enter("r", name).await;
        }
        let mut mine = act("r", name);
        mine["mentionsOnly"] = true.into();
        let found = desk.ok("get_messages", mine.clone()).await;
        assert_eq!(found["count"], count, "{name}");
        mine["timeout"] = 1.into();
        let waited = desk.ok("wait_for_messages", mine).await;
        assert_eq!(waited["count"], count, "{name}");
    }
}
