//! Entering, leaving, being there.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::desk::{Desk, in_files, member, message, room, with};

const NINE: &str = "2026-11-15T09:00:00Z";

#[tokio::test]
async fn leaving_ends_membership_and_entering_begins_it() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    assert_eq!(desk.members("a").await, ["x", "y"]);
    desk.leave("a", "x").await;
    assert_eq!(desk.members("a").await, ["y"]);
    desk.refuses("leave_room", member("a", "x"), "AGENT_NOT_IN_ROOM")
        .await;
    desk.enter("a", "x").await;
}

#[tokio::test]
async fn an_agent_can_be_in_several_rooms() {
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
    assert_eq!(desk.rooms(Some("x")).await.len(), 2);
    assert_eq!(desk.rooms(None).await.len(), 3);
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
    assert_eq!(status["rooms"][0]["onlineUsers"], 2);
    assert_eq!(status["rooms"][1]["onlineUsers"], 1);
}

/// The original's clients enter on this code, whoever they are.
#[tokio::test]
async fn calls_of_non_members_get_agent_not_in_room() {
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
            let arguments = with(member("a", agent), more);
            desk.refuses(tool, arguments, "AGENT_NOT_IN_ROOM").await;
        }
        desk.enter("a", agent).await;
        desk.send("a", agent, "hi").await;
    }
}

#[tokio::test]
async fn searching_messages_of_an_unknown_agent_is_refused() {
    let desk = Desk::on_files(|_| {});
    desk.room("a", &["silent", "left", "speaks"]).await;
    desk.send("a", "speaks", "hi").await;
    desk.leave("a", "left").await;
    // Of a directory that another program wrote.
    let old = "{\"id\":\"1\",\"agentName\":\"old\",\"message\":\"hi\",\"timestamp\":\"2025-06-17T09:27:18.123Z\"}\n";
    desk.write("rooms/b/messages.jsonl", old);
    let desk = desk.moved_here().await;
    for (agent, count) in [("silent", 0), ("left", 0), ("speaks", 1), ("old", 1)] {
        let found = desk
            .ok("search_messages", json!({"agentName": agent}))
            .await;
        assert_eq!(found["count"], count, "{agent}");
    }
    let elsewhere = json!({"agentName": "old", "roomName": "a"});
    assert_eq!(desk.ok("search_messages", elsewhere).await["count"], 0);
    let unknown = json!({"agentName": "nobody", "query": "hi"});
    desk.refuses("search_messages", unknown, "AGENT_NOT_FOUND")
        .await;
}

#[tokio::test]
async fn idle_agents_are_offline_and_may_enter_again() {
    let desk = Desk::at_time(NINE, |_| {});
    let start: Timestamp = NINE.parse().unwrap();
    desk.room("a", &["x", "y"]).await;
    desk.context.clock.set(start + 20.minutes());
    desk.send("a", "y", "still here").await;
    desk.context.clock.set(start + 31.minutes());
    assert_eq!(desk.status_of("a", "x").await, "offline");
    assert_eq!(desk.status_of("a", "y").await, "online");
    let status = desk.ok("get_status", room("a")).await;
    assert_eq!(status["totalOnlineUsers"], 1);
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms[0]["userCount"], 2, "members, not who is online");
    let back = desk.enter("a", "x").await;
    assert!(back["message"].as_str().unwrap().contains("back"));
    assert_eq!(desk.status_of("a", "x").await, "online");
    // Speaking brings one back as well.
    desk.context.clock.set(start + 90.minutes());
    assert_eq!(desk.status_of("a", "y").await, "offline");
    desk.send("a", "y", "back").await;
    assert_eq!(desk.status_of("a", "y").await, "online");
}

#[tokio::test]
async fn agents_that_only_read_stay_online() {
    let desk = Desk::at_time(NINE, |_| {});
    let start: Timestamp = NINE.parse().unwrap();
    desk.room("a", &["x"]).await;
    for minute in (10..=60).step_by(10) {
        desk.context.clock.set(start + minute.minutes());
        desk.ok("get_messages", member("a", "x")).await;
    }
    desk.context.clock.set(start + 70.minutes());
    assert_eq!(desk.status_of("a", "x").await, "online");
    assert_eq!(desk.beside().status_of("a", "x").await, "online");
}

#[tokio::test]
async fn stopping_the_program_takes_its_agents_offline() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let other = desk.beside();
    other.create("b").await;
    other.enter("a", "z").await;
    desk.settle().await;
    for (agent, status) in [("x", "offline"), ("y", "offline"), ("z", "online")] {
        assert_eq!(other.status_of("a", agent).await, status, "{agent}");
    }
    if in_files() {
        let presence = desk.json("rooms/a/presence.json");
        assert_eq!(presence["users"]["x"]["status"], "offline");
    }
    other.enter("a", "x").await;
}

#[tokio::test]
async fn sending_has_a_limit_per_agent() {
    let desk = Desk::at_time(NINE, |settings| settings.sends_per_minute = 2);
    desk.room("a", &["x", "y"]).await;
    for _ in 0..2 {
        desk.send("a", "x", "hi").await;
    }
    let send = message("a", "x", "too much");
    let refused = desk
        .refuses("send_message", send.clone(), "RATE_LIMITED")
        .await;
    assert_eq!(refused.details.unwrap()["retry_after_ms"], 60_000);
    desk.send("a", "y", "others may").await;
    desk.set_clock("2026-11-15T09:01:00Z");
    desk.ok("send_message", send).await;
}

#[tokio::test]
async fn a_deleted_room_is_gone_and_its_name_is_free() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "hi").await;
    let deleted = desk.delete("a").await;
    assert_eq!(deleted["deletedMessages"], 1);
    assert!(!desk.file("rooms/a").exists());
    desk.refuses("get_messages", room("a"), "ROOM_NOT_FOUND")
        .await;
    desk.create("a").await;
    assert_eq!(desk.count("a").await, 0);
    let send = message("a", "x", "?");
    desk.refuses("send_message", send, "AGENT_NOT_IN_ROOM")
        .await;
}

/// `agentName` is only a filter there: whoever has not entered any room yet may
/// look around under the name it is going to use.
#[tokio::test]
async fn agents_in_no_room_may_list_and_read() {
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
