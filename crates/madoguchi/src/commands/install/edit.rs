//! What changes in the text of a client's file. Nothing is read or written here.

use std::path::Path;

use kit::Error;
use serde_json::Value;

use super::{
    clients::Client,
    format::{Entry, Format, Problem},
};

/// An entry that a counter should have.
#[derive(Debug, Clone)]
pub struct WantedEntry {
    pub counter: &'static str,
    pub name: String,
    pub entry: Entry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Added,
    /// An entry of ours was there with other values.
    Updated,
    /// An entry of somebody else was there.
    Replaced,
    Unchanged,
    Removed,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
        }
    }
}

#[derive(Debug)]
pub enum EditError {
    Problem(Problem),
    /// The entry of this name is not ours.
    Taken(String),
}

impl From<Problem> for EditError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// What the person does where a command refuses.
pub struct Advice {
    /// About an entry of somebody else.
    pub taken: &'static str,
    /// About a file that can't be edited.
    pub by_hand: &'static str,
}

impl EditError {
    pub fn about(self, path: &Path, advice: &Advice) -> Error {
        let path = path.display();
        match self {
            Self::Problem(Problem::Syntax {
                line,
                column,
                message,
            }) => Error::new(
                "BROKEN_FILE",
                format!("{path} line {line} column {column}: {message}."),
            )
            .next("Nothing was changed. Repair the file and run this again."),
            Self::Problem(Problem::Form(what)) => Error::new(
                "UNSUPPORTED_FORM",
                format!("{path} can't be edited: {what}"),
            )
            .next(format!("Nothing was changed. {}", advice.by_hand)),
            Self::Taken(name) => Error::new(
                "ENTRY_TAKEN",
                format!("{path} has an entry `{name}` that is not Madoguchi's."),
            )
            .next(advice.taken),
        }
    }
}

pub struct Added {
    pub text: String,
    /// One for each wanted entry.
    pub actions: Vec<Action>,
}

pub fn add(
    client: &Client,
    text: &str,
    wanted: &[WantedEntry],
    force: bool,
) -> Result<Added, EditError> {
    let (mark, body) = without_mark(text);
    let mut body = body.to_owned();
    let mut actions = Vec::new();
    for wanted in wanted {
        let value = client.format.parse(&body)?;
        let keys = client.servers_in(&value);
        let existing = servers(&value, keys).and_then(|servers| servers.get(&wanted.name));
        let ours = existing.filter(|existing| is_ours(existing, wanted.counter));
        let ours = ours.and_then(Value::as_object);
        let same_kind = ours.filter(|ours| is_remote(ours) == is_remote(&wanted.entry));
        let (action, entry) = match (existing, ours, same_kind) {
            (None, ..) => (Action::Added, wanted.entry.clone()),
            (_, _, Some(ours)) => {
                let merged = merged(ours, &wanted.entry);
                match merged == *ours {
                    true => (Action::Unchanged, merged),
                    false => (Action::Updated, merged),
                }
            }
            (_, Some(_), None) => (Action::Updated, wanted.entry.clone()),
            (_, None, _) if force => (Action::Replaced, wanted.entry.clone()),
            (_, None, _) => return Err(EditError::Taken(wanted.name.clone())),
        };
        if action != Action::Unchanged {
            let mut edited = body.clone();
            // An entry of another kind leaves nothing behind.
            if existing.is_some() && same_kind.is_none() {
                edited = client.format.remove(&edited, keys, &wanted.name)?;
            }
            edited = client.format.set(&edited, keys, &wanted.name, &entry)?;
            check(
                client.format,
                &value,
                &edited,
                keys,
                &wanted.name,
                Some(&entry),
            )?;
            body = edited;
        }
        actions.push(action);
    }
    Ok(Added {
        text: format!("{mark}{body}"),
        actions,
    })
}

pub enum Removal {
    /// There is nothing to remove.
    Nothing,
    /// The file did not exist before.
    File,
    Text(String),
}

pub struct Removed {
    pub removal: Removal,
    /// The counters and names of the removed entries.
    pub entries: Vec<WantedEntry>,
    /// Whether nothing of ours is left.
    pub is_all: bool,
    /// Whether the result is byte for byte what was there before.
    pub is_exact: bool,
}

