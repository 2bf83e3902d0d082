//! `madoguchi install`.

use std::process::ExitCode;

use kit::{Error, Result};
use serde_json::json;

use super::{
    ask::Terminal,
    clients::{self, CLIENTS, Client},
    edit::{self, Action, Advice, WantedEntry},
    file::{self, Backup, FileChange},
    paths::Surroundings,
    report::Report,
    selection::{all_counters, named_counters, path},
    wanted_entries::{Launch, Request},
};
use crate::{
    cli::{CounterOptions, Global, Install, Scope},
    descriptions::described,
    open,
    output::{Cell, Look, pretty, print, table, tell},
};

const ADVICE: Advice = Advice {
    taken: "Rename that entry, or replace it with --force.",
    by_hand: "Add the entry by hand; --print shows it.",
};

pub fn install(global: &Global, arguments: &Install) -> Result<ExitCode> {
    let surroundings = Surroundings::of_process()?;
    let asking = Terminal::of_process().filter(|_| !arguments.json);
    let terminal = asking.as_ref();
    let clients = match (&arguments.client, terminal) {
        (Some(name), _) => vec![clients::find(name)?],
        (None, Some(terminal)) => choose_clients(terminal, arguments.scope, &surroundings)?,
        (None, None) => return list(&surroundings, arguments.json),
    };
    let counters = match (arguments.counters.is_empty(), terminal) {
        (false, _) => named_counters(&arguments.counters)?,
        (true, Some(terminal)) => choose_counters(global, terminal)?,
        (true, None) => return Err(no_counter(&clients)),
    };
    for client in clients {
        let request = Request {
            global,
            arguments,
            client,
            counters: &counters,
            surroundings: &surroundings,
            terminal,
        };
        install_one(&request)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn install_one(request: &Request<'_>) -> Result<ExitCode> {
    let (client, arguments) = (request.client, request.arguments);
    let path = path(client, arguments.scope, request.surroundings)?;
    let Launch {
        entries,
        mut warnings,
    } = request.launch()?;
    // Before its file is made.
    if !client.is_present(request.surroundings) {
        warnings.push(format!("{} was not found here.", client.title));
    }
    let refused = |error: edit::EditError| error.about(&path, &ADVICE);
    if arguments.print {
        let snippet = edit::add(client, "", &entries, false).map_err(refused)?;
        return print_only(client, arguments, &path, &entries, &snippet.text);
    }
    let is_private = arguments.scope == Scope::User;
    let (actions, has_backup) = file::update(&path, is_private, ADVICE.by_hand, |texts| {
        let text = texts.file.as_deref().unwrap_or_default();
        let added = edit::add(client, text, &entries, arguments.force).map_err(refused)?;
        if added.actions.iter().all(|it| *it == Action::Unchanged) {
            let result = (added.actions, texts.backup.is_some());
            return Ok((FileChange::Keep, Backup::Keep, result));
        }
        let is_first = !has_ours(client, text);
        let backup = match texts.file.is_some() {
            true if is_first || added.actions.contains(&Action::Replaced) => {
                let before = texts.backup.as_deref();
                let before = edit::without_ours(client, text, before, &all_counters());
                Backup::Save(before.map_err(refused)?)
            }
            _ => Backup::Keep,
        };
        let has_backup = texts.backup.is_some() || backup != Backup::Keep;
        Ok((
            FileChange::Write(added.text),
            backup,
            (added.actions, has_backup),
        ))
    })?;
    for warning in &warnings {
        tell(&format!("warning: {warning}"));
    }
    let backup = has_backup.then(|| file::backup_path(&path));
    let report = Report {
        client,
        scope: arguments.scope,
        file: path,
        backup,
        next: next(request),
        entries: entries.into_iter().zip(actions).collect(),
        warnings,
    };
    match arguments.json {
        true => print(&report.json()),
        false => report.text().print(),
    }
}

fn has_ours(client: &Client, text: &str) -> bool {
    let value = client.format.parse(edit::without_mark(text).1);
    value.is_ok_and(|value| !edit::ours(client, &value, &all_counters()).is_empty())
}

fn print_only(
    client: &Client,
    arguments: &Install,
    path: &std::path::Path,
    entries: &[WantedEntry],
    snippet: &str,
) -> Result<ExitCode> {
    if !arguments.json {
        return print(&format!("Add this to {}:\n\n{snippet}", path.display()));
    }
    let entries = entries.iter();
    let entries =
        entries.map(|it| json!({ "counter": it.counter, "name": it.name, "entry": it.entry }));
    print(&pretty(&json!({
        "client": client.name,
        "scope": arguments.scope.name(),
        "file": path,
        "text": snippet,
        "entries": entries.collect::<Vec<_>>(),
    })))
}

fn next(request: &Request<'_>) -> Vec<String> {
    let client = request.client;
    let (in_project, scope) = match request.arguments.scope {
        Scope::User => (None, ""),
        Scope::Project => (client.next_in_project, " --scope project"),
    };
    let take_back = format!(
        "To take it back: madoguchi uninstall {} {}{scope}",
        client.name,
        request.counters.join(" ")
    );
    let steps = in_project.into_iter().chain([client.next]);
    steps.map(str::to_owned).chain([take_back]).collect()
}

fn no_counter(clients: &[&Client]) -> Error {
    let client = clients.first().map_or("CLIENT", |client| client.name);
    let counters = all_counters().join(", ");
    Error::new("NO_COUNTER", "Name the counters to add.").next(format!(
        "For example: madoguchi install {client} todo rooms. There are {counters}."
    ))
}

fn choose_clients(
    terminal: &Terminal,
    scope: Scope,
    surroundings: &Surroundings,
) -> Result<Vec<&'static Client>> {
    let found: Vec<&Client> = CLIENTS
        .iter()
        .filter(|client| client.place(scope).is_some() && client.is_present(surroundings))
        .collect();
    if found.is_empty() {
        let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
        return Err(
            Error::new("NO_CLIENT", "No MCP client was found here.").next(format!(
                "Name one: madoguchi install CLIENT. There are {}.",
                names.join(", ")
            )),
        );
    }
    let items: Vec<_> = found.iter().map(|it| (it.name, it.title)).collect();
    let chosen = terminal.choose("Which clients should use Madoguchi?", &items)?;
    Ok(chosen
        .into_iter()
        .filter_map(|index| found.get(index).copied())
        .collect())
}

fn choose_counters(global: &Global, terminal: &Terminal) -> Result<Vec<&'static str>> {
    let options = CounterOptions::default();
    let config = open::configuration(global, &options)?;
    let described = described(&config, &options, None)?;
    let items: Vec<_> = described
        .iter()
        .map(|it| (it.about.name, it.about.summary))
        .collect();
    let chosen = terminal.choose("Which counters?", &items)?;
    let names = chosen.into_iter().filter_map(|index| items.get(index));
    Ok(names.map(|(name, _)| *name).collect())
}

/// The clients that are here, with the command for each.
fn list(surroundings: &Surroundings, as_json: bool) -> Result<ExitCode> {
    let found = CLIENTS
        .iter()
        .map(|client| (client, client.is_present(surroundings)));
    if as_json {
        let clients = found.map(|(client, is_present)| {
            json!({
                "client": client.name,
                "title": client.title,
                "present": is_present,
                "file": client.user.path(surroundings),
                "has_project_scope": client.project.is_some(),
            })
        });
        return print(&pretty(&clients.collect::<Vec<_>>()));
    }
    let present = found.filter(|(_, is_present)| *is_present);
    let rows: Vec<_> = present
        .map(|(client, _)| {
            let command = format!("madoguchi install {} COUNTER…", client.name);
            [client.title.into(), Cell::new(Look::Action, command)]
        })
        .collect();
    let counters = all_counters().join(", ");
    if rows.is_empty() {
        let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
        return print(&format!(
            "No MCP client was found here. Name one: madoguchi install CLIENT COUNTER…\n\
             Clients: {}\nCounters: {counters}",
            names.join(", ")
        ));
    }
    let mut text = table(["client", "command"], rows.into_iter());
    text.plain(&format!("\n\nCounters: {counters}")).print()
}
