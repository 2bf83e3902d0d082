//! Locks that a live process of the original server holds.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::desk::{Desk, confirmed, member, room};

const FILES: [&str; 3] = [
    "rooms.json",
    "rooms/a/presence.json",
    "rooms/a/messages.jsonl",
];

/// A process of the original that hangs holds its lock.
#[tokio::test]
async fn locks_of_a_running_original_are_respected() {
    let desk = Desk::with(|settings| settings.lock_timeout_ms = 200);
    desk.room("a", &["x"]).await;
    let mut original = Command::new("sleep").arg("600").spawn().unwrap();
    let number = original.id().to_string();
    for file in FILES {
        desk.write(&format!("{file}.lock"), &number);
    }
    let entering = member("a", "y");
    for (tool, arguments) in [
        ("create_room", room("b")),
        ("enter_room", entering.clone()),
        ("leave_room", member("a", "x")),
        ("clear_room_messages", confirmed("a")),
    ] {
        let started = Instant::now();
        let error = desk.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.code, "FILE_LOCK_TIMEOUT", "{tool}");
        assert!(error.next.unwrap().contains(".lock"), "{tool}");
        assert!(started.elapsed() >= Duration::from_millis(200), "{tool}");
    }
    // Nothing happened, and whoever only speaks or reads does not wait.
    desk.send("a", "x", "not held up").await;
    assert_eq!(desk.texts("a", json!({})).await, ["not held up"]);
    assert_eq!(desk.status_of("a", "y").await, "");
    for file in FILES {
        assert_eq!(desk.read(&format!("{file}.lock")), number);
    }
    // Once it is gone its locks are nobody's.
    original.kill().unwrap();
    original.wait().unwrap();
    desk.create("b").await;
    desk.ok("enter_room", entering).await;
    for file in &FILES[..2] {
        assert!(!desk.file(&format!("{file}.lock")).exists(), "{file}");
    }
}

/// Whoever removes a room or its messages waits for every file of it.
#[tokio::test]
async fn no_room_is_removed_while_the_original_writes_to_it() {
    let desk = Desk::with(|settings| settings.lock_timeout_ms = 100);
    desk.room("a", &["x"]).await;
    desk.send("a", "x", "kept").await;
    desk.settle().await;
    let mut original = Command::new("sleep").arg("600").spawn().unwrap();
    let confirmed = confirmed("a");
    for file in FILES {
        let lock = format!("{file}.lock");
        desk.write(&lock, &original.id().to_string());
        for tool in ["clear_room_messages", "delete_room"] {
            let removal = desk.call(tool, confirmed.clone());
            let reading = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                desk.file("rooms/a/messages.jsonl").exists()
            };
            let (removed, is_there) = tokio::join!(removal, reading);
            let Err(error) = removed else {
                panic!("{tool} did not wait for {file}");
            };
            assert_eq!(error.code, "FILE_LOCK_TIMEOUT", "{tool}, {file}");
            assert!(error.next.unwrap().contains(".lock"), "{tool}, {file}");
            assert!(is_there, "{tool}, {file}");
        }
        assert_eq!(desk.texts("a", json!({})).await, ["kept"], "{file}");
        fs::remove_file(desk.file(&lock)).unwrap();
    }
    original.kill().unwrap();
    original.wait().unwrap();
    for tool in ["clear_room_messages", "delete_room"] {
        desk.ok(tool, confirmed.clone()).await;
    }
    assert!(!desk.file("rooms/a").exists());
}
