//! What other hands, careless or hostile, put into the files and the calls: the
//! rest goes on, and somebody is told.

use std::{fs, os::unix::fs::symlink, process::Command};

use kit::time::Clock;
use serde_json::{Value, json};

use crate::desk::{Desk, eventually, member, message, room};

const LOG: &str = "rooms/a/messages.jsonl";
const PRESENCE: &str = "rooms/a/presence.json";
const REGISTRY: &str = "rooms.json";

fn fifo(desk: &Desk, path: &str) {
    let path = desk.file(path);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn an_invalid_value_hides_no_member() {
    for odd in [
        json!({"status": "away", "messageCount": 1, "joinedAt": "2026-01-01T00:00:00Z"}),
        json!({"status": "online", "messageCount": "many", "joinedAt": 5, "profile": "none"}),
        json!("bob"),
        Value::Null,
    ] {
        let desk = Desk::new();
        desk.room("a", &["x", "bob", "y"]).await;
        desk.edit(PRESENCE, |presence| {
            presence["users"]["bob"] = odd.clone();
        });
        let desk = desk.beside();
        assert_eq!(desk.members("a").await, ["bob", "x", "y"], "{odd}");
        let told = desk.warnings().await;
        assert!(
            told.contains("presence.json") && told.contains("bob"),
            "{odd}: {told}"
        );
        // Speaking brings the member back, and the file is whole again.
        desk.send("a", "bob", "here").await;
        eventually(async || !desk.warnings().await.contains("bob")).await;
        assert_eq!(desk.status_of("a", "bob").await, "online");
        let kept = desk.files_like("rooms/a", "presence.json.damaged-");
        let kept = desk.read(&format!("rooms/a/{}", kept[0]));
        assert!(kept.contains(&odd.to_string()), "{kept}");
    }
}

#[tokio::test]
async fn a_presence_file_in_another_format_is_reported() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.write(PRESENCE, r#"{"users": ["x"]}"#);
    desk.warns_of("presence.json").await;
    desk.write("rooms/a/read_status.json", "[]");
    desk.write("agents.json", "{");
    let told = desk.warnings().await;
    for file in ["presence.json", "read_status.json", "agents.json"] {
        assert!(told.contains(file), "{file}: {told}");
    }
}

#[tokio::test]
async fn damaged_counts_are_counted_again_and_reported() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.create("b").await;
    desk.send("a", "x", "hi").await;
    desk.settle().await;
    desk.edit(REGISTRY, |registry| {
        registry["rooms"]["a"]["messageCount"] = "many".into();
        registry["rooms"]["b"] = 7.into();
    });
    let desk = desk.beside();
    let told = desk.warnings().await;
    assert!(
        told.contains("a: ") && told.contains("messageCount"),
        "{told}"
    );
    assert!(told.contains("b: "), "{told}");
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms.len(), 2);
    assert_eq!(rooms[0]["messageCount"], 1);
    desk.send("a", "x", "ho").await;
    // Counts follow a moment later; what could not be written comes with the next call.
    let is_counted = eventually(async || {
        desk.rooms(None).await;
        desk.json(REGISTRY)["rooms"]["a"]["messageCount"] == 2
    });
    assert!(is_counted.await);
    desk.settle().await;
    desk.write(REGISTRY, "{");
    let told = desk.beside().warnings().await;
    assert!(told.contains("rooms.json"), "{told}");
}

#[tokio::test]
async fn an_unreadable_room_does_not_hide_the_others() {
    let desk = Desk::new();
    for room in ["a", "b", "c"] {
        desk.room(room, &["x"]).await;
        desk.send(room, "x", &format!("hello from {room}")).await;
    }
    fs::rename(desk.file(LOG), desk.file("elsewhere")).unwrap();
    symlink(desk.file("elsewhere"), desk.file(LOG)).unwrap();
    fifo(&desk, "rooms/b/messages.jsonl");
    for desk in [&desk, &desk.beside()] {
        let found = desk.ok("search_messages", json!({"query": "hello"})).await;
        assert_eq!(found["count"], 1);
        assert_eq!(found["messages"][0]["roomName"], "c");
        let told = found["warnings"].to_string();
        assert!(
            told.contains("a: ") && told.contains("b: ") && !told.contains("elsewhere"),
            "{told}"
        );
        let rooms = desk.ok("list_rooms", json!({})).await;
        assert_eq!(rooms["rooms"].as_array().unwrap().len(), 1);
        assert_eq!(rooms["warnings"].as_array().unwrap().len(), 2);
        for room in ["a", "b"] {
            let one = json!({"query": "hello", "roomName": room});
            desk.refuses("search_messages", one, "STORAGE_ERROR").await;
        }
    }
}

