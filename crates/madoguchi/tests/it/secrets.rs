//! Secrets for the person who starts a desk: on a terminal, or in a file of
//! their own, and in no log.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::{
    first_hour::FreePorts,
    harness::{Desk, Place, Socket, Terminal, modern, result},
};

const PORT: &str = "--innervoice-port";

#[tokio::test]
async fn a_log_holds_no_key_and_no_link() {
    let desk = Desk::setup()
        .own_port(PORT)
        .argument("--log-level")
        .argument("trace")
        .start()
        .await;
    let (key, link) = (desk.first_key().unwrap(), desk.console_link());
    let (_, token) = link.split_once("token=").unwrap();
    // Used on every way in, and once wrongly.
    let mut socket = Socket::with_bearer(&desk, "innervoice", &key).await;
    result(&socket.request(&modern(1, "tools/list", json!({}))).await);
    let path = format!("innervoice?key={key}");
    for (path, status) in [("innervoice", 200), (&path, 400)] {
        let list = modern(1, "tools/list", json!({}));
        let answer = desk.post(path, Some(&key), &list).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let (log, data) = (desk.log(), desk.place.data());
    for secret in [&key, token] {
        assert!(!log.contains(secret), "{log}");
    }
    // The commands are for this data.
    for command in ["keys rotate innervoice", "approvals open"] {
        let (command, its) = (
            format!("madoguchi {command} "),
            format!("--data {}", data.display()),
        );
        let mut rests = log.lines().filter_map(|line| line.split_once(&command));
        assert!(rests.any(|(_, rest)| rest.contains(&its)), "{log}");
    }
    for name in ["first-key.txt", "console-link.txt"] {
        let path = data.join(name);
        assert!(log.contains(path.to_str().unwrap()), "{log}");
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// Somebody prepared the places before the first start.
#[tokio::test]
async fn an_existing_file_is_replaced_rather_than_written_to() {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    let elsewhere = place.file("elsewhere", "untouched");
    for name in ["first-key.txt", "console-link.txt"] {
        std::os::unix::fs::symlink(&elsewhere, place.data().join(name)).unwrap();
    }
    let desk = Desk::setup().own_port(PORT).place(&place).start().await;
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
    assert!(desk.first_key().unwrap().starts_with("mdg_"));
    assert!(desk.console_link().contains("/console/open?token="));
}

/// The desk starts, and says how to get in.
#[tokio::test]
async fn the_desk_starts_even_if_the_console_link_can_not_be_written() {
    let place = Place::new();
    fs::create_dir_all(place.data().join("console-link.txt").join("in the way")).unwrap();
    let desk = Desk::setup().place(&place).start().await;
    desk.logs("how to get in", |entry| {
        entry["message"]
            .to_string()
            .contains("madoguchi approvals open")
    })
    .await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn on_a_terminal_secrets_are_printed_and_not_written_to_files() {
    let place = Place::new();
    let serve = FreePorts::new().serve();
    let serve: Vec<&str> = serve.iter().map(String::as_str).collect();
    let shown = Terminal::new().until("Ctrl+C").run(&place, &serve).await;
    let shown = shown.ok().stdout;
    assert!(shown.contains("Authorization: Bearer mdg_"), "{shown}");
    assert!(shown.contains("/console/open?token="), "{shown}");
    for name in ["first-key.txt", "console-link.txt"] {
        assert!(!place.data().join(name).exists(), "{name}");
    }
}
