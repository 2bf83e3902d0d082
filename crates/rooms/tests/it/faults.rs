//! Disks, locks and links that make trouble.

use std::{
    fs,
    os::unix::fs::symlink,
    time::{Duration, Instant},
};

use kit::testing::SmallDisk;
use serde_json::json;

use crate::{
    desk::{Desk, confirmed, member, message, room},
    worker::Worker,
};

const SEND: &str = "send_message";

fn hello() -> serde_json::Value {
    message("a", "x", "hello")
}

/// A process that holds the lock and does not go on.
#[tokio::test]
async fn a_lock_held_by_a_stopped_process_is_a_timeout() {
    let desk = Desk::with(|settings| settings.lock_timeout_ms = 300);
    desk.room("a", &["x"]).await;
    let order = json!({"tool": SEND, "arguments": hello(), "times": 1_000_000});
    let mut worker = Worker::start(&desk.path, &[order]);
    worker.next().unwrap();
    // Stopped at random, it holds the lock most of the time, not always.
    let mut refused = None;
    for _ in 0..50 {
        worker.signal("-STOP");
        let started = Instant::now();
        let sent = desk.call(SEND, hello()).await;
        worker.signal("-CONT");
        if let Err(error) = sent {
            refused = Some((error, started.elapsed()));
            break;
        }
        worker.next().unwrap();
    }
    let (error, waited) = refused.unwrap();
    assert_eq!(error.code, "FILE_LOCK_TIMEOUT");
    assert!(waited >= Duration::from_millis(300), "{waited:?}");
    // Readers need no lock, and a killed process holds none.
    worker.signal("-STOP");
    assert!(!desk.texts("a", json!({"limit": 1})).await.is_empty());
    worker.child.kill().unwrap();
    worker.child.wait().unwrap();
    desk.ok(SEND, hello()).await;
}

#[tokio::test]
async fn symbolic_links_are_not_followed() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    desk.create("b").await;
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.jsonl");
    let line =
        r#"{"id":"s","agentName":"x","message":"secret","timestamp":"2026-01-01T00:00:00Z"}"#;
    fs::write(&secret, format!("{line}\n")).unwrap();

    fs::remove_file(desk.file("rooms/a/messages.jsonl")).unwrap();
    symlink(&secret, desk.file("rooms/a/messages.jsonl")).unwrap();
    let desk = desk.beside();
    desk.refuses("get_messages", room("a"), "STORAGE_ERROR")
        .await;
    desk.refuses(SEND, hello(), "STORAGE_ERROR").await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), format!("{line}\n"));

    // A room that is a link, with everything in it.
    fs::rename(desk.file("rooms/b"), outside.path().join("b")).unwrap();
    symlink(outside.path().join("b"), desk.file("rooms/b")).unwrap();
    let enter = member("b", "x");
    let error = desk.call("enter_room", enter).await.unwrap_err();
    assert_eq!(error.code, "STORAGE_ERROR");
    assert!(error.message.contains("symbolic link"), "{error}");
    assert!(!error.text().contains(outside.path().to_str().unwrap()));
    // Rooms that can be read are still listed.
    desk.room("c", &["x"]).await;
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms.len(), 1);
    let status = desk.ok("get_status", json!({})).await;
    assert_eq!(status["warnings"].as_array().unwrap().len(), 2);
    desk.delete("a").await;
    assert!(secret.exists());
}

/// Root may write anywhere, so that a read-only directory shows nothing where
/// tests run as root; a file in the directory's place does.
#[tokio::test]
async fn a_directory_that_cannot_be_written_is_a_storage_error() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("data");
    fs::write(&path, "a file").unwrap();
    let desk = Desk::at(&path, |_| {});
    desk.refuses("create_room", room("a"), "STORAGE_ERROR")
        .await;
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_recovers() {
    let disk = SmallDisk::mount("size=128k");
    let desk = Desk::at(&disk.path().join("data"), |_| {});
    desk.room("a", &["x"]).await;
    let text = "x".repeat(3_000);
    let send = message("a", "x", &text);
    let mut acknowledged = 0;
    let error = loop {
        match desk.call(SEND, send.clone()).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 100);
    };
    assert_eq!(error.code, "STORAGE_ERROR");
    assert!(error.message.contains("full"), "{error}");
    assert_eq!(desk.count("a").await, acknowledged);
    assert_eq!(
        desk.lines("rooms/a/messages.jsonl").len() as u64,
        acknowledged
    );
    desk.ok("clear_room_messages", confirmed("a")).await;
    desk.ok(SEND, send).await;
    assert_eq!(desk.beside().count("a").await, 1);
}

#[tokio::test]
async fn a_read_only_disk_can_still_be_read() {
    let disk = SmallDisk::mount("size=1m");
    let path = disk.path().join("data");
    let desk = Desk::at(&path, |_| {});
    desk.room("a", &["x"]).await;
    desk.ok(SEND, hello()).await;
    desk.settle().await;
    drop(desk);
    disk.remount("ro");
    let desk = Desk::at(&path, |_| {});
    assert_eq!(desk.texts("a", json!({})).await, ["hello"]);
    desk.refuses(SEND, hello(), "STORAGE_ERROR").await;
}
