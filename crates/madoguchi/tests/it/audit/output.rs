//! What the commands print of a trail is safe to look at, and what they write is
//! for its owner alone.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Stdio,
};

use serde_json::json;

use super::{Trail, files, lines, trail::eventually};
use crate::harness::{Desk, Socket, modern};

/// Clears the screen, rings, sets the title in one byte, turns the direction of
/// reading and begins a line that looks like a record.
const HOSTILE: &str = "x\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{200b}\r\n2026-01-01T00:00:00.000Z  ok";

#[track_caller]
fn harmless(text: &str) {
    let bad = text.chars().find(|it| {
        let turns = matches!(it, '\u{202e}' | '\u{200b}' | '\u{2066}');
        turns || (it.is_control() && *it != '\n')
    });
    assert_eq!(bad, None, "{text:?}");
}

#[tokio::test]
async fn whatever_agents_write_a_terminal_only_shows_it() {
    let desk = Desk::start().await;
    let trail = Trail::of(&desk.place);
    let mut command = desk.place.command();
    command.args(["audit", "tail", "--follow", "--personal"]);
    let room = json!({ "roomName": "dev" });
    let tool = |name: &str| format!("agent_communication_{name}");
    desk.ok("rooms", &tool("create_room"), room).await;
    let mut follower = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut followed = BufReader::new(follower.stdout.take().unwrap()).lines();
    harmless(&followed.next().unwrap().unwrap());
    let enter = json!({ "agentName": HOSTILE, "roomName": HOSTILE, HOSTILE: HOSTILE });
    desk.call("rooms", &tool("enter_room"), enter).await;
    let params = json!({ "name": HOSTILE, "arguments": {} });
    let mut socket = Socket::open(&desk, "rooms").await;
    socket.request(&modern(1, "tools/call", params)).await;
    eventually(&trail, "three calls", |records| records.len() == 3).await;
    for _ in 0..2 {
        harmless(&followed.next().unwrap().unwrap());
    }
    let _ = follower.kill();
    let _ = follower.wait();

    let tail = trail.run(&["tail", "--personal"]).ok().stdout;
    harmless(&tail);
    assert_eq!(tail.lines().count(), 3, "{tail}");
    assert!(tail.contains("⟨U+202E⟩"), "{tail}");
    for arguments in [
        &["tail", "--personal", "--json"][..],
        &["export", "--personal"],
    ] {
        let text = trail.run(arguments).ok().stdout;
        harmless(&text);
        // A program reads what was written.
        let records = lines(&text);
        let asked = records.iter().find(|it| it["tool"] == "unknown").unwrap();
        assert_eq!(asked["personal"]["tool"], HOSTILE);
    }
    // Names of segments are names of files.
    let name = format!("{}.jsonl", HOSTILE.replace('/', "_"));
    fs::write(trail.directory().join(name), "").unwrap();
    harmless(&trail.broken());
    let failed = trail.run(&["tail", "--since", HOSTILE]).failed();
    harmless(&failed);
}

#[tokio::test]
async fn an_export_is_for_its_owner_alone() {
    let mut desk = Desk::start().await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    desk.signal("TERM");
    assert!(desk.ended().await.success());
    let trail = Trail::of(&desk.place);
    let path = |name: &str| desk.place.path().join(name);
    fs::write(path("old.jsonl"), "open to others").unwrap();
    fs::write(path("target"), "of somebody else").unwrap();
    symlink(path("target"), path("link.jsonl")).unwrap();
    for name in ["new.jsonl", "old.jsonl", "link.jsonl"] {
        let output = path(name);
        trail
            .run(&["export", "--output", output.to_str().unwrap()])
            .ok();
        assert_eq!(mode(&output), 0o600, "{name}");
        assert_eq!(lines(&fs::read_to_string(&output).unwrap()).len(), 3);
    }
    assert_eq!(
        fs::read_to_string(path("target")).unwrap(),
        "of somebody else"
    );
    // What is no file stays what it is.
    trail.run(&["export", "--output", "/dev/null"]).ok();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let missing = path("nowhere").join("x.jsonl");
    trail
        .run(&["export", "--output", missing.to_str().unwrap()])
        .fails_with("OUTPUT_UNUSABLE");
}

/// Whatever a desk writes into a data directory that others may enter.
#[tokio::test]
async fn no_file_of_a_desk_is_open_to_others() {
    let place = crate::harness::Place::new();
    fs::create_dir_all(place.data()).unwrap();
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let config = "[limits]\nrequests_per_minute = { fixture = 100 }\n";
    let mut desk = Desk::setup()
        .place(&place)
        .config(config)
        .own_port("--innervoice-port")
        .start()
        .await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    desk.ok("fixture", "fixture_sum", json!({ "a": 1, "b": 2 }))
        .await;
    desk.signal("KILL");
    desk.ended().await;
    let written = files(&place.data());
    for name in [
        "madoguchi.db",
        "desk.secret",
        "first-key.txt",
        "console-link.txt",
    ] {
        assert!(written.iter().any(|path| path.ends_with(name)), "{name}");
    }
    for name in ["text", "madoguchi.db-limits", "audit"] {
        let inside = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with(name));
        assert!(written.iter().any(|path| inside(path)), "{name}");
    }
    // The catalogue is for everybody, and its index comes from a library.
    let mut open = written
        .iter()
        .filter(|path| !is_index(path) && mode(path) & 0o077 != 0);
    assert_eq!(open.next(), None);
}

fn is_index(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "search")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
