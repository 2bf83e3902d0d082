//! What `install` would do for each client, for the console.

use server::console::facts::ClientSetup;

use super::{
    clients::{CLIENTS, Client},
    edit,
    paths::Surroundings,
    selection::{all_counters, path},
    wanted_entries::Request,
};
use crate::cli::{CounterFlags, Global, Install, Scope};

/// All clients, with an entry for each counter that they can start.
pub fn setups(global: &Global) -> Vec<ClientSetup> {
    let Ok(surroundings) = Surroundings::of_process() else {
        return Vec::new();
    };
    let clients = CLIENTS.iter();
    clients
        .filter_map(|client| setup(global, client, &surroundings))
        .collect()
}

fn setup(
    global: &Global,
    client: &'static Client,
    surroundings: &Surroundings,
) -> Option<ClientSetup> {
    let arguments = Install {
        client: Some(client.name.to_owned()),
        counters: Vec::new(),
        scope: Scope::User,
        print: true,
        url: None,
        key_env: None,
        command: None,
        force: false,
        json: false,
        flags: CounterFlags::default(),
    };
    let mut counters = Vec::new();
    let mut entries = Vec::new();
    for counter in all_counters() {
        let request = Request {
            global,
            arguments: &arguments,
            client,
            counters: &[counter],
            surroundings,
            terminal: None,
        };
        // Some need a project, which nobody has named.
        if let Ok(launch) = request.launch() {
            counters.push(counter);
            entries.extend(launch.entries);
        }
    }
    let file = path(client, Scope::User, surroundings).ok()?;
    let snippet = edit::add(client, "", &entries, false).ok()?;
    Some(ClientSetup {
        title: client.title,
        is_present: client.is_present(surroundings),
        command: format!("madoguchi install {} {}", client.name, counters.join(" ")),
        file: file.display().to_string(),
        snippet: snippet.text,
        next: client.next,
        names: client.calls_itself,
    })
}
