//! A call costs no more instructions than `bench/instructions.json` says, so its cost
//! does not rise unnoticed.

use std::{path::Path, process::Command};

use crate::harness::{Output, mentions};

fn are_as_before(counter: &str, read: &str, write: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(root.join("scripts/instructions"));
    command
        .args(["--check", "--only", counter])
        .args(["--program", env!("CARGO_BIN_EXE_madoguchi")]);
    let counted = Output::of(&mut command, "").ok();
    mentions(&counted.stdout, &[read, write]);
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn of_the_cinema() {
    are_as_before("cinema", "get_movie_list", "reserve_seats");
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn of_innervoice() {
    are_as_before("innervoice", "calendar_list", "reminder_create");
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn of_the_merchant() {
    are_as_before("merchant", "search_products", "update_inventory");
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn of_rooms() {
    are_as_before("rooms", "get_messages", "send_message");
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn of_todo() {
    are_as_before("todo", "list_tasks", "create_task");
}
