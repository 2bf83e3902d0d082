//! Rooms that are moved alone: all the rest is on PostgreSQL, as after an upgrade from a
//! version that kept rooms in files.

use serde_json::json;
use store::testing::Postgres;

use super::{URL, said, say};
use crate::harness::{Desk, LEGACY, Pipe, Place, mentions, plain_call, refused, structured};

const LIST: [&str; 3] = ["call", "rooms", "list_rooms"];

/// The rooms of a desk that has ended, in files.
async fn rooms_in_files(text: &str) -> Place {
    let mut desk = Desk::start().await;
    say(&desk, text).await;
    stop(&mut desk).await;
    desk.place.clone()
}

async fn stop(desk: &mut Desk) {
    desk.signal("TERM");
    desk.ended().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_command_that_a_refusal_names_moves_the_rooms_and_they_come_back() {
    let place = rooms_in_files("in files").await;
    let url = Postgres::shared().create_database();
    let said_so = place.run_with(&LIST, &[(URL, &url)]).failed();
    mentions(&said_so, &["ROOMS_NOT_MOVED"]);
    // Exactly what the message says, with the variable still set.
    let (_, command) = said_so.split_once("Move them with: madoguchi ").unwrap();
    let (command, _) = command.split_once('.').unwrap();
    let command = command.replace("URL", &url);
    let command: Vec<&str> = command.split(' ').collect();
    let moved = place.run_with(&command, &[(URL, &url)]).ok();
    mentions(&moved.stdout, &["Moved 1 rooms with 1 messages"]);
    let mut desk = Desk::setup().place(&place).database(&url).start().await;
    assert_eq!(said(&desk).await, ["in files"]);
    say(&desk, "in tables").await;
    stop(&mut desk).await;
    // The files refuse to be used, the rest of the old data does not.
    for command in ["call rooms list_rooms", "rooms names"] {
        place.run_line(command).fails_with("DATA_MOVED");
    }
    place.run_line("keys list").ok();
    place.run_line("backup b.tar").fails_with("DATA_MOVED");

    // Into files again, and from there into the tables that still have the old copy.
    let files = place.path().join("rooms-again");
    let files = files.to_str().unwrap();
    let arguments = ["move", "--to", files, "--only", "rooms", "--json"];
    let back = place.run_with(&arguments, &[(URL, &url)]).ok().json();
    assert_eq!(back["messages"], 2);
    for command in [&LIST[..], &["rooms", "names"], &arguments] {
        let refused = place.run_with(command, &[(URL, &url)]).failed();
        mentions(&refused, &["DATA_MOVED", files]);
    }
    let named = [(URL, url.as_str()), ("AGENT_COMM_DATA_DIR", files)];
    let kept = Desk::setup().place(&place).database(&url);
    let mut desk = kept.env("AGENT_COMM_DATA_DIR", files).start().await;
    assert_eq!(said(&desk).await, ["in files", "in tables"]);
    say(&desk, "in files again").await;
    stop(&mut desk).await;
    let arguments = ["move", "--to", &url, "--only", "rooms", "--json"];
    let there = place.run_with(&arguments, &named).ok().json();
    assert_eq!(there["messages"], 3);
    let desk = Desk::setup().place(&place).database(&url).start().await;
    assert_eq!(
        said(&desk).await,
        ["in files", "in tables", "in files again"]
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_move_of_rooms_is_undone_with_the_variable_still_set() {
    let place = rooms_in_files("in files").await;
    let url = Postgres::shared().create_database();
    let arguments = ["move", "--to", &url, "--only", "rooms"];
    let moved = place.run_with(&arguments, &[(URL, &url)]).ok();
    mentions(&moved.stdout, &["To go back to it: madoguchi move --undo"]);
    let undone = place.run_with(&["move", "--undo"], &[(URL, &url)]).ok();
    mentions(&undone.stdout, &["AGENT_COMM_DATA_DIR", "data/rooms"]);
    place.run(&LIST).ok();
    // And of everything.
    let url = Postgres::shared().create_database();
    place.run(&["move", "--to", &url]).ok();
    place.run_line("keys list").fails_with("DATA_MOVED");
    let undone = place.run_with(&["move", "--undo"], &[(URL, &url)]).ok();
    mentions(&undone.stdout, &["remove [database] url"]);
    place.run_line("keys list").ok();
    let listed = place.run(&LIST).ok();
    assert_eq!(listed.json()["rooms"][0]["name"], "tea");
    let never = Postgres::shared().create_database();
    let refused = place.run_with(&["move", "--undo"], &[(URL, &never)]);
    refused.fails_with("NOT_MOVED");
}

/// Rooms of somebody else in the target are never replaced.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rooms_that_are_in_the_database_stay_there() {
    let first = rooms_in_files("of the first").await;
    let other = rooms_in_files("of the other").await;
    let url = Postgres::shared().create_database();
    let only = ["move", "--to", &url, "--only", "rooms"];
    first.run(&only).ok();
    other.run(&only).fails_with("TARGET_NOT_EMPTY");
    for _ in 0..2 {
        let refused = other.run(&["move", "--to", &url]).failed();
        mentions(&refused, &["TARGET_NOT_EMPTY", "rooms_"]);
    }
    other.run(&LIST).ok();
    let desk = Desk::setup().place(&first).database(&url).start().await;
    assert_eq!(said(&desk).await, ["of the first"]);
    let nothing = Postgres::shared().create_database();
    let to = other.path().join("nowhere");
    let arguments = ["move", "--to", to.to_str().unwrap(), "--only", "rooms"];
    let refused = other.run_with(&arguments, &[(URL, &nothing)]);
    refused.fails_with("NOTHING_TO_MOVE");
    assert!(!to.exists());
}

/// A client that did nothing during the move can't be noticed by it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_client_that_slept_through_the_move_adds_nothing_to_the_old_files() {
    let place = rooms_in_files("in files").await;
    let mut command = place.command();
    let mut client = Pipe::with_handshake(command.args(["stdio", "rooms"]), LEGACY);
    let url = Postgres::shared().create_database();
    place.run(&["move", "--to", &url, "--only", "rooms"]).ok();
    let message = json!({ "roomName": "tea", "agentName": "ada", "message": "too late" });
    let answer = client.request(&plain_call(1, "send_message", message));
    refused(&answer["result"], "DATA_MOVED");
    drop(client);
    // One that is at work is noticed.
    let other = rooms_in_files("in files").await;
    let mut command = other.command();
    let mut client = Pipe::with_handshake(command.args(["stdio", "rooms"]), LEGACY);
    let member = json!({ "roomName": "tea", "agentName": "bob" });
    let answer = client.request(&plain_call(1, "enter_room", member));
    structured(&answer["result"]);
    let url = Postgres::shared().create_database();
    let refused = other.run(&["move", "--to", &url, "--only", "rooms"]);
    mentions(&refused.failed(), &["DATA_IN_USE", "rooms"]);
}
