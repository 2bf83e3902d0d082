//! The entry of a server, as each client writes it.

use serde_json::{Value, json};

use super::format::Entry;

/// How a client starts a server.
#[derive(Debug, Clone)]
pub struct Stdio {
    pub name: String,
    pub description: &'static str,
    pub command: String,
    pub arguments: Vec<String>,
    pub environment: Entry,
}

/// How a client reaches a running desk.
#[derive(Debug, Clone)]
pub struct Remote {
    pub name: String,
    pub description: &'static str,
    pub url: String,
    /// The variable that holds the key, and how the client reads it.
    pub key: Option<(String, Key)>,
}

/// How a client reads a key from the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// In the header `Authorization`, with `NAME` for the variable's name.
    Header(&'static str),
    /// In a field that holds the variable's name.
    Field(&'static str),
    Unsupported,
}

fn entry(value: Value) -> Entry {
    match value {
        Value::Object(entry) => entry,
        _ => Entry::new(),
    }
}

pub fn plain(stdio: &Stdio) -> Entry {
    let mut entry = entry(json!({ "command": stdio.command, "args": stdio.arguments }));
    if !stdio.environment.is_empty() {
        entry.insert("env".into(), stdio.environment.clone().into());
    }
    entry
}

pub fn with_type(stdio: &Stdio) -> Entry {
    let mut typed = entry(json!({ "type": "stdio" }));
    typed.append(&mut plain(stdio));
    typed
}

pub fn goose(stdio: &Stdio) -> Entry {
    entry(json!({
        "enabled": true,
        "type": "stdio",
        "name": stdio.name,
        "description": stdio.description,
        "cmd": stdio.command,
        "args": stdio.arguments,
        "envs": stdio.environment,
        "timeout": 300,
    }))
}

pub fn opencode(stdio: &Stdio) -> Entry {
    let command = std::iter::once(&stdio.command).chain(&stdio.arguments);
    let command: Vec<_> = command.collect();
    let mut entry = entry(json!({ "type": "local", "command": command }));
    if !stdio.environment.is_empty() {
        entry.insert("environment".into(), stdio.environment.clone().into());
    }
    entry
}

pub fn http(remote: &Remote) -> Entry {
    let mut typed = entry(json!({ "type": "http" }));
    typed.append(&mut url(remote));
    typed
}

pub fn url(remote: &Remote) -> Entry {
    remote_entry("url", remote)
}

pub fn http_url(remote: &Remote) -> Entry {
    remote_entry("httpUrl", remote)
}

pub fn server_url(remote: &Remote) -> Entry {
    remote_entry("serverUrl", remote)
}

pub fn opencode_remote(remote: &Remote) -> Entry {
    let mut typed = entry(json!({ "type": "remote" }));
    typed.append(&mut url(remote));
    typed
}

pub fn goose_remote(remote: &Remote) -> Entry {
    let mut whole = entry(json!({
        "enabled": true,
        "type": "streamable_http",
        "name": remote.name,
        "description": remote.description,
    }));
    whole.append(&mut remote_entry("uri", remote));
    if let Some((variable, _)) = &remote.key {
        whole.insert("env_keys".into(), json!([variable]));
    }
    whole.insert("timeout".into(), 300.into());
    whole
}

fn remote_entry(url: &str, remote: &Remote) -> Entry {
    let mut entry = Entry::new();
    entry.insert(url.into(), remote.url.clone().into());
    match &remote.key {
        Some((variable, Key::Header(form))) => {
            let header = form.replace("NAME", variable);
            entry.insert("headers".into(), json!({ "Authorization": header }));
        }
        Some((variable, Key::Field(field))) => {
            entry.insert((*field).into(), variable.clone().into());
        }
        Some((_, Key::Unsupported)) | None => {}
    }
    entry
}
