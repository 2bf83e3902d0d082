//! Calls on the command line, without a desk and of one.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::asking::Asking;
use crate::harness::Place;

#[test]
fn a_call_without_a_desk_continues_soon_after_the_approval() {
    let place = Place::new();
    let arguments = json!({ "time": "tomorrow at 9:00", "note": "Call Ann" }).to_string();
    let waiting = place
        .command()
        .args(["call", "innervoice", "reminder_create", &arguments])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = loop {
        let listed = place
            .run_line("approvals list --pending --json")
            .ok()
            .json();
        if let Some(id) = listed[0]["id"].as_str() {
            break id.to_owned();
        }
        thread::sleep(Duration::from_millis(50));
    };
    // By then the call would next look only after eight seconds, if nothing woke it.
    thread::sleep(Duration::from_secs(1));
    place.run(&["approvals", "approve", &id]).ok();
    let approved = Instant::now();
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(approved.elapsed() < Duration::from_secs(6));
    says_once_that_it_waits(&output.stderr);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("I will remind you tomorrow at 9:00"),
        "{text}"
    );
}

/// Whoever waits at a terminal must know for what.
#[track_caller]
fn says_once_that_it_waits(stderr: &[u8]) {
    let said = String::from_utf8_lossy(stderr);
    let waits = said
        .matches("Waiting for the user's approval: http")
        .count();
    assert_eq!(waits, 1, "{said}");
}

#[tokio::test]
async fn a_call_of_a_desk_says_that_it_waits() {
    let asking = Asking::embedded(45).await;
    let show = asking.show(0).await;
    let seats = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A1"] });
    let mut command = asking.desk.place.command();
    command
        .args(["call", "cinema", "reserve_seats", &seats.to_string()])
        .args(["--url", &format!("http://127.0.0.1:{}", asking.desk.port)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let waiting = command.spawn().unwrap();
    let id = asking.asked().await;
    asking.cli(&["approvals", "approve", &id]);
    let ended = tokio::task::spawn_blocking(|| waiting.wait_with_output());
    let output = ended.await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    says_once_that_it_waits(&output.stderr);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        answer["reservation"]["reservation_id"].is_string(),
        "{answer}"
    );
    assert!(!asking.is_free(&show, "A1").await);
}
