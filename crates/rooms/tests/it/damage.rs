//! Files that another program left empty or half-written, and rooms that their
//! list lacks: nothing is hidden, nothing is lost, and `get_status` says so.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, member, room};

const LOG: &str = "rooms/a/messages.jsonl";
const PRESENCE: &str = "rooms/a/presence.json";
const ROOMS: &str = "rooms.json";

/// What a program leaves that truncates a file before it writes it.
const EMPTY: [&str; 4] = ["", " \n\t", "{}", "{\"ro"];

/// The names in an object, sorted.
fn names(object: &Value) -> Vec<&str> {
    let keys = object.as_object().unwrap().keys();
    let mut names: Vec<&str> = keys.map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn an_empty_list_of_rooms_hides_no_room() {
    for empty in EMPTY {
        let desk = Desk::new();
        desk.room("a", &["x"]).await;
        for text in ["one", "two", "three"] {
            desk.send("a", "x", text).await;
        }
        desk.settle().await;
        desk.write(ROOMS, empty);
        for desk in [&desk, &desk.beside()] {
            assert_eq!(
                desk.texts("a", json!({})).await,
                ["three", "two", "one"],
                "{empty:?}"
            );
            desk.warns_of(ROOMS).await;
        }
        let desk = desk.beside();
        desk.refuses("create_room", room("a"), "ROOM_ALREADY_EXISTS")
            .await;
        desk.create("b").await;
        assert_eq!(names(&desk.json(ROOMS)["rooms"]), ["a", "b"]);
        assert_eq!(desk.count("a").await, 3, "{empty:?}");
        // What was there is kept, and an operator hears of it.
        let kept = desk.files_like("", "rooms.json.damaged-");
        assert_eq!(kept.len(), 1, "{empty:?}");
        assert_eq!(desk.read(&kept[0]), empty);
        desk.warns_of(&kept[0]).await;
    }
}

#[tokio::test]
async fn an_empty_presence_file_drops_no_member() {
    for empty in EMPTY {
        let desk = Desk::new();
        desk.room("a", &["speaks", "reads", "waits", "left"]).await;
        desk.send("a", "speaks", "hello").await;
        desk.ok("mark_read", member("a", "reads")).await;
        desk.leave("a", "left").await;
        desk.settle().await;
        desk.write(PRESENCE, empty);
        let all = ["reads", "speaks", "waits"];
        assert_eq!(desk.members("a").await, all, "{empty:?}");
        desk.warns_of("presence.json").await;

        let desk = desk.beside();
        desk.enter("a", "new").await;
        let all = ["new", "reads", "speaks", "waits"];
        assert_eq!(desk.members("a").await, all, "{empty:?}");
        assert_eq!(names(&desk.json(PRESENCE)["users"]), all);
        let kept = desk.files_like("rooms/a", "presence.json.damaged-");
        assert_eq!(kept.len(), 1, "{empty:?}");
        assert_eq!(desk.read(&format!("rooms/a/{}", kept[0])), empty);
        desk.warns_of(&kept[0]).await;
        // Whoever is in the room may go on as if nothing had happened.
        desk.send("a", "speaks", "still here").await;
    }
}

/// No other program left a record of activity: the log alone says who was there.
#[tokio::test]
async fn members_are_found_in_the_log_alone() {
    let desk = Desk::new();
    desk.write(ROOMS, "");
    let line = |id: &str, agent: &str| {
        format!(
            "{{\"id\":\"{id}\",\"agentName\":\"{agent}\",\"message\":\"hi\",\"timestamp\":\"2025-06-17T09:27:18.123Z\",\"mentions\":[]}}\n"
        )
    };
    let log = [line("1", "old1"), line("2", "system"), line("3", "old2")].concat();
    desk.write(LOG, &log);
    desk.write(PRESENCE, "");
    assert_eq!(desk.members("a").await, ["old1", "old2"]);
    desk.enter("a", "new").await;
    let users = &desk.json(PRESENCE)["users"];
    assert_eq!(names(users), ["new", "old1", "old2"]);
    assert_eq!(users["old1"]["joinedAt"], "2025-06-17T09:27:18.123Z");
    assert_eq!(users["old1"]["status"], "offline");
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms[0]["messageCount"], 3);
}

#[tokio::test]
async fn an_installation_without_rooms_is_not_damaged() {
    let desk = Desk::new();
    assert_eq!(desk.warnings().await, "[]");
    // What both servers write where there is no room.
    for none in ["{\n  \"rooms\": {}\n}", "{\"rooms\":{}}"] {
        desk.write(ROOMS, none);
        assert_eq!(desk.warnings().await, "[]");
        assert_eq!(desk.read(ROOMS), none);
    }
    desk.create("a").await;
    desk.delete("a").await;
    assert_eq!(desk.beside().warnings().await, "[]");
    assert_eq!(desk.files_like("", "rooms.json.damaged-").len(), 0);
}

