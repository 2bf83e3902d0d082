//! The files: what crashes and other hands leave in them, the archive, and the
//! directories of the original server.

use std::{fs, io::Write};

use serde_json::json;

use crate::{
    desk::{Desk, confirmed, eventually, member, room},
    original,
};

const LOG: &str = "rooms/a/messages.jsonl";
const ARCHIVE: &str = "rooms/a/messages.archive.jsonl";
const PRESENCE: &str = "rooms/a/presence.json";

fn append(desk: &Desk, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(desk.file(LOG))
        .unwrap();
    file.write_all(bytes).unwrap();
}

#[tokio::test]
async fn a_torn_last_line_is_removed_kept_and_reported() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "whole").await;
    append(&desk, b"{\"id\":\"msg_torn\",\"roomName\":\"a\",\"agentNa");
    assert_eq!(desk.texts("a", json!({})).await, ["whole"]);
    assert!(desk.warnings().await.contains("torn"));
    let after = desk.beside();
    after.send("a", "x", "next").await;
    assert_eq!(desk.texts("a", json!({})).await, ["next", "whole"]);
    assert_eq!(desk.lines(LOG).len(), 2);
    let kept = desk.files_like("rooms/a", "messages.torn-");
    let kept = desk.read(&format!("rooms/a/{}", kept[0]));
    assert_eq!(kept, "{\"id\":\"msg_torn\",\"roomName\":\"a\",\"agentNa");
    assert!(desk.warnings().await.contains("messages.torn-"));
}

#[tokio::test]
async fn a_last_line_without_a_line_end_is_a_message() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "one").await;
    append(
        &desk,
        br#"{"id":"by-hand","agentName":"x","message":"two","timestamp":"2026-01-01T00:00:00Z"}"#,
    );
    desk.send("a", "x", "three").await;
    assert_eq!(desk.texts("a", json!({})).await, ["three", "two", "one"]);
}

#[tokio::test]
async fn a_damaged_line_is_skipped_reported_and_left_alone() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "one @y").await;
    append(&desk, b"{\"id\": garbage \xff\xfe}\n\n\0\0\0\0\n[1, 2]\n");
    desk.send("a", "x", "two").await;
    desk.send("a", "x", "three @y").await;
    for desk in [&desk, &desk.beside()] {
        assert_eq!(
            desk.texts("a", json!({})).await,
            ["three @y", "two", "one @y"]
        );
        assert_eq!(
            desk.texts("a", json!({"limit": 1, "offset": 1})).await,
            ["two"]
        );
        let mentions = json!({"agentName": "y", "mentionsOnly": true});
        assert_eq!(desk.texts("a", mentions).await, ["three @y", "one @y"]);
        assert!(desk.warnings().await.contains("3 damaged"));
    }
    let bytes = fs::read(desk.file(LOG)).unwrap();
    assert!(bytes.windows(9).any(|window| window == b"garbage \xff"));
}

