//! The coding agents themselves list what `install` wrote for them, and connect to it.

use super::command;
use crate::harness::{Output, Place, clients, mentions};

/// As npm names this machine.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    }
}

/// Runs a command line where the agent looks for its files.
fn run(place: &Place, line: &str) {
    let mut command = command(place);
    command.env_remove("XDG_CONFIG_HOME").args(line.split(' '));
    Output::of(&mut command, "").ok();
}

/// Installs, lets the agent list its servers, and uninstalls again.
async fn lists(client: &str, program: &str, arguments: &[&str], shows: &[&str]) {
    let place = Place::new();
    run(&place, &format!("install {client} rooms todo"));
    let listed = clients::agent(&place, program, arguments).await.ok();
    let both = format!("{}{}", listed.stdout, listed.stderr);
    mentions(&both, &["rooms", "todo"]);
    mentions(&both, shows);
    run(&place, &format!("uninstall {client}"));
    let after = clients::agent(&place, program, arguments).await.ok();
    let both = format!("{}{}", after.stdout, after.stderr);
    assert!(!both.contains("todo"), "{both}");
}

#[tokio::test]
async fn claude_code() {
    let program = format!("@anthropic-ai/claude-code-linux-{}/claude", architecture());
    lists(
        "claude-code",
        &program,
        &["mcp", "list"],
        &["stdio todo", "Connected"],
    )
    .await;
}

#[tokio::test]
async fn codex() {
    let machine = std::env::consts::ARCH;
    let program = format!(
        "@openai/codex-linux-{}/vendor/{machine}-unknown-linux-musl/bin/codex",
        architecture()
    );
    lists(
        "codex",
        &program,
        &["mcp", "list"],
        &["stdio todo", "enabled"],
    )
    .await;
}

#[tokio::test]
async fn gemini_cli() {
    let program = "@google/gemini-cli/bundle/gemini.js";
    lists("gemini-cli", program, &["mcp", "list"], &["stdio todo"]).await;
}

#[tokio::test]
async fn opencode() {
    let program = format!("opencode-linux-{}/bin/opencode", architecture());
    lists("opencode", &program, &["mcp", "list"], &["connected"]).await;
}