#[tokio::test]
async fn a_room_missing_from_the_list_is_restored() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.create("b").await;
    desk.send("a", "x", "kept").await;
    desk.settle().await;
    desk.edit(ROOMS, |all| {
        drop(all["rooms"].as_object_mut().unwrap().remove("a"))
    });
    for desk in [&desk, &desk.beside()] {
        assert_eq!(desk.texts("a", json!({})).await, ["kept"]);
        assert_eq!(desk.members("a").await, ["x", "y"]);
        desk.refuses("create_room", room("a"), "ROOM_ALREADY_EXISTS")
            .await;
        desk.warns_of("does not list `a`").await;
    }
    desk.create("c").await;
    let rooms = &desk.json(ROOMS)["rooms"];
    assert_eq!(names(rooms), ["a", "b", "c"]);
    // As old as its first message.
    let first = desk.lines(LOG)[0]["timestamp"].clone();
    assert_eq!(rooms["a"]["createdAt"], first);
    assert_eq!(desk.warnings().await, "[]");
}

/// A log that appears in a directory which was there all the time.
#[tokio::test]
async fn a_room_is_restored_when_its_log_appears() {
    let desk = Desk::new();
    desk.create("b").await;
    fs::create_dir_all(desk.file("rooms/a")).unwrap();
    desk.refuses("get_messages", room("a"), "ROOM_NOT_FOUND")
        .await;
    desk.write(
        LOG,
        "{\"id\":\"1\",\"agentName\":\"x\",\"message\":\"hi\",\"timestamp\":\"2025-06-17T09:27:18.123Z\"}\n",
    );
    assert_eq!(desk.texts("a", json!({})).await, ["hi"]);
}

#[tokio::test]
async fn a_deleted_room_is_not_restored() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "gone").await;
    desk.delete("a").await;
    for desk in [&desk, &desk.beside()] {
        desk.refuses("get_messages", room("a"), "ROOM_NOT_FOUND")
            .await;
        assert_eq!(desk.rooms(None).await, [Value::Null; 0]);
    }
    // Nor from the list's own ruins, nor from what a deletion left that was
    // broken off.
    desk.write(ROOMS, "");
    desk.write("rooms/.deleted-a-12345678/messages.jsonl", "{}\n");
    let desk = desk.beside();
    assert_eq!(desk.rooms(None).await, [Value::Null; 0]);
    desk.create("a").await;
    assert_eq!(desk.count("a").await, 0);
    assert_eq!(desk.members("a").await, [""; 0]);
}

/// What a creation that was broken off, or another program, left behind.
#[tokio::test]
async fn creating_a_room_keeps_existing_files() {
    let desk = Desk::new();
    desk.create("b").await;
    desk.write(LOG, "");
    desk.write("rooms/a/notes.txt", "mine");
    desk.create("a").await;
    assert_eq!(desk.read("rooms/a/notes.txt"), "mine");
    assert_eq!(desk.files_like("rooms", ".left-over").len(), 0);
    desk.enter("a", "x").await;
    desk.send("a", "x", "hi").await;
    assert_eq!(desk.texts("a", json!({})).await, ["hi"]);
}

const REGISTRY_COPY: &str = ".rooms.json.copy";
const PRESENCE_COPY: &str = "rooms/a/.presence.json.copy";