/// Beyond the limit the oldest move to the archive, where everything still
/// finds them.
#[tokio::test]
async fn archived_messages_are_still_found() {
    let desk = Desk::with(|settings| settings.max_messages = 10.try_into().unwrap());
    desk.room("a", &["x", "y"]).await;
    let mut ids = Vec::new();
    for n in 0..35 {
        let mention = if n % 5 == 0 { " @y" } else { "" };
        ids.push(desk.send("a", "x", &format!("m{n}{mention}")).await);
        if n == 3 {
            append(&desk, b"damaged\n");
        }
    }
    assert_eq!(desk.lines(LOG).len(), 10);
    assert_eq!(desk.read(ARCHIVE).lines().count(), 26);
    for desk in [
        &desk,
        &Desk::at(&desk.path, |s| s.max_messages = 10.try_into().unwrap()),
    ] {
        assert_eq!(desk.count("a").await, 35);
        let all = desk.texts("a", json!({"limit": 100})).await;
        assert_eq!(all.len(), 35);
        assert!(all[0].starts_with("m34") && all[34].starts_with("m0"));
        // A page that lies across both files.
        let across = desk.texts("a", json!({"limit": 4, "offset": 8})).await;
        assert_eq!(across, ["m26", "m25 @y", "m24", "m23"]);
        let cursor = json!({"limit": 2, "cursor": ids[1]});
        assert_eq!(desk.texts("a", cursor).await, ["m0 @y"]);
        let mentions = json!({"agentName": "y", "mentionsOnly": true});
        assert_eq!(desk.texts("a", mentions).await.len(), 7);
        let found = desk.ok("search_messages", json!({"query": "m3"})).await;
        assert_eq!(found["count"], 6);
        let reply = json!({"roomName": "a", "agentName": "y", "message": "!", "replyTo": ids[0]});
        assert!(desk.call("send_message", reply).await.is_ok());
        desk.ok(
            "mark_read",
            json!({"roomName": "a", "agentName": "y", "messageId": ids[2]}),
        )
        .await;
        let rooms = desk.rooms(Some("y")).await;
        assert_eq!(rooms[0]["unreadCount"], 32);
        desk.ok("clear_room_messages", confirmed("a")).await;
        assert_eq!(desk.count("a").await, 0);
        assert!(!desk.file(ARCHIVE).exists());
        ids.clear();
        for n in 0..35 {
            let mention = if n % 5 == 0 { " @y" } else { "" };
            ids.push(desk.send("a", "x", &format!("m{n}{mention}")).await);
        }
    }
}

/// A crash between the two halves of a move leaves messages in both files.
#[tokio::test]
async fn an_interrupted_move_to_the_archive_loses_nothing() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    for n in 0..8 {
        desk.send("a", "x", &format!("m{n}")).await;
    }
    let log = desk.read(LOG);
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    for torn in ["", "{\"id\":\"msg_", lines[3].trim_end()] {
        // Three messages reached the archive, and perhaps part of a fourth.
        desk.write(ARCHIVE, &format!("{}{torn}", lines[..3].concat()));
        desk.write(LOG, &log);
        for desk in [&desk, &desk.beside()] {
            assert_eq!(desk.count("a").await, 8, "{torn}");
            let all = desk.texts("a", json!({})).await;
            assert_eq!(all, ["m7", "m6", "m5", "m4", "m3", "m2", "m1", "m0"]);
        }
        // The next writer ends the move.
        desk.beside().send("a", "x", "m8").await;
        let moved = if torn.len() > 20 { 4 } else { 3 };
        eventually(async || desk.lines(LOG).len() < 9).await;
        assert_eq!(desk.lines(LOG).len(), 9 - moved, "{torn}");
        assert_eq!(desk.lines(ARCHIVE).len(), moved);
        assert_eq!(desk.count("a").await, 9);
        let all = desk.texts("a", json!({})).await;
        assert_eq!((all[0].as_str(), all[8].as_str()), ("m8", "m0"));
    }
}