/// Opening a pipe to read it waits until somebody writes, for ever.
#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_an_error_at_once() {
    let send = message("a", "x", "hi");
    for file in [
        LOG,
        "rooms/a/messages.archive.jsonl",
        PRESENCE,
        "rooms/a/read_status.json",
        "rooms/a/activity.json",
        "rooms/a/.activity.json.tmp",
        REGISTRY,
        "agents.json",
        ".locks/room-a.lock",
    ] {
        let desk = Desk::new();
        desk.room("a", &["x"]).await;
        fifo(&desk, file);
        let desk = desk.beside();
        let calls = [
            ("get_messages", member("a", "x")),
            ("list_room_users", room("a")),
            ("get_status", json!({})),
            ("send_message", send.clone()),
            ("enter_room", member("a", "new")),
            ("mark_read", member("a", "x")),
        ];
        for (tool, arguments) in calls {
            match desk.call(tool, arguments).await {
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.code, "STORAGE_ERROR", "{file} {tool}: {error}");
                    assert!(error.message.contains("not a file"), "{file}: {error}");
                }
            }
        }
    }
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    fifo(&desk, LOG);
    desk.refuses("send_message", send, "STORAGE_ERROR").await;
}

#[tokio::test]
async fn names_that_look_like_others_are_refused() {
    let desk = Desk::new();
    desk.room("a", &["bob", "José"]).await;
    for name in [
        "ＳＹＳＴＥＭ",
        "sys\u{200b}tem",
        "bo\u{200d}b",
        "\u{202e}bob",
        "bob\u{feff}",
        "@bob",
        "＠bob",
    ] {
        for tool in ["enter_room", "leave_room", "wait_for_messages"] {
            let arguments = member("a", name);
            desk.refuses(tool, arguments, "INVALID_AGENT_NAME").await;
        }
    }
    // Spelt with two characters it is the same name.
    let again = member("a", "Jose\u{301}");
    desk.refuses("enter_room", again, "AGENT_ALREADY_IN_ROOM")
        .await;
    desk.send("a", "Jose\u{301}", "hi").await;
    let sent = message("a", "bob", "@Jose\u{301} hi");
    let sent = desk.ok("send_message", sent).await;
    assert_eq!(sent["mentions"], json!(["José"]));
}

/// Names that the original server let in stay whose they are.
#[tokio::test]
async fn names_already_in_the_files_still_work() {
    let desk = Desk::new();
    desk.create("a").await;
    let old = "bo\u{200b}b";
    let twice = "Jose\u{301}";
    desk.edit(PRESENCE, |presence| {
        let user =
            json!({"status": "offline", "messageCount": 0, "joinedAt": "2025-01-01T00:00:00Z"});
        presence["users"] = json!({ (old): user, (twice): user });
    });
    let line = json!({"id": "1", "roomName": "a", "agentName": twice, "message": "old",
        "mentions": [old, twice], "timestamp": "2025-01-01T00:00:00Z", "metadata": {}});
    desk.write(LOG, &format!("{line}\n"));
    let desk = desk.beside();
    for name in [old, twice, "José"] {
        let mentions = json!({"agentName": name, "mentionsOnly": true});
        assert_eq!(desk.texts("a", mentions).await, ["old"]);
        desk.send("a", name, "new").await;
    }
    let users = desk.ok("list_room_users", room("a")).await;
    assert_eq!(users["users"].as_array().unwrap().len(), 2);
    assert_eq!(users["users"][0]["messageCount"], 3);
    let said = json!({"agentName": "José"});
    assert_eq!(desk.ok("search_messages", said).await["count"], 3);
    for name in [old, twice] {
        desk.leave("a", name).await;
    }
}