/// Ways in which a file is lost; `None` removes it.
const LOST: [Option<&str>; 5] = [
    None,
    Some(""),
    Some("{\"ro"),
    Some(r#"{"rooms":{}}"#),
    Some(r#"{"roomName":"a","users":{}}"#),
];

fn lose(desk: &Desk, path: &str, how: Option<&str>) {
    match how {
        Some(text) => desk.write(path, text),
        None => fs::remove_file(desk.file(path)).unwrap(),
    }
}

#[tokio::test]
async fn copies_follow_every_change() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.settle().await;
    assert_eq!(desk.read(REGISTRY_COPY), desk.read(ROOMS));
    assert_eq!(desk.read(PRESENCE_COPY), desk.read(PRESENCE));
    // What the original writes is copied when it is next read.
    let rooms = r#"{"rooms":{"a":{"createdAt":"","messageCount":0,"userCount":0},"b":{"createdAt":"","messageCount":0,"userCount":0}}}"#;
    let presence =
        r#"{"roomName":"a","users":{"theirs":{"status":"online","messageCount":0,"joinedAt":""}}}"#;
    desk.write(ROOMS, rooms);
    desk.write(PRESENCE, presence);
    assert_eq!(desk.members("a").await, ["theirs"]);
    assert_eq!(desk.read(REGISTRY_COPY), rooms);
    assert_eq!(desk.read(PRESENCE_COPY), presence);
}

#[tokio::test]
async fn members_are_restored_from_the_copy_and_later_messages() {
    for how in LOST {
        let desk = Desk::new();
        desk.room("a", &["left"]).await;
        let profile = json!({"role": "reviewer"});
        let silent = json!({"roomName": "a", "agentName": "silent", "profile": profile});
        desk.ok("enter_room", silent).await;
        desk.send("a", "left", "good-bye").await;
        desk.leave("a", "left").await;
        desk.settle().await;
        let line = json!({"id": "later", "agentName": "original", "message": "hi",
            "timestamp": "2099-01-01T00:00:00Z", "mentions": []});
        let log = desk.read(LOG);
        desk.write(LOG, &format!("{log}{line}\n"));
        lose(&desk, PRESENCE, how);
        for desk in [&desk, &desk.beside()] {
            assert_eq!(desk.members("a").await, ["original", "silent"], "{how:?}");
            desk.warns_of("presence.json").await;
        }
        desk.enter("a", "new").await;
        let users = &desk.json(PRESENCE)["users"];
        assert_eq!(names(users), ["new", "original", "silent"], "{how:?}");
        assert_eq!(users["silent"]["profile"], profile, "{how:?}");
        assert_eq!(desk.read(PRESENCE_COPY), desk.read(PRESENCE), "{how:?}");
    }
}

#[tokio::test]
async fn rooms_without_messages_are_restored_from_the_copy() {
    for how in LOST {
        let desk = Desk::new();
        let described = json!({"roomName": "a", "description": "for reviews"});
        desk.ok("create_room", described).await;
        desk.settle().await;
        // As the original creates a room: without a directory.
        desk.edit(ROOMS, |all| {
            all["rooms"]["theirs"] = all["rooms"]["a"].clone()
        });
        desk.rooms(None).await;
        lose(&desk, ROOMS, how);
        for desk in [&desk, &desk.beside()] {
            let listed = desk.rooms(None).await;
            assert_eq!(listed[0]["name"], "a", "{how:?}");
            assert_eq!(listed[0]["description"], "for reviews", "{how:?}");
            assert_eq!(listed[1]["name"], "theirs", "{how:?}");
            desk.warns_of(ROOMS).await;
        }
        desk.create("b").await;
        let rooms = &desk.json(ROOMS)["rooms"];
        assert_eq!(names(rooms), ["a", "b", "theirs"], "{how:?}");
        assert_eq!(rooms["a"]["description"], "for reviews", "{how:?}");
    }
}

/// The original may have removed them on purpose.
#[tokio::test]
async fn entries_missing_from_a_valid_file_are_not_restored() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.create("b").await;
    desk.settle().await;
    desk.edit(ROOMS, |all| {
        drop(all["rooms"].as_object_mut().unwrap().remove("b"))
    });
    desk.edit(PRESENCE, |all| {
        drop(all["users"].as_object_mut().unwrap().remove("y"))
    });
    for desk in [&desk, &desk.beside()] {
        desk.refuses("get_messages", room("b"), "ROOM_NOT_FOUND")
            .await;
        assert_eq!(desk.members("a").await, ["x"]);
    }
}

#[tokio::test]
async fn the_last_member_and_the_last_room_can_be_removed() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.leave("a", "x").await;
    for desk in [&desk, &desk.beside()] {
        assert_eq!(desk.members("a").await, [""; 0]);
        assert_eq!(desk.warnings().await, "[]");
    }
    desk.delete("a").await;
    for desk in [&desk, &desk.beside()] {
        assert_eq!(desk.rooms(None).await, [Value::Null; 0]);
        assert_eq!(desk.warnings().await, "[]");
    }
}

/// Somebody who removes the list with all rooms wants to start anew.
#[tokio::test]
async fn removing_all_files_starts_anew() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.settle().await;
    fs::remove_file(desk.file(ROOMS)).unwrap();
    fs::remove_dir_all(desk.file("rooms")).unwrap();
    let desk = desk.beside();
    assert_eq!(desk.rooms(None).await, [Value::Null; 0]);
    desk.create("b").await;
    assert_eq!(names(&desk.json(ROOMS)["rooms"]), ["b"]);
}

#[tokio::test]
async fn deleting_a_room_repairs_a_damaged_list() {
    for how in LOST {
        for has_copy in [true, false] {
            let desk = Desk::new();
            desk.create("a").await;
            desk.create("b").await;
            desk.settle().await;
            if !has_copy {
                fs::remove_file(desk.file(REGISTRY_COPY)).unwrap();
            }
            lose(&desk, ROOMS, how);
            // Without a copy an empty list is what it seems to be.
            if !has_copy && how == Some(r#"{"rooms":{}}"#) {
                continue;
            }
            desk.delete("a").await;
            assert_eq!(names(&desk.json(ROOMS)["rooms"]), ["b"], "{how:?}");
            let desk = desk.beside();
            assert_eq!(desk.rooms(None).await.len(), 1, "{how:?}");
        }
    }
}
