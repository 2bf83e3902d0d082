//! What a backup says about itself.

use std::collections::HashSet;

use kit::{Error, Result};
use serde::{Deserialize, Serialize};

use super::entry;

/// The first entry.
pub const MANIFEST: &str = "manifest.json";
/// The last entry.
pub const SEAL: &str = "manifest.sha256";

const FORMAT: &str = "madoguchi-backup";
const VERSION: u32 = 1;
/// The SHA-256 of a part that is not written yet.
pub const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// What may be in a backup: files of these names, and files below these directories.
const FILES: [&str; 2] = ["madoguchi.db", "desk.secret"];
const DIRECTORIES: [&str; 3] = ["audit", "rooms", "assets"];
const LONGEST_NAME: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: String,
    pub version: u32,
    /// The version of the program.
    pub program: String,
    /// Everything that was answered before this moment is in the backup.
    pub moment: String,
    /// What belongs to the installation and is not in the backup, for people.
    pub not_included: Vec<String>,
    pub parts: Vec<PartInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInfo {
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

impl Manifest {
    pub fn new(moment: String, not_included: Vec<String>, parts: Vec<PartInfo>) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            moment,
            not_included,
            parts,
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.name == name)
    }

    /// All parts together.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.size).sum()
    }

    /// The time in all headers.
    pub fn seconds(&self) -> u64 {
        let at = kit::time::instant(&self.moment).unwrap_or_default();
        u64::try_from(at / 1000).unwrap_or_default()
    }

    /// How long the whole file is; `None` if that is more than any file can be.
    pub fn file_length(&self, manifest_size: u64) -> Option<u64> {
        let seal = seal("").len() as u64;
        let parts = self
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.size));
        let ends = [(MANIFEST, manifest_size), (SEAL, seal)];
        let entries = ends.into_iter().chain(parts);
        entries
            .map(|(name, size)| {
                let around = entry::header(name, 0, 0).len() + entry::padding(size);
                size.checked_add(around as u64)
            })
            .try_fold(entry::END.len() as u64, |sum, entry| {
                sum.checked_add(entry?)
            })
    }

    pub fn to_text(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self).map_err(Error::internal)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads it back and refuses every name that could lead elsewhere.
    pub fn parse(text: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Kind {
            format: String,
            version: u32,
        }
        let unknown = |_| damaged("its manifest can't be understood");
        let kind: Kind = serde_json::from_slice(text).map_err(unknown)?;
        if kind.format != FORMAT {
            return Err(not_a_backup());
        }
        if kind.version > VERSION {
            return Err(Error::new(
                "BACKUP_TOO_NEW",
                "This backup was made by a newer version of Madoguchi.",
            )
            .next("Restore it with that version or a later one."));
        }
        let manifest: Self = serde_json::from_slice(text).map_err(unknown)?;
        let mut names = HashSet::new();
        for part in &manifest.parts {
            if !is_allowed(&part.name) {
                return Err(hostile(&part.name));
            }
            if !names.insert(part.name.as_str()) {
                return Err(damaged("a part is in it twice"));
            }
        }
        // A file can't also be a directory.
        let parents = manifest.parts.iter().flat_map(|part| parents(&part.name));
        let twice = parents.into_iter().find(|parent| names.contains(parent));
        if let Some(parent) = twice {
            return Err(hostile(parent));
        }
        Ok(manifest)
    }
}

/// The directories above a file.
fn parents(name: &str) -> impl Iterator<Item = &str> {
    let slashes = name.match_indices('/').map(|(at, _)| at);
    slashes.filter_map(|at| name.get(..at))
}

/// Whether a part may have this name.
pub fn is_allowed(name: &str) -> bool {
    if FILES.contains(&name) {
        return true;
    }
    let mut components = name.split('/');
    let directory = components.next().unwrap_or_default();
    let mut rest = components.peekable();
    let is_plain = |component: &str| {
        !component.is_empty()
            && component.len() <= 255
            && component != "."
            && component != ".."
            && !component.contains(['\\', ':'])
            && !component.chars().any(char::is_control)
    };
    name.len() <= LONGEST_NAME
        && DIRECTORIES.contains(&directory)
        && rest.peek().is_some()
        && rest.all(is_plain)
}

/// The content of the last entry.
pub fn seal(sha256: &str) -> String {
    format!("{sha256:0>64}  {MANIFEST}\n")
}

pub fn not_a_backup() -> Error {
    Error::new("NOT_A_BACKUP", "This file is not a backup of Madoguchi.")
        .next("Name a file that `madoguchi backup` wrote.")
}

pub fn damaged(what: &str) -> Error {
    Error::new(
        "BACKUP_DAMAGED",
        format!("The backup is damaged: {what}. Nothing was restored."),
    )
    .next("Copy the file again from where it is kept, or use another backup.")
}

fn hostile(name: &str) -> Error {
    Error::new(
        "BACKUP_REFUSED",
        format!("The backup has a part that no backup has: `{name}`. Nothing was restored."),
    )
    .next("Do not use this file: it was not written by `madoguchi backup`.")
}