#[tokio::test]
async fn leaving_a_room_one_is_not_in_does_not_suggest_to_enter() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.create("b").await;
    for (room, agent, code) in [
        ("b", "x", "AGENT_NOT_IN_ROOM"),
        ("a", "nobody", "AGENT_NOT_IN_ROOM"),
    ] {
        let leave = member(room, agent);
        let error = desk.call("leave_room", leave).await.unwrap_err();
        assert_eq!(error.code, code);
        let next = error.next.unwrap();
        assert!(
            next.contains("nothing to leave") && !next.contains("nter"),
            "{next}"
        );
    }
}

#[tokio::test]
async fn times_without_an_offset_keep_their_time_of_day() {
    let desk = Desk::at_time("2026-11-15T09:00:00Z", |_| {});
    desk.room("a", &["x"]).await;
    for hour in 9..13 {
        desk.set_clock(&format!("2026-11-15T{hour:02}:00:00Z"));
        desk.send("a", "x", &format!("at {hour}")).await;
    }
    for (since, until, count) in [
        ("2026-11-15T10:00:00", "2026-11-15T11:00:00", 2),
        ("2026-11-15T10:30", "2026-11-15 11:30", 1),
        ("2026-11-15T19:30:00+09:00", "2026-11-15", 2),
        ("２０２６-11-15", "2026-11-14T23:59:59", 0),
    ] {
        let arguments = json!({"since": since, "until": until});
        let found = desk.ok("search_messages", arguments).await;
        assert_eq!(found["count"], count, "{since} {until}");
    }
    for wrong in ["2026-11-15T25:00", "10:00", "2026-11-15Tmorning", "2026-11"] {
        desk.refuses(
            "search_messages",
            json!({"since": wrong}),
            "INVALID_ARGUMENT",
        )
        .await;
    }
}

/// Folding takes signs away, from queries too.
#[tokio::test]
async fn punctuation_is_ignored_in_queries() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "deploy \0 to staging").await;
    for (query, count) in [
        ("!?", 0),
        ("deploy - staging !", 1),
        ("deploy production", 0),
    ] {
        let found = desk.ok("search_messages", json!({"query": query})).await;
        assert_eq!(found["count"], count, "{query}");
    }
}

/// Where a file system takes `A` for `a`, one room must not be made of another.
#[tokio::test]
async fn a_room_that_would_share_a_directory_is_refused() {
    let desk = Desk::new();
    desk.room("team", &["x"]).await;
    fs::create_dir_all(desk.file("rooms/Team")).unwrap();
    let twin = room("Team");
    desk.refuses("create_room", twin, "ROOM_ALREADY_EXISTS")
        .await;
    desk.send("team", "x", "still here").await;
    desk.create("TEAM").await;
}

/// A second process does not double what one agent may send.
#[tokio::test]
async fn the_limit_on_sending_holds_across_processes() {
    let limited = |path: &std::path::Path, clock: &Clock| {
        let mut desk = Desk::at(path, |settings| settings.sends_per_minute = 4);
        desk.context.clock = clock.clone();
        desk
    };
    let clock = Clock::fixed("2026-11-15T09:00:00Z".parse().unwrap());
    let mut first = Desk::new();
    first.context.clock = clock.clone();
    let desks: Vec<Desk> = (0..3).map(|_| limited(&first.path, &clock)).collect();
    desks[0].room("a", &["x", "y"]).await;
    let send = |agent: &str| message("a", agent, "hi");
    for (second, desk) in desks.iter().cycle().take(4).enumerate() {
        clock.set(format!("2026-11-15T09:00:0{second}Z").parse().unwrap());
        desk.ok("send_message", send("x")).await;
        for _ in 0..2 {
            first.ok("send_message", send("y")).await;
        }
    }
    for desk in &desks {
        let refused = desk.call("send_message", send("x")).await.unwrap_err();
        assert_eq!(refused.code, "RATE_LIMITED");
        assert_eq!(refused.details.unwrap()["retry_after_ms"], 57_000);
    }
    clock.set("2026-11-15T09:01:00Z".parse().unwrap());
    limited(&first.path, &clock)
        .ok("send_message", send("x"))
        .await;
    let refused = desks[1].call("send_message", send("x")).await.unwrap_err();
    assert_eq!(refused.details.unwrap()["retry_after_ms"], 1_000);
}
