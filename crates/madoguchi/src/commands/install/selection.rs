//! What a command line names: counters, and the file of a client.

use std::path::PathBuf;

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

pub fn surroundings() -> Result<Surroundings> {
    Surroundings::of_process().ok_or_else(|| {
        Error::new("NO_HOME", "There is no home directory.").next("Set the variable HOME.")
    })
}

/// The client's file for a scope.
pub fn path(client: &Client, scope: Scope, surroundings: &Surroundings) -> Result<PathBuf> {
    match client.place(scope) {
        Some(place) => Ok(place.path(surroundings)),
        None => Err(no_project_scope(client)),
    }
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
