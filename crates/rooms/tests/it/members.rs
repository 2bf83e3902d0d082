//! Entering, leaving, being there.

use jiff::{Timestamp, ToSpan};
use kit::time::Clock;
use serde_json::{Value, json};

use crate::desk::Desk;

#[tokio::test]
async fn leaving_ends_membership_and_entering_begins_it() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let users = |answer: serde_json::Value| answer["users"].as_array().unwrap().len();
    assert_eq!(
        users(desk.ok("list_room_users", json!({"roomName": "a"})).await),
        2
    );
    desk.ok("leave_room", json!({"roomName": "a", "agentName": "x"}))
        .await;
    assert_eq!(
        users(desk.ok("list_room_users", json!({"roomName": "a"})).await),
        1
    );
    assert_eq!(
        desk.no("leave_room", json!({"roomName": "a", "agentName": "x"}))
            .await,
        "AGENT_NOT_IN_ROOM"
    );
    desk.enter("a", "x").await;
}

#[tokio::test]
async fn one_agent_in_several_rooms_and_rooms_of_its_own() {
    let desk = Desk::new();
    for room in ["a", "b", "c"] {
        desk.create(room).await;
    }
    desk.enter("a", "x").await;
    desk.enter("b", "x").await;
    desk.send("a", "x", "only in a").await;
    desk.send("b", "x", "only in b").await;
    assert_eq!(desk.texts("a", json!({})).await, ["only in a"]);
    assert_eq!(desk.texts("b", json!({})).await, ["only in b"]);
    let joined = desk.ok("list_rooms", json!({"agentName": "x"})).await;
    assert_eq!(joined["rooms"].as_array().unwrap().len(), 2);
    let all = desk.ok("list_rooms", json!({})).await;
    assert_eq!(all["rooms"].as_array().unwrap().len(), 3);
    let nobody = desk
        .ok("list_rooms", json!({"agentName": "stranger"}))
        .await;
    assert_eq!(nobody["rooms"], json!([]));
    assert!(nobody["message"].is_string());
}

#[tokio::test]
async fn an_agent_in_several_rooms_is_one_online_user() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.room("b", &["x"]).await;
    let status = desk.ok("get_status", json!({})).await;
    assert_eq!(status["totalOnlineUsers"], 2);
    let in_rooms: Vec<&serde_json::Value> = status["rooms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|room| &room["onlineUsers"])
        .collect();
    assert_eq!(in_rooms, [2, 1]);
}

/// The original's clients enter on this code, whoever they are.
#[tokio::test]
async fn whoever_is_not_in_the_room_is_told_so() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.room("b", &["elsewhere"]).await;
    for agent in ["elsewhere", "never-seen"] {
        for (tool, more) in [
            ("send_message", json!({"message": "hi"})),
            ("wait_for_messages", json!({"timeout": 1})),
            ("leave_room", json!({})),
            ("mark_read", json!({})),
        ] {
            let mut arguments = json!({"roomName": "a", "agentName": agent});
            let object = arguments.as_object_mut().unwrap();
            object.extend(more.as_object().unwrap().clone());
            let code = desk.no(tool, arguments).await;
            assert_eq!(code, "AGENT_NOT_IN_ROOM", "{tool} {agent}");
        }
        desk.enter("a", agent).await;
        desk.send("a", agent, "hi").await;
    }
}

#[tokio::test]
async fn a_question_about_somebody_whom_nobody_knows_is_refused() {
    let desk = Desk::new();
    desk.room("a", &["silent", "left", "speaks"]).await;
    desk.send("a", "speaks", "hi").await;
    desk.ok("leave_room", json!({"roomName": "a", "agentName": "left"}))
        .await;
    // Of a directory that another program wrote.
    let old = "{\"id\":\"1\",\"agentName\":\"old\",\"message\":\"hi\",\"timestamp\":\"2025-06-17T09:27:18.123Z\"}\n";
    desk.write("rooms/b/messages.jsonl", old);
    for (agent, count) in [("silent", 0), ("left", 0), ("speaks", 1), ("old", 1)] {
        let found = desk
            .ok("search_messages", json!({"agentName": agent}))
            .await;
        assert_eq!(found["count"], count, "{agent}");
    }
    let elsewhere = json!({"agentName": "old", "roomName": "a"});
    assert_eq!(desk.ok("search_messages", elsewhere).await["count"], 0);
    let unknown = json!({"agentName": "nobody", "query": "hi"});
    assert_eq!(desk.no("search_messages", unknown).await, "AGENT_NOT_FOUND");
}

