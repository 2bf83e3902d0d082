//! Moving an installation to PostgreSQL and back.

mod interrupted;
mod only_rooms;

use std::collections::BTreeMap;

use kit::{Row, Sql};
use serde_json::{Value, json};
use store::testing::Postgres;

use crate::{
    audit::{Trail, trail::store_of},
    harness::{Desk, LEGACY, Pipe, Place, mentions, show_to_book, structured},
};

const CONFIG: &str = "[approval]\nhold_seconds = 0\n\
    tools = { \"innervoice.reminder_create\" = \"allow\" }\n";

const URL: &str = "MADOGUCHI_DATABASE__URL";

/// Rows that are true of one place alone.
const NOT_MOVED: [&str; 5] = [
    "leases",
    "desk_slots",
    "desk_links",
    "desk_audit",
    "desk_secrets",
];

fn database(place: &Place) -> String {
    format!("sqlite:///{}", place.data().join("madoguchi.db").display())
}

/// Every row of every table that is moved, by table.
async fn all_rows(url: &str) -> BTreeMap<String, Vec<String>> {
    let store = store_of(url).await;
    let is_sqlite = store.engine() == "sqlite";
    let read = store.query(Default::default(), move |sql: &mut dyn Sql| {
        let names = match is_sqlite {
            true => "SELECT name FROM sqlite_master WHERE type = 'table'",
            false => {
                "SELECT CAST(table_name AS TEXT) FROM information_schema.tables \
                 WHERE table_schema = 'madoguchi'"
            }
        };
        let mut all = BTreeMap::new();
        for name in sql.query(names, &[])? {
            let name = name.text(0)?;
            let is_apart = name.starts_with("rooms_") || name.starts_with("madoguchi_");
            if !is_apart && !NOT_MOVED.contains(&name.as_str()) {
                let rows = sql.query(&format!("SELECT * FROM {name}"), &[])?;
                let mut rows: Vec<String> =
                    rows.iter().map(|row: &Row| format!("{row:?}")).collect();
                rows.sort();
                all.insert(name, rows);
            }
        }
        Ok(all)
    });
    read.await.unwrap()
}

/// The tables must be the same, row by row.
#[track_caller]
fn same(one: &BTreeMap<String, Vec<String>>, other: &BTreeMap<String, Vec<String>>) {
    assert!(
        one.keys().eq(other.keys()),
        "{:?} {:?}",
        one.keys(),
        other.keys()
    );
    for (table, rows) in one {
        let differs = rows.iter().zip(&other[table]).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{table}");
        assert_eq!(rows.len(), other[table].len(), "{table}");
    }
}

/// An installation in which something of everything happened. Nobody uses it any more.
async fn installation() -> (Place, String) {
    let mut desk = Desk::setup().config(CONFIG).start().await;
    let place = desk.place.clone();
    let key = place.create_key(&["phone"]);
    let show = show_to_book(&desk, "M001", 0).await;
    for seat in ["A1", "A2", "A3"] {
        let booking = json!({
            "schedule_id": show["schedule_id"], "seat_ids": [seat], "idempotency_key": seat,
        });
        structured(&desk.call("cinema", "reserve_seats", booking).await);
    }
    for (tool, arguments) in [
        (
            "reminder_create",
            json!({ "time": "2030-01-01T09:00:00Z", "note": "茶を買う 🍵" }),
        ),
        (
            "message_send",
            json!({ "to": "me@example.com", "text": "waits for a person" }),
        ),
    ] {
        desk.call_as(&key, "innervoice", tool, arguments).await;
    }
    desk.ok(
        "merchant",
        "search_products",
        json!({ "keywords": ["tea"] }),
    )
    .await;
    say(&desk, "before the move").await;
    desk.signal("TERM");
    desk.ended().await;
    place.run_line("audit erase --caller phone --json").ok();
    (place, key)
}

