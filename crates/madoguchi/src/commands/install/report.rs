//! What `install` and `uninstall` print.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    clients::Client,
    edit::{self, Action, WantedEntry},
    format::Entry,
};
use crate::{
    cli::Scope,
    output::{Look, Styled, aligned, pretty},
};

pub struct Report {
    pub client: &'static Client,
    pub scope: Scope,
    pub file: PathBuf,
    /// Where the text from before is, if there is one.
    pub backup: Option<PathBuf>,
    pub entries: Vec<(WantedEntry, Action)>,
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

    pub fn text(&self) -> Styled {
        let mut text = Styled::default();
        text.add(Look::Bold, self.client.title)
            .plain(&format!(": {}\n", self.file.display()));
        let rows = self.entries.iter().map(|(wanted, action)| {
            vec![
                format!("  {}", action.name()).into(),
                wanted.name.as_str().into(),
                shown(&wanted.entry).into(),
            ]
        });
        text.append(&aligned(&rows.collect::<Vec<_>>()));
        if let Some(backup) = &self.backup {
            text.plain(&format!("\nThe file from before: {}", backup.display()));
        }
        for line in &self.next {
            text.plain(&format!("\n{line}"));
        }
        text
    }
}

/// The command or the address of an entry.
fn shown(entry: &Entry) -> String {
    match edit::url(entry) {
        Some(url) => url.to_owned(),
        None => edit::command(entry).join(" "),
    }
}
