//! What `install` and `uninstall` print.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    clients::Client,
    edit::{self, Action, Wanted},
    format::Entry,
};
use crate::{
    cli::Scope,
    output::{pretty, table},
};

pub struct Report {
    pub client: &'static Client,
    pub scope: Scope,
    pub file: PathBuf,
    /// Where the text from before is, if there is one.
    pub backup: Option<PathBuf>,
    pub entries: Vec<(Wanted, Action)>,
    pub warnings: Vec<String>,
    /// What the person does now.
    pub next: Vec<String>,
}

impl Report {
    pub fn json(&self) -> String {
        let entries = self.entries.iter().map(|(wanted, action)| {
            json!({
                "counter": wanted.counter,
                "name": wanted.name,
                "action": action.name(),
                "entry": wanted.entry,
            })
        });
        pretty(&json!({
            "client": self.client.name,
            "scope": self.scope.name(),
            "file": self.file,
            "backup": self.backup,
            "entries": entries.collect::<Vec<Value>>(),
            "warnings": self.warnings,
            "next": self.next,
        }))
    }

    pub fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.client.title, self.file.display())];
        let rows = self.entries.iter().map(|(wanted, action)| {
            [
                format!("  {}", action.name()),
                wanted.name.clone(),
                shown(&wanted.entry),
            ]
        });
        // Without the head, which says nothing here.
        let rows = table(["", "", ""], rows);
        lines.extend(rows.lines().skip(1).map(str::to_owned));
        if let Some(backup) = &self.backup {
            lines.push(format!("The file from before: {}", backup.display()));
        }
        lines.extend(self.next.iter().cloned());
        lines.join("\n")
    }
}

/// The command or the address of an entry.
fn shown(entry: &Entry) -> String {
    match edit::url(entry) {
        Some(url) => url.to_owned(),
        None => edit::command(entry).join(" "),
    }
}