/// `backup` is the text from before the first entry of ours was added; `None` if there
/// was no file. `all` are all counters.
pub fn remove(
    client: &Client,
    text: &str,
    backup: Option<&str>,
    selected: &[&'static str],
    all: &[&'static str],
) -> Result<Removed, EditError> {
    let (mark, body) = without_mark(text);
    let value = client.format.parse(body)?;
    let keys = client.servers_in(&value);
    let ours = ours(client, &value, all);
    let (entries, kept): (Vec<_>, Vec<_>) = ours
        .iter()
        .cloned()
        .partition(|entry| selected.contains(&entry.counter));
    let mut removed = Removed {
        removal: Removal::Nothing,
        is_all: kept.is_empty(),
        is_exact: true,
        entries,
    };
    if removed.entries.is_empty() {
        return Ok(removed);
    }
    // If the backup with our entries gives exactly this text, nobody else has changed it.
    let with = |entries: &[WantedEntry]| {
        let added = add(client, backup.unwrap_or_default(), entries, true);
        added.ok().map(|added| added.text)
    };
    if with(&ours).as_deref() == Some(text) {
        removed.removal = match (kept.is_empty(), backup) {
            (true, None) => Removal::File,
            (true, Some(backup)) => Removal::Text(backup.to_owned()),
            (false, _) => Removal::Text(with(&kept).unwrap_or_default()),
        };
        return Ok(removed);
    }
    removed.is_exact = false;
    let made_servers = match backup.map(|backup| client.format.parse(without_mark(backup).1)) {
        None => true,
        Some(before) => before.is_ok_and(|before| servers(&before, keys).is_none()),
    };
    let mut body = body.to_owned();
    for entry in &removed.entries {
        let value = client.format.parse(&body)?;
        let mut edited = client.format.remove(&body, keys, &entry.name)?;
        // `check` refuses a text that can't be read any more.
        let left = client.format.parse(&edited).unwrap_or_default();
        let is_empty = servers(&left, keys).is_some_and(Entry::is_empty);
        if let (true, true, Some((last, outer))) = (is_empty, made_servers, keys.split_last()) {
            edited = client.format.remove(&edited, outer, last)?;
        }
        check(client.format, &value, &edited, keys, &entry.name, None)?;
        body = edited;
    }
    removed.removal = Removal::Text(format!("{mark}{body}"));
    Ok(removed)
}

/// The text without any entry of ours.
pub fn without_ours(
    client: &Client,
    text: &str,
    backup: Option<&str>,
    all: &[&'static str],
) -> Result<String, EditError> {
    Ok(match remove(client, text, backup, all, all)?.removal {
        Removal::Nothing => text.to_owned(),
        Removal::File => String::new(),
        Removal::Text(text) => text,
    })
}

/// The entries of ours, in the order of the file.
pub fn ours(client: &Client, file: &Value, all: &[&'static str]) -> Vec<WantedEntry> {
    let servers = servers(file, client.servers_in(file));
    let entries = servers.into_iter().flatten().filter_map(|(name, entry)| {
        let is_its = |counter: &&&'static str| {
            client.entry_name(counter) == *name && is_ours(entry, counter)
        };
        Some(WantedEntry {
            counter: all.iter().find(is_its)?,
            name: name.clone(),
            entry: entry.as_object()?.clone(),
        })
    });
    entries.collect()
}

/// Whether the file has an entry for the counter that is not ours.
pub fn is_taken(client: &Client, file: &Value, counter: &str) -> bool {
    servers(file, client.servers_in(file))
        .and_then(|servers| servers.get(&client.entry_name(counter)))
        .is_some_and(|entry| !is_ours(entry, counter))
}

/// A byte order mark, and the rest.
pub fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

fn servers<'v>(file: &'v Value, keys: &[&str]) -> Option<&'v Entry> {
    let servers = keys.iter().try_fold(file, |value, key| value.get(key));
    servers.and_then(Value::as_object)
}

const URL_KEYS: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];

fn is_remote(entry: &Entry) -> bool {
    url(entry).is_some()
}

/// An entry is ours if it starts `… stdio COUNTER`, or connects to `…/mcp/COUNTER`. The
/// program may have any name: `--command` can name a script or another machine.
fn is_ours(entry: &Value, counter: &str) -> bool {
    let Some(entry) = entry.as_object() else {
        return false;
    };
    let words = command(entry);
    let mut arguments = words.windows(2).skip(1);
    let end = format!("/mcp/{counter}");
    arguments.any(|pair| pair == ["stdio", counter])
        || url(entry).is_some_and(|url| url.trim_end_matches('/').ends_with(&end))
}

/// The command of an entry with its arguments; empty if it has none.
pub fn command(entry: &Entry) -> Vec<&str> {
    let words = ["command", "cmd", "args"]
        .iter()
        .filter_map(|key| entry.get(*key))
        .flat_map(|value| match value {
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            value => Vec::from_iter(value.as_str()),
        });
    words.collect()
}

/// The address of an entry.
pub fn url(entry: &Entry) -> Option<&str> {
    let mut urls = URL_KEYS.iter().filter_map(|key| entry.get(*key)?.as_str());
    urls.next()
}

/// What `install` writes once and then leaves to the person.
const PREFERENCES: [&str; 3] = ["enabled", "description", "timeout"];

/// The new values; what else the person wrote stays.
fn merged(old: &Entry, new: &Entry) -> Entry {
    let mut all = old.clone();
    for (key, value) in new {
        let value = match (old.get(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merged(old, new).into(),
            (Some(old), _) if PREFERENCES.contains(&key.as_str()) => old.clone(),
            _ => value.clone(),
        };
        all.insert(key.clone(), value);
    }
    all
}

/// The edit must have changed the entry and nothing else.
fn check(
    format: Format,
    before: &Value,
    edited: &str,
    keys: &[&str],
    name: &str,
    entry: Option<&Entry>,
) -> Result<(), EditError> {
    let mut before = before.clone();
    let after = format.parse(edited).ok();
    let is_good = after.is_some_and(|mut after| {
        let written = take(&mut after, keys, name);
        take(&mut before, keys, name);
        written.as_ref().and_then(Value::as_object) == entry && before == after
    });
    match is_good {
        true => Ok(()),
        false => Err(Problem::Form("It is written in an unusual form.".into()).into()),
    }
}

/// Takes an entry out, and what is empty then.
fn take(value: &mut Value, keys: &[&str], name: &str) -> Option<Value> {
    let object = value.as_object_mut()?;
    let Some((key, inner)) = keys.split_first() else {
        return object.shift_remove(name);
    };
    let servers = object.get_mut(*key)?;
    let taken = take(servers, inner, name);
    if servers.is_null() || servers.as_object().is_some_and(Entry::is_empty) {
        object.shift_remove(*key);
    }
    taken
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
