//! `madoguchi uninstall`.

use std::process::ExitCode;

use kit::Result;

use super::{
    clients,
    edit::{self, Action, Advice, EditError, Removal, Removed},
    file::{self, Backup, FileChange},
    paths::Surroundings,
    report::Report,
    selection::{all_counters, named_counters, path},
};
use crate::{
    cli::{Scope, Uninstall},
    output::print,
};

const ADVICE: Advice = Advice {
    taken: "It was left as it is.",
    by_hand: "Remove the entry by hand.",
};

pub fn uninstall(arguments: &Uninstall) -> Result<ExitCode> {
    let client = clients::find(&arguments.client)?;
    let selected = match arguments.counters.is_empty() {
        true => all_counters(),
        false => named_counters(&arguments.counters)?,
    };
    let path = path(client, arguments.scope, &Surroundings::of_process()?)?;
    let refused = |error: EditError| error.about(&path, &ADVICE);
    let is_private = arguments.scope == Scope::User;
    let (entries, has_backup) = file::update(&path, is_private, ADVICE.by_hand, |texts| {
        let Some(text) = &texts.file else {
            return Ok((FileChange::Keep, Backup::Keep, (Vec::new(), false)));
        };
        let file = client.format.parse(edit::without_mark(text).1);
        let file = file.map_err(|problem| refused(problem.into()))?;
        let mut named = selected.iter().filter(|_| !arguments.counters.is_empty());
        if let Some(counter) = named.find(|counter| edit::is_taken(client, &file, counter)) {
            return Err(refused(EditError::Taken(client.entry_name(counter))));
        }
        let backup = texts.backup.as_deref();
        let removed = edit::remove(client, text, backup, &selected, &all_counters());
        let Removed {
            removal,
            entries,
            is_all,
            is_exact,
        } = removed.map_err(refused)?;
        let next = match removal {
            Removal::Nothing => FileChange::Keep,
            Removal::File => FileChange::Delete,
            Removal::Text(text) => FileChange::Write(text),
        };
        // A backup that is the file itself says nothing.
        let is_over = is_all && is_exact;
        let backup = if is_over {
            Backup::Remove
        } else {
            Backup::Keep
        };
        Ok((next, backup, (entries, texts.backup.is_some() && !is_over)))
    })?;
    let is_nothing = entries.is_empty();
    let report = Report {
        client,
        scope: arguments.scope,
        backup: has_backup.then(|| file::backup_path(&path)),
        entries: entries
            .into_iter()
            .map(|it| (it, Action::Removed))
            .collect(),
        warnings: Vec::new(),
        next: Vec::new(),
        file: path,
    };
    if arguments.json {
        return print(&report.json());
    }
    match is_nothing {
        true => print(&format!(
            "{} has no entry of Madoguchi in {}.",
            client.title,
            report.file.display()
        )),
        false => report.text().print(),
    }
}