/// Says something in a room, which is made if it is missing.
async fn say(desk: &Desk, text: &str) {
    let member = json!({ "roomName": "tea", "agentName": "ada" });
    desk.call("rooms", "create_room", json!({ "roomName": "tea" }))
        .await;
    desk.ok("rooms", "enter_room", member.clone()).await;
    let mut message = member;
    message["message"] = text.into();
    desk.ok("rooms", "send_message", message).await;
}

/// What was said there, oldest first.
async fn said(desk: &Desk) -> Vec<String> {
    let all = desk
        .ok("rooms", "get_messages", json!({ "roomName": "tea" }))
        .await;
    let messages = all["messages"].as_array().unwrap().iter().rev();
    messages
        .map(|message| message["message"].as_str().unwrap().to_owned())
        .collect()
}

fn move_to(place: &Place, to: &str, environment: &[(&str, &str)]) -> Value {
    let moved = place.run_with(&["move", "--to", to, "--json"], environment);
    moved.ok().json()
}

/// The records of calls, without those that later commands added.
fn records(trail: &Trail) -> Vec<Value> {
    let mut calls = trail.calls();
    calls.retain(|call| call["tool"] != "get_movie_list");
    calls
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn there_and_back_again_every_row_and_every_record_is_the_same() {
    let (place, key) = installation().await;
    let url = Postgres::shared().create_database();
    let before = all_rows(&database(&place)).await;
    let (files, mut on_postgres) = (Trail::of(&place), Trail::of(&place));
    on_postgres.url = Some(url.clone());
    let (report, recorded) = (files.verified(), records(&files));
    let moved = move_to(&place, &url, &[]);
    let rows: usize = before.values().map(Vec::len).sum();
    assert_eq!(moved["rows"], rows);
    assert!(rows > 500, "{rows}");
    same(&all_rows(&url).await, &before);
    assert_eq!(on_postgres.verified(), report);
    assert_eq!(records(&on_postgres), recorded);
    // The key works there, and the idempotency keys are known.
    let desk = Desk::setup().place(&place).config(CONFIG).database(&url);
    let mut desk = desk.start().await;
    let list = desk
        .call_as(&key, "innervoice", "reminder_list", json!({}))
        .await;
    mentions(&list.text(), &["茶を買う"]);
    assert_eq!(said(&desk).await, ["before the move"]);
    say(&desk, "on PostgreSQL").await;
    desk.signal("TERM");
    desk.ended().await;
    let there = all_rows(&url).await;
    let other = Place::new();
    let directory = other.data();
    let back = move_to(&place, directory.to_str().unwrap(), &[(URL, &url)]);
    assert_eq!(back["to"], directory.to_str().unwrap());
    same(&all_rows(&database(&other)).await, &there);
    let trail = Trail::of(&other);
    trail.verified();
    let calls = records(&trail);
    assert_eq!(calls[..recorded.len()], recorded[..]);
    let desk = Desk::setup().place(&other).config(CONFIG).start().await;
    let list = desk
        .call_as(&key, "innervoice", "reminder_list", json!({}))
        .await;
    mentions(&list.text(), &["茶を買う"]);
    assert_eq!(said(&desk).await, ["before the move", "on PostgreSQL"]);
    trail.verified();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_old_data_refuses_to_be_used_until_the_move_is_undone() {
    let place = Place::new();
    place.create_key(&["phone"]);
    let url = Postgres::shared().create_database();
    let with_password = url.replacen("postgres@", "postgres:hunter2@", 1);
    let moved = place.run(&["move", "--to", &with_password]).ok();
    mentions(
        &moved.stdout,
        &["Moved", "MADOGUCHI_DATABASE__URL", "move --undo"],
    );
    let name = url.rsplit('/').next().unwrap();
    for command in ["keys list", "call cinema get_movie_list", "stdio cinema"] {
        let said = place.run_line(command).failed();
        mentions(&said, &["DATA_MOVED", name, "move --undo"]);
        assert!(!said.contains("hunter2"), "{said}");
    }
    place
        .run_line("move --to postgres://me@127.0.0.1/x")
        .fails_with("DATA_MOVED");
    place.run_line("move --undo").ok();
    place.run_line("move --undo").fails_with("NOT_MOVED");
    let keys = place.run_line("keys list --json").ok().json();
    assert_eq!(keys[0]["name"], "phone");
    // The other direction: PostgreSQL is marked as well.
    let other = Place::new();
    move_to(&place, other.data().to_str().unwrap(), &[(URL, &url)]);
    let refused = place.run_with(&["keys", "list"], &[(URL, &url)]);
    mentions(
        &refused.failed(),
        &["DATA_MOVED", other.data().to_str().unwrap()],
    );
    place.run_with(&["move", "--undo"], &[(URL, &url)]).ok();
    place.run_with(&["keys", "list"], &[(URL, &url)]).ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn data_in_use_and_targets_with_data_are_refused() {
    let desk = Desk::start().await;
    let place = desk.place.clone();
    let url = Postgres::shared().create_database();
    let arguments = ["move", "--to", &url];
    mentions(
        &place.run(&arguments).failed(),
        &["DATA_IN_USE", "A desk runs"],
    );
    drop(desk);
    // A client that does nothing at the moment.
    let mut command = place.command();
    let client = Pipe::with_handshake(command.args(["stdio", "cinema"]), LEGACY);
    place.run(&arguments).fails_with("DATA_IN_USE");
    drop(client);
    // Somebody started a desk there before.
    place
        .run_with(&["keys", "create", "x"], &[(URL, &url)])
        .ok();
    let said = place.run(&arguments).failed();
    mentions(&said, &["TARGET_NOT_EMPTY", "DROP SCHEMA"]);
    place.run_line("keys list").ok();
    let fresh = Postgres::shared().create_database();
    place.run(&["move", "--to", &fresh]).ok();
    // From PostgreSQL: a directory with data, and wrong kinds of targets.
    let back = |to: &str| {
        place
            .run_with(&["move", "--to", to], &[(URL, &fresh)])
            .failed()
    };
    mentions(&back(place.data().to_str().unwrap()), &["DATA_MOVED"]);
    mentions(&back("postgres://me@127.0.0.1/x"), &["INVALID_TARGET"]);
    let other = Place::new();
    other.load_demo(&[]);
    mentions(&back(other.data().to_str().unwrap()), &["TARGET_NOT_EMPTY"]);
    other
        .run_line("move --to elsewhere")
        .fails_with("INVALID_TARGET");
    other
        .run_line("move --to mysql://x/y")
        .fails_with("INVALID_DATABASE_URL");
    let empty = Place::new();
    empty.run(&arguments).fails_with("NOTHING_TO_MOVE");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_on_postgres_has_to_be_stopped_before_its_data_moves() {
    let url = Postgres::shared().create_database();
    let desk = Desk::setup().database(&url).start().await;
    let place = Place::new();
    let other = Place::new();
    let refused = place.run_with(
        &["move", "--to", other.data().to_str().unwrap()],
        &[(URL, &url)],
    );
    mentions(&refused.failed(), &["DATA_IN_USE", "A desk runs"]);
    assert!(!other.data().exists());
    drop(desk);
}

/// Nothing on PostgreSQL shows a client that has not done anything yet.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_client_that_slept_through_the_move_ends() {
    let place = Place::new();
    let url = Postgres::shared().create_database();
    place
        .run_with(&["keys", "create", "x"], &[(URL, &url)])
        .ok();
    let mut command = place.command();
    command.args(["stdio", "cinema"]).env(URL, &url);
    let mut client = Pipe::with_handshake(&mut command, LEGACY);
    let other = Place::new();
    move_to(&place, other.data().to_str().unwrap(), &[(URL, &url)]);
    assert_eq!(client.receive(), None);
    let (_, status, stderr) = client.finish();
    assert_eq!(status.code(), Some(1));
    mentions(&stderr, &["DATA_MOVED", other.data().to_str().unwrap()]);
}
