//! Lists for people: columns, colours, and times as the reader writes them.

use serde_json::{Value, json};

use crate::harness::{Pipe, Place, call, mentions};

const TOKYO: [(&str, &str); 2] = [("TZ", "Asia/Tokyo"), ("LANG", "ja_JP.UTF-8")];

/// The columns at which the words begin, as a terminal shows them.
fn column(line: &str, word: &str) -> usize {
    let before = &line[..line
        .find(word)
        .unwrap_or_else(|| panic!("{word} in {line}"))];
    before
        .chars()
        .map(|c| if c.is_ascii() { 1 } else { 2 })
        .sum()
}

#[test]
fn keys_are_listed_in_columns_with_times_of_the_reader() {
    let place = Place::new();
    place.create_key(&["田中のノート", "--expires", "2031-01-31T03:00:00Z"]);
    place.create_key(&["phone", "--expires", "2031-02-01T03:00:00Z"]);
    let listed = place
        .run_with(&["keys", "list"], &[("TZ", "Asia/Tokyo")])
        .ok()
        .stdout;
    mentions(
        &listed,
        &["Fri 31 Jan 2031, 12:00", "Sat 1 Feb 2031, 12:00"],
    );
    let lines: Vec<&str> = listed.lines().collect();
    let columns: Vec<usize> = lines[1..]
        .iter()
        .map(|line| column(line, "valid"))
        .collect();
    assert_eq!(columns, [column(lines[0], "status"); 2], "{listed}");
    assert!(!listed.contains('\u{1b}'), "{listed}");

    let listed = place.run_with(&["keys", "list"], &TOKYO).ok().stdout;
    mentions(&listed, &["名前", "2031年1月31日(金) 12:00"]);
    let forced = place.run_with(&["keys", "list"], &[("CLICOLOR_FORCE", "1")]);
    assert!(forced.ok().stdout.contains("\u{1b}[32mvalid\u{1b}[0m"));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    let none = place.run_with(&["keys", "list"], &both).ok().stdout;
    assert!(!none.contains('\u{1b}'), "{none:?}");

    // Programs get the same as ever.
    let keys = place
        .run_with(&["keys", "list", "--json"], &TOKYO)
        .ok()
        .json();
    let key = keys
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["name"] == "phone")
        .unwrap();
    assert_eq!(key["expires_at"], "2031-02-01T03:00:00Z");
}

/// A question about a call by an agent on stdio.
fn asked(place: &Place) -> Value {
    place.file(
        "madoguchi.toml",
        "[approval]\nhold_seconds = 0\n[innervoice]\nlanguage = \"en\"\n",
    );
    let mut pipe = Pipe::start(place.command().args(["stdio", "innervoice"]));
    let event =
        json!({ "title": "Lunch", "start": "2031-01-31T12:30:00+09:00", "duration_min": 30 });
    pipe.request(&call(1, "calendar_create", event));
    let listed = place.run(&["approvals", "list", "--json"]).ok().json();
    listed[0].clone()
}

#[test]
fn approvals_say_how_long_is_left_and_what_to_type() {
    let place = Place::new();
    let question = asked(&place);
    let id = question["id"].as_str().unwrap();
    for name in [
        "id",
        "counter",
        "tool",
        "arguments",
        "caller",
        "status",
        "created_at",
        "expires_at",
    ] {
        assert!(!question[name].is_null(), "{name}: {question}");
    }
    let listed = place.run(&["approvals", "list"]).ok().stdout;
    mentions(
        &listed,
        &[
            "(less than a minute ago)",
            "(in 9 minutes)",
            "Starts: Fri 31 Jan 2031, 12:30 (Asia/Tokyo, UTC+09:00)",
            &format!("madoguchi approvals approve {id}"),
        ],
    );
    let listed = place.run_with(&["approvals", "list"], &TOKYO).ok().stdout;
    mentions(&listed, &["依頼元", "たった今", "9分後"]);
    let grants = place
        .run(&["approvals", "approve", id, "--always", "--json"])
        .ok();
    assert_eq!(grants.json()["status"], "approved");
    let grant = place.run(&["approvals", "grants", "--json"]).ok().json()[0].clone();
    mentions(
        &place.run_with(&["approvals", "grants"], &TOKYO).ok().stdout,
        &["許可日時", "innervoice.calendar.create"],
    );
    let id = grant["id"].as_str().unwrap();
    let revoked = place
        .run(&["approvals", "revoke", id, "--json"])
        .ok()
        .json();
    assert_eq!(revoked, json!({ "id": id, "revoked": true }));
}

#[test]
fn the_audit_trail_is_shown_in_columns() {
    let place = Place::new();
    place.load_demo(&[]);
    for arguments in [r#"{"limit": 1}"#, r#"{"date": "soon"}"#] {
        place.run(&["call", "cinema", "get_movie_list", arguments]);
    }
    let tail = place.run_with(&["audit", "tail"], &TOKYO).ok().stdout;
    let lines: Vec<&str> = tail.lines().collect();
    let [done, refused] = lines.as_slice() else {
        panic!("{tail}");
    };
    mentions(done, &["年", "月", "done", "cinema.get_movie_list"]);
    mentions(refused, &["refused INVALID_DATE"]);
    assert_eq!(column(done, "done"), column(refused, "refused"), "{tail}");
}

#[test]
fn every_command_that_prints_data_has_a_json_form() {
    let place = Place::new();
    let loaded = place.run_line("demo load cinema --json").ok().json();
    assert_eq!(loaded["counter"], "cinema");
    mentions(loaded["message"].as_str().unwrap(), &["Loaded 12 films"]);
    let removed = place.run_line("demo remove cinema --json").ok().json();
    assert!(removed["message"].is_string(), "{removed}");
    place.file("madoguchi.toml", "[http]\nport = 8123\n");
    let checked = place.run_line("config check --json").ok().json();
    assert_eq!(
        checked,
        json!({ "ok": true, "file": "madoguchi.toml", "warnings": [] })
    );
}
