//! The real clients that `scripts/test` installs.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Output, Place, tls::AUTHORITY};

/// Longer than any of them takes, also where others take most of the machine.
const SECONDS: &str = "400";

/// The browsers that `scripts/test` found.
const CHROMIUM: &str = "MADOGUCHI_TEST_CHROMIUM";
const FIREFOX: &str = "MADOGUCHI_TEST_FIREFOX";

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/clients");

/// Where `scripts/test` puts them.
pub fn environment() -> PathBuf {
    match std::env::var_os("MADOGUCHI_TEST_ENV") {
        Some(named) => named.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.test-env"),
    }
}

fn tool(path: &str) -> PathBuf {
    let path = environment().join(path);
    assert!(
        path.exists(),
        "{} is missing: run scripts/test, which installs it",
        path.display()
    );
    path
}

/// A command that is ended when it takes too long, in a home of its own.
fn command(place: &Place, program: &Path) -> Command {
    let mut command = Command::new("timeout");
    place.enter(&mut command);
    command
        .args(["--kill-after=5", SECONDS])
        .arg(program)
        .env("MADOGUCHI_BIN", env!("CARGO_BIN_EXE_madoguchi"))
        .env("MADOGUCHI_DATA", place.data())
        .envs(named_browser(CHROMIUM))
        .envs(named_browser(FIREFOX));
    // A place with an authority of its own trusts it.
    let authority = place.path().join(AUTHORITY);
    if authority.exists() {
        command
            .env("SSL_CERT_FILE", &authority)
            .env("NODE_EXTRA_CA_CERTS", &authority);
    }
    command
}

fn named_browser(variable: &'static str) -> Option<(&'static str, OsString)> {
    Some((variable, std::env::var_os(variable)?))
}

async fn run(mut command: Command, input: String) -> Output {
    tokio::task::spawn_blocking(move || Output::of(&mut command, &input))
        .await
        .unwrap()
}

/// A script of `clients/` with the current Python client.
pub async fn python(place: &Place, script: &str, arguments: &[&str]) -> Output {
    in_venv("python", place, script, arguments, String::new()).await
}

/// The same with some variables set.
pub async fn python_with(
    place: &Place,
    script: &str,
    arguments: &[&str],
    environment: &[(String, String)],
) -> Output {
    let mut command = python_beside(place, script, arguments);
    command.envs(environment.iter().cloned());
    run(command, String::new()).await
}

/// A module that runs beside the test, for whoever holds the child.
pub fn python_module_beside(place: &Place, module: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(tool("python/bin/python"));
    place.enter(&mut command);
    command.args(["-B", "-m", module]).args(arguments);
    command
}

/// A script that runs beside the test, for whoever holds the child.
pub fn python_beside(place: &Place, script: &str, arguments: &[&str]) -> Command {
    let mut command = command(place, &tool("python/bin/python"));
    command
        .arg("-B")
        .arg(Path::new(SOURCES).join(script))
        .args(arguments);
    command
}

/// The same, with something to read on stdin.
pub async fn python_reading(place: &Place, script: &str, input: String) -> Output {
    in_venv("python", place, script, &[], input).await
}

/// A script of `clients/` with the last Python client that spoke WebSocket.
pub async fn python_websocket(place: &Place, script: &str, arguments: &[&str]) -> Output {
    in_venv("python-websocket", place, script, arguments, String::new()).await
}

async fn in_venv(
    venv: &str,
    place: &Place,
    script: &str,
    arguments: &[&str],
    input: String,
) -> Output {
    let mut command = command(place, &tool(&format!("{venv}/bin/python")));
    command
        .arg("-B")
        .arg(Path::new(SOURCES).join(script))
        .args(arguments);
    run(command, input).await
}

/// A module of `clients/`. It comes on stdin, so that what it imports is looked
/// for where the packages are.
pub async fn node(place: &Place, script: &str, arguments: &[&str]) -> Output {
    modules(node_command(place), &[script], arguments).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    Chromium,
    Firefox,
}

impl Browser {
    /// `scripts/test` names no Firefox where the system has none to install.
    pub fn is_here(self) -> bool {
        self == Self::Chromium || std::env::var_os(FIREFOX).is_none_or(|name| name != "none")
    }
}

/// A module that drives a browser, after `browser.mjs`.
pub async fn in_browser(
    browser: Browser,
    place: &Place,
    script: &str,
    arguments: &[&str],
) -> Output {
    let mut command = node_command(place);
    let name = match browser {
        Browser::Chromium => "chromium",
        Browser::Firefox => "firefox",
    };
    command.env("TEST_BROWSER", name);
    modules(command, &["browser.mjs", script], arguments).await
}

/// Several that are one.
async fn modules(mut command: Command, scripts: &[&str], arguments: &[&str]) -> Output {
    command
        .args(["--input-type=module", "-"])
        .args(arguments)
        .current_dir(tool("node"));
    let read = |script: &&str| std::fs::read_to_string(Path::new(SOURCES).join(script)).unwrap();
    let source: Vec<String> = scripts.iter().map(read).collect();
    run(command, source.join("\n")).await
}

/// The official conformance suite.
pub async fn conformance(place: &Place, arguments: &[&str]) -> Output {
    let suite = "node/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let mut command = node_command(place);
    command.arg(tool(suite)).args(arguments);
    run(command, String::new()).await
}

/// The official Inspector.
pub async fn inspector(place: &Place, arguments: &[&str]) -> Output {
    let inspector =
        "node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let mut command = node_command(place);
    command.arg(tool(inspector)).arg("--cli").args(arguments);
    run(command, String::new()).await
}

/// A coding agent that `scripts/test` installs, with a variable more and no network.
pub async fn agent(
    place: &Place,
    program: &str,
    arguments: &[&str],
    variable: (&str, &str),
) -> Output {
    let program = tool(&format!("agents/node_modules/{program}"));
    let mut command = match program.extension().is_some_and(|it| it == "js") {
        true => {
            let mut node = node_command(place);
            node.arg(&program);
            node
        }
        false => command(place, &program),
    };
    for (variable, value) in [
        variable,
        ("NO_PROXY", "127.0.0.1"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "true"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "true"),
    ] {
        command.env(variable, value);
    }
    // Nobody listens there.
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(variable, "http://127.0.0.1:9");
    }
    command.args(arguments);
    run(command, String::new()).await
}

fn node_command(place: &Place) -> Command {
    command(place, &tool("node/node_modules/.bin/node"))
}
