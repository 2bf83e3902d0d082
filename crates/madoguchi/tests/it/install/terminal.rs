//! Questions on a terminal.

use std::fs;

use super::files;
use crate::harness::{Place, clients, mentions};

async fn on_terminal(place: &Place, line: &str, answers: &[&str]) -> String {
    let arguments = [&[line], answers].concat();
    let output = clients::python(place, "on_terminal.py", &arguments).await;
    output.ok().stdout
}

#[tokio::test]
async fn clients_and_counters_are_chosen_by_number_or_name() {
    let place = Place::new();
    fs::create_dir(place.path().join(".cursor")).unwrap();
    fs::create_dir(place.path().join(".codex")).unwrap();
    let shown = on_terminal(&place, "install", &["9", "2", "cinema rooms"]).await;
    mentions(
        &shown,
        &[
            "Which clients",
            "cursor",
            "codex",
            "Which counters",
            "added",
        ],
    );
    assert!(!place.path().join(".cursor/mcp.json").exists());
    let codex = fs::read_to_string(place.path().join(".codex/config.toml")).unwrap();
    mentions(&codex, &["[mcp_servers.cinema]", "[mcp_servers.rooms]"]);
}

#[tokio::test]
async fn the_project_is_asked_for() {
    let place = Place::new();
    let file = place.path().join(".codeium/windsurf/mcp_config.json");
    let home = place.path().join("project");
    for (answer, project) in [
        ("/srv/project", "/srv/project"),
        ("~/project", home.to_str().unwrap()),
    ] {
        let shown = on_terminal(&place, "install windsurf todo", &[answer]).await;
        mentions(&shown, &["Which project should todo serve?"]);
        let written = format!("\"{project}\"");
        mentions(&fs::read_to_string(&file).unwrap(), &[&written]);
    }
}

#[tokio::test]
async fn no_answer_changes_nothing() {
    let place = Place::new();
    fs::create_dir(place.path().join(".cursor")).unwrap();
    let shown = on_terminal(&place, "install", &["\u{4}"]).await;
    mentions(&shown, &["Nothing was chosen"]);
    assert!(files(&place.path().join(".cursor")).is_empty());
}
