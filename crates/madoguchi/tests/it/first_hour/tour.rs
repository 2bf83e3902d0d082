//! `demo tour`.

use std::fs;

use crate::harness::{Place, Terminal, mentions, terminal::plain};

const COUNTERS: [&str; 5] = ["cinema", "merchant", "todo", "rooms", "innervoice"];

/// What is in the user's own directories afterwards.
fn left_behind(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn the_tour_calls_every_counter_and_touches_nothing_of_the_user() {
    let place = Place::new();
    // Settings that would lead elsewhere, or not at all.
    place.file("madoguchi.toml", "[http]\nport = 1\n");
    let elsewhere = [
        ("MADOGUCHI_DATABASE__URL", "postgres://nobody@127.0.0.1:1/x"),
        ("AGENT_COMM_DATA_DIR", "rooms-of-the-user"),
        ("MADOGUCHI_INNERVOICE__SMTP_URL", "smtp://127.0.0.1:1"),
        ("TMPDIR", place.path().to_str().unwrap()),
    ];
    let shown = place.run_with(&["demo", "tour"], &elsewhere).ok().stdout;
    for counter in COUNTERS {
        mentions(&shown, &[&format!("madoguchi call {counter} ")]);
    }
    mentions(
        &shown,
        &[
            "in stock",
            "- [ ] Write the changelog",
            "release",
            "Add \"Lunch with Aoi\" to the calendar",
            "madoguchi approvals approve ap_",
            "I added Lunch with Aoi to your calendar for tomorrow at 12:30",
            "madoguchi install claude-code todo rooms",
        ],
    );
    assert_eq!(left_behind(&place), ["madoguchi.toml"]);
}

#[test]
fn a_missing_temporary_directory_is_named() {
    let place = Place::new();
    let missing = place.path().join("missing");
    let shown = place.run_with(&["demo", "tour"], &[("TMPDIR", missing.to_str().unwrap())]);
    let said = shown.failed();
    mentions(
        &said,
        &[
            "NO_TEMPORARY_DIRECTORY",
            missing.to_str().unwrap(),
            "TMPDIR",
        ],
    );
}

#[test]
fn the_tour_is_in_the_language_of_the_reader() {
    let place = Place::new();
    let shown = place.run_with(&["demo", "tour"], &[("LC_ALL", "ja_JP.UTF-8")]);
    let shown = shown.ok().stdout;
    mentions(
        &shown,
        &[
            "Madoguchi（窓口）のツアー",
            "在庫",
            "予定「葵さんとランチ」を追加する",
            "予定を入れました",
            "以上、5つの窓口でした。",
        ],
    );
}

#[tokio::test]
async fn on_a_terminal_the_tour_waits_and_the_person_decides() {
    let place = Place::new();
    let mut terminal = Terminal::new();
    for _ in 0..4 {
        terminal = terminal.types("q: stop", "\n");
    }
    let denies = terminal.types("n: deny", "n\n");
    let shown = plain(&denies.run(&place, &["demo", "tour"]).await.ok().stdout);
    mentions(
        &shown,
        &["madoguchi approvals deny ap_", "That was all five."],
    );
    assert!(!shown.contains("I added Lunch"), "{shown}");

    let stops = Terminal::new().types("q: stop", "q\n");
    let shown = plain(&stops.run(&place, &["demo", "tour"]).await.ok().stdout);
    mentions(&shown, &["1/5"]);
    assert!(!shown.contains("2/5"), "{shown}");
    // Ctrl+C leaves no directory behind.
    let interrupted = Terminal::new()
        .env("TMPDIR", place.path().to_str().unwrap())
        .until("q: stop");
    interrupted.run(&place, &["demo", "tour"]).await.ok();
    assert_eq!(left_behind(&place), Vec::<String>::new());
}
