//! What a command line names: counters, and the file of a client.

use std::path::{Path, PathBuf};

use kit::{Error, Result};

use super::{
    clients::{CLIENTS, Client},
    paths::Surroundings,
};
use crate::{cli::Scope, counters, descriptions::known};

pub fn all_counters() -> Vec<&'static str> {
    counters::all().iter().map(|counter| counter.name).collect()
}

/// The counters of these names, in the order of the list.
pub fn named_counters(names: &[String]) -> Result<Vec<&'static str>> {
    let mut all = all_counters();
    for name in names {
        known("counter", name, all.iter().copied())?;
    }
    all.retain(|counter| names.iter().any(|name| name == counter));
    Ok(all)
}

/// The client's file for a scope.
pub fn path(client: &Client, scope: Scope, surroundings: &Surroundings) -> Result<PathBuf> {
    let place = client
        .place(scope)
        .ok_or_else(|| no_project_scope(client))?;
    let path = place.path(surroundings);
    if scope == Scope::Project && is_same(&path, &client.user.path(surroundings)) {
        let message = format!("{} is the file for all your projects.", path.display());
        return Err(Error::new("NOT_A_PROJECT", message)
            .next("Change to the project's directory, or leave out --scope."));
    }
    Ok(path)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

fn no_project_scope(client: &Client) -> Error {
    let others = CLIENTS.iter().filter(|other| other.project.is_some());
    let others: Vec<_> = others.map(|other| other.name).collect();
    let message = format!(
        "{} has no configuration for a single project.",
        client.title
    );
    Error::new("NO_PROJECT_SCOPE", message).next(format!(
        "Leave out --scope. These have one: {}.",
        others.join(", ")
    ))
}
