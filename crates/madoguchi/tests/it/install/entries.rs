//! What the entries say, and that they start the program.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::{command, run};
use crate::harness::{Output, Place, initialize, initialized, mentions, plain};

/// The entry that `install claude-code` makes for a counter with further arguments.
fn entry(place: &Place, counter: &str, more: &[&str]) -> Value {
    let mut command = command(place);
    command.args(["install", "claude-code", counter, "--print", "--json"]);
    let printed = Output::of(command.args(more), "").ok().json();
    printed["entries"][0]["entry"].clone()
}

#[test]
fn the_entry_starts_the_counter() {
    let place = Place::new();
    run(&place, "install claude-code todo rooms cinema").ok();
    let file = fs::read_to_string(place.path().join(".claude.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    for (counter, server) in [
        ("todo", "agentic-todo-mcp"),
        ("rooms", "agent-communication"),
        ("cinema", "cinema"),
    ] {
        let entry = &file["mcpServers"][counter];
        assert_eq!(entry["type"], "stdio");
        let mut command = Command::new(entry["command"].as_str().unwrap());
        place.enter(&mut command);
        command.args(
            entry["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap()),
        );
        for (name, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap());
        }
        let messages = [
            initialize(1, "2025-11-25"),
            initialized(),
            plain(2, "tools/list", json!({})),
        ];
        let input: String = messages.iter().map(|it| format!("{it}\n")).collect();
        let output = Output::of(&mut command, &input).ok();
        let mut answers = output
            .stdout
            .lines()
            .map(|it| serde_json::from_str(it).unwrap());
        let first: Value = answers.next().unwrap();
        assert_eq!(first["result"]["serverInfo"]["name"], server, "{first}");
        assert!(
            answers.any(|it: Value| it["result"]["tools"][0].is_object()),
            "{counter}"
        );
    }
}

#[test]
fn a_project_is_named_only_where_it_is_needed() {
    let place = Place::new();
    assert_eq!(entry(&place, "todo", &[])["args"], json!(["stdio", "todo"]));
    let named = entry(&place, "todo", &["--root", "sub"]);
    let root = place.path().canonicalize().unwrap().join("sub");
    assert_eq!(named["args"], json!(["stdio", "todo", "--root", root]));
    // Other counters have no project.
    let cinema = entry(&place, "cinema", &["--root", "sub"]);
    assert_eq!(cinema["args"], json!(["stdio", "cinema"]));
}

#[test]
fn all_agents_share_one_directory_of_rooms() {
    let place = Place::new();
    let share = place.path().join(".local/share/madoguchi/rooms");
    let rooms = entry(&place, "rooms", &[]);
    assert_eq!(rooms["env"], json!({ "AGENT_COMM_DATA_DIR": share }));
    let mut with = command(&place);
    with.args(["install", "claude-code", "rooms", "--print", "--json"])
        .env("AGENT_COMM_DATA_DIR", "/srv/rooms");
    let printed = Output::of(&mut with, "").ok().json();
    let environment = &printed["entries"][0]["entry"]["env"];
    assert_eq!(*environment, json!({ "AGENT_COMM_DATA_DIR": "/srv/rooms" }));
    let config = place.file("desk.toml", "[rooms]\ndata_dir = \"/srv/talk\"\n");
    let rooms = entry(&place, "rooms", &["--config", config.to_str().unwrap()]);
    assert_eq!(rooms["env"], json!({ "AGENT_COMM_DATA_DIR": "/srv/talk" }));
}

#[test]
fn the_data_directory_and_the_configuration_are_passed_on() {
    let place = Place::new();
    place.file("desk.toml", "");
    let entry = entry(&place, "rooms", &["--data", "d", "--config", "desk.toml"]);
    let here = place.path().canonicalize().unwrap();
    let (data, config) = (here.join("d"), here.join("desk.toml"));
    let arguments = json!(["stdio", "rooms", "--data", data, "--config", config]);
    assert_eq!(entry["args"], arguments);
    assert_eq!(
        entry["env"],
        json!({ "AGENT_COMM_DATA_DIR": data.join("rooms") })
    );
}

#[test]
fn another_command_can_be_given() {
    let place = Place::new();
    let given = ["--command", "npx -y '/a b/madoguchi.tgz'"];
    let made = entry(&place, "cinema", &given);
    assert_eq!(made["command"], "npx");
    assert_eq!(
        made["args"],
        json!(["-y", "/a b/madoguchi.tgz", "stdio", "cinema"])
    );
    let mut install = command(&place);
    install.args(["install", "codex", "cinema"]).args(given);
    let installed = Output::of(&mut install, "").ok();
    assert!(
        !installed.stderr.contains("cargo clean"),
        "{}",
        installed.stderr
    );
    run(&place, "uninstall codex").ok();
    assert!(!place.path().join(".codex/config.toml").exists());
}

#[test]
fn a_running_desk_is_named_by_its_address() {
    let place = Place::new();
    let url = ["--url", "http://127.0.0.1:8010/", "--key-env", "DESK_KEY"];
    let made = entry(&place, "innervoice", &url);
    let expected = json!({
        "type": "http",
        "url": "http://127.0.0.1:8010/mcp/innervoice",
        "headers": { "Authorization": "Bearer ${DESK_KEY}" },
    });
    assert_eq!(made, expected);
    let keyless = run(
        &place,
        "install codex innervoice --url http://127.0.0.1:8010",
    )
    .ok();
    mentions(&keyless.stderr, &["innervoice needs a key", "--key-env"]);
    for (line, said) in [
        (
            "install claude-desktop todo --url http://h",
            "URL_UNSUPPORTED",
        ),
        (
            "install zed todo --url http://h --key-env K",
            "KEY_ENV_UNSUPPORTED",
        ),
        ("install codex todo --url h:8010", "INVALID_URL"),
        (
            "install codex todo --url http://h --root /x",
            "URL_WITH_PROJECT",
        ),
        (
            "install codex todo --url http://h --command x",
            "cannot be used with",
        ),
        ("install codex todo --key-env K", "--url"),
        (
            "install codex todo --url http://h --key-env A-B",
            "INVALID_KEY_ENV",
        ),
    ] {
        run(&place, line).fails_with(said);
    }
}

/// A key is never written into a file, even by mistake.
#[test]
fn a_key_in_place_of_its_variable_is_refused() {
    let place = Place::new();
    let key = place.create_key(&["agent"]);
    let line = format!("install codex todo --url http://127.0.0.1:8010 --key-env {key}");
    run(&place, &line).fails_with("INVALID_KEY_ENV");
    assert!(!place.path().join(".codex").exists());
}
