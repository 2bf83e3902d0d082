//! Copies of rooms while agents talk, for a backup.

use std::{collections::BTreeSet, io::Read, path::Path, sync::Arc};

use rooms::{FrozenRooms, RoomFileContent, Settings, exists, is_served};
use serde_json::{Value, json};

use crate::desk::{Desk, message, room, with};

fn settings(path: &Path) -> Settings {
    Settings {
        data_dir: path.to_owned(),
        lock_timeout_ms: 60_000,
        ..Settings::default()
    }
}

/// Copies all files, as a backup and its restore do.
fn copy(from: &Path, to: &Path) {
    let frozen = FrozenRooms::new(&settings(from)).unwrap().unwrap();
    let files = frozen.files().unwrap();
    drop(frozen);
    for file in files {
        let path = to.join(&file.name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = match file.content {
            RoomFileContent::Bytes(bytes) => bytes,
            RoomFileContent::Log(log, length) => {
                let mut bytes = Vec::new();
                // It was read to find the last line.
                let mut log = log;
                std::io::Seek::rewind(&mut log).unwrap();
                log.take(length).read_to_end(&mut bytes).unwrap();
                bytes
            }
        };
        std::fs::write(path, bytes).unwrap();
    }
}

fn texts(answer: &Value) -> BTreeSet<String> {
    let messages = answer["messages"].as_array().unwrap().iter();
    messages
        .map(|it| it["message"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_has_every_message_that_was_answered_before_it() {
    // A small log, so that messages move to the archive all the time.
    let desk = Arc::new(Desk::with(|settings| {
        settings.max_messages = 20.try_into().unwrap();
        settings.sends_per_minute = 0;
    }));
    desk.room("r", &["a"]).await;
    let sent = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let sender = {
        let (desk, sent) = (Arc::clone(&desk), Arc::clone(&sent));
        tokio::spawn(async move {
            for number in 0..300 {
                let text = format!("m{number}");
                desk.ok("send_message", message("r", "a", &text)).await;
                sent.lock().unwrap().insert(text);
            }
        })
    };
    let mut copies = 0;
    while !sender.is_finished() {
        let before = sent.lock().unwrap().clone();
        let to = tempfile::tempdir().unwrap();
        copy(&desk.path, to.path());
        let copied = Desk::at(to.path(), |_| {});
        let page = with(room("r"), json!({"limit": 1000}));
        let found = texts(&copied.ok("get_messages", page).await);
        let missing: Vec<_> = before.difference(&found).collect();
        assert!(missing.is_empty(), "{missing:?} of {}", before.len());
        copies += 1;
    }
    sender.await.unwrap();
    assert!(copies > 1, "{copies}");
}

#[tokio::test]
async fn a_copy_leaves_locks_signs_of_life_and_strange_files_behind() {
    let desk = Desk::new();
    assert!(!exists(&settings(&desk.path)));
    assert!(FrozenRooms::new(&settings(&desk.path)).unwrap().is_none());
    desk.room("r", &["a"]).await;
    assert!(exists(&settings(&desk.path)) && is_served(&settings(&desk.path)));
    std::fs::write(desk.path.join("letter.txt"), "mine").unwrap();
    let frozen = FrozenRooms::new(&settings(&desk.path)).unwrap().unwrap();
    let names: Vec<String> = frozen
        .files()
        .unwrap()
        .into_iter()
        .map(|it| it.name)
        .collect();
    drop(frozen);
    assert_eq!(
        names,
        [
            "agents.json",
            "rooms.json",
            "rooms/r/messages.jsonl",
            "rooms/r/presence.json"
        ]
    );
}

#[tokio::test]
async fn files_that_were_moved_take_nothing_more() {
    let desk = Desk::on_files(|_| {});
    desk.room("r", &["a"]).await;
    std::fs::write(desk.path.join(".moved"), "{}").unwrap();
    for (tool, arguments) in [
        ("send_message", message("r", "a", "?")),
        ("create_room", room("new")),
    ] {
        desk.refuses(tool, arguments, "DATA_MOVED").await;
    }
    let listed = desk.ok("list_rooms", json!({})).await;
    assert_eq!(listed["rooms"].as_array().unwrap().len(), 1);
    let frozen = FrozenRooms::new(&settings(&desk.path)).err().unwrap();
    assert_eq!(frozen.code, "DATA_MOVED");
}