#[tokio::test]
async fn a_directory_of_the_original_server_is_read_without_loss() {
    let desk = Desk::new();
    desk.write(
        "rooms.json",
        r#"{"rooms":{"a":{"description":"Old","createdAt":"2025-06-17T09:00:00.000Z","messageCount":0,"userCount":2,"custom":true}}}"#,
    );
    desk.write(
        LOG,
        "{\"id\":\"6b0e\",\"agentName\":\"old1\",\"message\":\"hi @old2\",\"timestamp\":\"2025-06-17T09:27:18.123Z\",\"mentions\":[\"old2\"]}\n\
         {\"id\":\"6b0f\",\"agentName\":\"system\",\"message\":\"old1 is waiting\",\"timestamp\":\"2025-06-17T09:27:19.000Z\",\"mentions\":[],\"metadata\":{\"type\":\"system\"}}\n\
         {\"id\":\"6b10\",\"agentName\":\"old1\",\"message\":\"bye\",\"timestamp\":\"2025-06-17T09:27:20.000Z\",\"mentions\":[],\"metadata\":null}\n",
    );
    desk.write(
        "rooms/a/presence.json",
        r#"{"roomName":"a","users":{"old1":{"status":"online","messageCount":0,"joinedAt":"2025-06-17T09:00:00.000Z","note":"kept"},"old2":{"status":"offline","messageCount":0,"joinedAt":"2025-06-17T09:00:00.000Z"}}}"#,
    );
    desk.write(
        "rooms/a/read_status.json",
        r#"{"old2":{"agentName":"old2","lastReadMessageId":"6b0e","lastReadTimestamp":"2025-06-17T09:28:00.000Z"}}"#,
    );
    let waiting =
        r#"[{"agentName":"old1","startTime":"2025-06-17T09:27:18.000Z","timeout":120000}]"#;
    desk.write("rooms/a/waiting_agents.json", waiting);
    // Of a server that was killed while it wrote.
    let gone = original::dead_process().to_string();
    for file in ["rooms.json", "rooms/a/messages.jsonl", PRESENCE] {
        desk.write(&format!("{file}.lock"), &gone);
    }
    desk.write("rooms/a/notes.txt", "unknown");

    assert_eq!(desk.count("a").await, 3);
    assert_eq!(
        desk.texts("a", json!({})).await,
        ["bye", "old1 is waiting", "hi @old2"]
    );
    let rooms = desk.rooms(Some("old2")).await;
    assert_eq!(
        rooms[0]["unreadCount"], 1,
        "after its position, without the system's"
    );
    // Nobody of a server that is gone is online; they may come back.
    assert_eq!(desk.status_of("a", "old1").await, "offline");
    desk.enter("a", "old1").await;
    desk.enter("a", "old2").await;
    desk.send("a", "old1", "new times").await;
    desk.ok("mark_read", member("a", "old2")).await;
    desk.settle().await;

    assert_eq!(desk.lines(LOG).len(), 4);
    let registry = desk.json("rooms.json");
    assert_eq!(registry["rooms"]["a"]["custom"], true);
    assert_eq!(registry["rooms"]["a"]["messageCount"], 4);
    let presence = desk.json("rooms/a/presence.json");
    assert_eq!(presence["users"]["old1"]["note"], "kept");
    assert_eq!(presence["users"]["old1"]["messageCount"], 3);
    assert_eq!(desk.read("rooms/a/waiting_agents.json"), waiting);
    for file in ["rooms.json", PRESENCE] {
        assert!(!desk.file(&format!("{file}.lock")).exists(), "{file}");
    }
    let log = desk.read("rooms/a/messages.jsonl.lock");
    assert_eq!(log, gone, "lines are added without it");
    assert_eq!(desk.read("rooms/a/notes.txt"), "unknown");
}

#[tokio::test]
async fn a_damaged_list_of_rooms_is_rebuilt_and_kept() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "hi").await;
    desk.write("rooms.json", "{\"rooms\": {\"a\"");
    desk.write("rooms/a/presence.json", "");
    let desk = desk.beside();
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms[0]["messageCount"], 1);
    desk.create("b").await;
    let registry = desk.json("rooms.json");
    assert_eq!(registry["rooms"].as_object().unwrap().len(), 2);
    assert!(!desk.files_like("", "rooms.json.damaged-").is_empty());
}

#[tokio::test]
async fn counts_in_the_files_are_updated_soon() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "hi").await;
    let is_counted = async || desk.json("rooms.json")["rooms"]["a"]["messageCount"] == 1;
    assert!(eventually(is_counted).await);
}

#[tokio::test]
async fn reading_creates_no_files() {
    let desk = Desk::new();
    desk.ok("list_rooms", json!({})).await;
    desk.ok("get_status", json!({})).await;
    desk.refuses("get_messages", room("a"), "ROOM_NOT_FOUND")
        .await;
    assert!(!desk.path.exists());
}
