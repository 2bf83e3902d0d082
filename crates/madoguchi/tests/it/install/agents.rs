//! The coding agents themselves list what `install` wrote for them, and connect to it.

use super::command;
use crate::harness::{Desk, Output, Place, clients, mentions};

/// The program of each agent, below the installed packages.
fn program(client: &str) -> String {
    let machine = std::env::consts::ARCH;
    let of_npm = if machine == "aarch64" { "arm64" } else { "x64" };
    match client {
        "claude-code" => format!("@anthropic-ai/claude-code-linux-{of_npm}/claude"),
        "codex" => {
            format!("@openai/codex-linux-{of_npm}/vendor/{machine}-unknown-linux-musl/bin/codex")
        }
        "gemini-cli" => "@google/gemini-cli/bundle/gemini.js".into(),
        "opencode" => format!("opencode-linux-{of_npm}/bin/opencode"),
        other => panic!("{other}"),
    }
}

/// Runs a command line where the agent looks for its files.
fn run(place: &Place, line: &str) {
    let mut command = command(place);
    command.env_remove("XDG_CONFIG_HOME").args(line.split(' '));
    Output::of(&mut command, "").ok();
}

/// What the agent says about its servers.
async fn listed(place: &Place, client: &str, key: &str) -> String {
    let list = ["mcp", "list"];
    let output = clients::agent(place, &program(client), &list, ("DESK_KEY", key)).await;
    let output = output.ok();
    format!("{}{}", output.stdout, output.stderr)
}

/// Installs, lets the agent list its servers, and uninstalls again.
async fn lists(client: &str, shows: &[&str]) {
    lists_with(client, "", shows).await;
}

async fn lists_with(client: &str, more: &str, shows: &[&str]) {
    let place = Place::new();
    run(&place, &format!("install {client} rooms todo{more}"));
    let with = listed(&place, client, "").await;
    mentions(&with, &["rooms", "todo"]);
    mentions(&with, shows);
    run(&place, &format!("uninstall {client}{more}"));
    let without = listed(&place, client, "").await;
    assert!(!without.contains("todo"), "{without}");
}

#[tokio::test]
async fn claude_code_lists_and_connects() {
    lists("claude-code", &["stdio todo", "Connected"]).await;
}

#[tokio::test]
async fn claude_code_asks_before_it_uses_a_project() {
    lists_with(
        "claude-code",
        " --scope project",
        &["stdio todo", "Pending approval"],
    )
    .await;
}

#[tokio::test]
async fn codex_lists() {
    lists("codex", &["stdio todo", "enabled"]).await;
}

#[tokio::test]
async fn gemini_cli_lists_and_connects() {
    lists("gemini-cli", &["stdio todo", "Connected"]).await;
}

#[tokio::test]
async fn opencode_lists_and_connects() {
    lists("opencode", &["connected"]).await;
}

/// An agent reads the key from the variable that the entry names.
async fn reaches_a_desk(client: &str, connected: &str) {
    let desk = Desk::start().await;
    let key = desk
        .place
        .create_key(&["agent", "--counters", "innervoice"]);
    let place = Place::new();
    let url = desk.url("");
    run(
        &place,
        &format!("install {client} innervoice --url {url} --key-env DESK_KEY"),
    );
    for (key, is_right) in [(&*key, true), ("mdg_wrong", false)] {
        let said = listed(&place, client, key).await;
        assert_eq!(said.contains(connected), is_right, "{said}");
    }
}

#[tokio::test]
async fn claude_code_reaches_a_desk_with_a_key() {
    reaches_a_desk("claude-code", "✔ Connected").await;
}

#[tokio::test]
async fn gemini_cli_reaches_a_desk_with_a_key() {
    reaches_a_desk("gemini-cli", "Connected").await;
}

#[tokio::test]
async fn opencode_reaches_a_desk_with_a_key() {
    reaches_a_desk("opencode", "✓ innervoice").await;
}
