//! A call on the command line, without any desk.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::harness::Place;

#[test]
fn a_call_without_a_desk_continues_soon_after_the_approval() {
    let place = Place::new();
    let arguments = json!({ "time": "tomorrow at 9:00", "note": "Call Ann" }).to_string();
    let waiting = place
        .command()
        .args(["call", "innervoice", "reminder_create", &arguments])
        .stdout(Stdio::piped())
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
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("I will remind you tomorrow at 9:00"),
        "{text}"
    );
}