#[tokio::test]
async fn idle_agents_are_offline_and_may_enter_again() {
    let mut desk = Desk::new();
    let start: Timestamp = "2026-11-15T09:00:00Z".parse().unwrap();
    desk.clock = Clock::fixed(start);
    desk.room("a", &["x", "y"]).await;
    desk.clock.set(start + 20.minutes());
    desk.send("a", "y", "still here").await;
    desk.clock.set(start + 31.minutes());
    assert_eq!(desk.status_of("a", "x").await.as_deref(), Some("offline"));
    assert_eq!(desk.status_of("a", "y").await.as_deref(), Some("online"));
    let status = desk.ok("get_status", json!({"roomName": "a"})).await;
    assert_eq!(status["totalOnlineUsers"], 1);
    let rooms = desk.ok("list_rooms", json!({})).await;
    assert_eq!(
        rooms["rooms"][0]["userCount"], 2,
        "members, not who is online"
    );
    let back = desk.enter("a", "x").await;
    assert!(back["message"].as_str().unwrap().contains("back"));
    assert_eq!(desk.status_of("a", "x").await.as_deref(), Some("online"));
    // Speaking brings one back as well.
    desk.clock.set(start + 90.minutes());
    assert_eq!(desk.status_of("a", "y").await.as_deref(), Some("offline"));
    desk.send("a", "y", "back").await;
    assert_eq!(desk.status_of("a", "y").await.as_deref(), Some("online"));
}

#[tokio::test]
async fn who_only_reads_stays_online() {
    let mut desk = Desk::new();
    let start: Timestamp = "2026-11-15T09:00:00Z".parse().unwrap();
    desk.clock = Clock::fixed(start);
    desk.room("a", &["x"]).await;
    for minute in (10..=60).step_by(10) {
        desk.clock.set(start + minute.minutes());
        desk.ok("get_messages", json!({"roomName": "a", "agentName": "x"}))
            .await;
    }
    desk.clock.set(start + 70.minutes());
    assert_eq!(desk.status_of("a", "x").await.as_deref(), Some("online"));
    let mut other = desk.beside();
    other.clock = desk.clock.clone();
    assert_eq!(other.status_of("a", "x").await.as_deref(), Some("online"));
}

#[tokio::test]
async fn the_end_of_the_program_takes_its_agents_offline() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let other = desk.beside();
    other.create("b").await;
    other.enter("a", "z").await;
    desk.counter.background.as_ref().unwrap().stop().await;
    for (agent, status) in [("x", "offline"), ("y", "offline"), ("z", "online")] {
        assert_eq!(
            other.status_of("a", agent).await.as_deref(),
            Some(status),
            "{agent}"
        );
    }
    let presence: serde_json::Value =
        serde_json::from_str(&desk.read("rooms/a/presence.json")).unwrap();
    assert_eq!(presence["users"]["x"]["status"], "offline");
    other.enter("a", "x").await;
}

#[tokio::test]
async fn sending_has_a_limit_per_agent() {
    let mut desk = Desk::with(|settings| settings.sends_per_minute = 2);
    desk.clock = Clock::fixed("2026-11-15T09:00:00Z".parse().unwrap());
    desk.room("a", &["x", "y"]).await;
    for _ in 0..2 {
        desk.send("a", "x", "hi").await;
    }
    let send = json!({"roomName": "a", "agentName": "x", "message": "too much"});
    let refused = desk.call("send_message", send.clone()).await.unwrap_err();
    assert_eq!(refused.code, "RATE_LIMITED");
    assert_eq!(refused.details.unwrap()["retry_after_ms"], 60_000);
    desk.send("a", "y", "others may").await;
    desk.clock.set("2026-11-15T09:01:00Z".parse().unwrap());
    desk.ok("send_message", send).await;
}

#[tokio::test]
async fn a_deleted_room_is_gone_and_its_name_is_free() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "hi").await;
    let deleted = desk
        .ok("delete_room", json!({"roomName": "a", "confirm": true}))
        .await;
    assert_eq!(deleted["deletedMessages"], 1);
    assert!(!desk.file("rooms/a").exists());
    assert_eq!(
        desk.no("get_messages", json!({"roomName": "a"})).await,
        "ROOM_NOT_FOUND"
    );
    desk.create("a").await;
    assert_eq!(desk.count("a").await, 0);
    let send = json!({"roomName": "a", "agentName": "x", "message": "?"});
    assert_eq!(desk.no("send_message", send).await, "AGENT_NOT_IN_ROOM");
}

/// `agentName` is only a filter there: whoever has not entered any room yet may
/// look around under the name it is going to use.
#[tokio::test]
async fn who_is_in_no_room_may_look_around() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "hello @new").await;
    let rooms = desk.ok("list_rooms", json!({"agentName": "new"})).await;
    assert_eq!(rooms["rooms"], json!([]));
    assert!(rooms["message"].as_str().unwrap().contains("no room"));
    for mentions_only in [false, true] {
        let read = json!({"roomName": "a", "agentName": "new", "mentionsOnly": mentions_only});
        let read = desk.ok("get_messages", read).await;
        assert_eq!(read["count"], 1);
        assert_eq!(read["unreadCount"], Value::Null);
    }
}
