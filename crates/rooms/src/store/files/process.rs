//! Which processes use this directory. Each locks a file of its own while it runs. If
//! somebody else can take that lock, the process has ended.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    sync::{Mutex, PoisonError},
};

use kit::Result;

use super::{
    dir::{self, Dir},
    lock,
};
use crate::errors;

const PREFIX: &str = "process-";
const SUFFIX: &str = ".lock";

pub struct Process {
    id: String,
    sign: Mutex<Option<File>>,
}

impl Process {
    pub fn new() -> Self {
        Self {
            id: kit::ids::random(&format!("{}-", std::process::id()), 8),
            sign: Mutex::default(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Creates and locks this process's file, unless that is done. This holds the
    /// registry's lock, so that nobody removes the file before it is locked.
    pub fn announce(&self, dir: &Dir, timeout: std::time::Duration) -> Result<()> {
        let mut sign = self.sign.lock().unwrap_or_else(PoisonError::into_inner);
        if sign.is_some() {
            return Ok(());
        }
        let _registry = lock::registry(dir, timeout)?;
        let file = (|| {
            let file = lock::open(&dir.locks()?, &file_name(&self.id))?;
            file.lock()?;
            Ok(file)
        })()
        .map_err(errors::storage)?;
        *sign = Some(file);
        Ok(())
    }

    /// Removes the file.
    pub fn retire(&self, dir: &Dir) {
        let sign = self
            .sign
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if sign.is_some()
            && let Ok(locks) = dir.locks()
        {
            let _ = fs::remove_file(locks.join(file_name(&self.id)));
        }
    }
}

fn file_name(id: &str) -> String {
    format!("{PREFIX}{id}{SUFFIX}")
}

/// Checks whether a process lives, each one once.
pub fn lives<'a>(dir: &'a Dir, own: &'a str) -> impl FnMut(&str) -> bool + 'a {
    let mut known: HashMap<String, bool> = HashMap::new();
    move |id| {
        if id == own {
            return true;
        }
        if let Some(lives) = known.get(id) {
            return *lives;
        }
        let lives = is_alive(dir, id);
        known.insert(id.to_owned(), lives);
        lives
    }
}

fn is_alive(dir: &Dir, id: &str) -> bool {
    // The id comes from a file that others can write: it must not be a path.
    if id.contains(['/', '\\']) {
        return false;
    }
    let Ok(locks) = dir.locks() else { return false };
    let path = locks.join(file_name(id));
    match dir::open(&path, OpenOptions::new().read(true)) {
        // Shared, so that two checks at once don't take each other for the owner.
        Ok(file) => matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// The ids of all processes that left a file.
fn ids(dir: &Dir) -> Vec<String> {
    let entries = dir.locks().and_then(fs::read_dir);
    let entries = entries.into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| {
            let id = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            Some(id.to_owned())
        })
        .collect()
}

/// Whether any process uses this directory.
pub fn is_any_alive(dir: &Dir) -> bool {
    ids(dir).iter().any(|id| is_alive(dir, id))
}

/// Removes the files of processes that ended without removing theirs.
pub fn clear_dead(dir: &Dir, timeout: std::time::Duration) -> Result<()> {
    let locks = dir.locks().map_err(errors::storage)?;
    let mut dead = ids(dir);
    dead.retain(|id| !is_alive(dir, id));
    if dead.is_empty() {
        return Ok(());
    }
    let _registry = lock::registry(dir, timeout)?;
    for id in dead {
        if !is_alive(dir, &id) {
            let _ = fs::remove_file(locks.join(file_name(&id)));
        }
    }
    Ok(())
}
