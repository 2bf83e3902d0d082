//! The trail's directory: the paths of its files, and the chain of checkpoints.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use kit::{Result, durable};

use super::disk::{broken, last_bytes, last_line, make_directory, unusable};
use crate::{
    audit::{
        chain::Chain,
        record::{NOTHING, Record, parse},
        store::CHECKPOINTS,
    },
    private_files,
};

pub const ENDING: &str = ".jsonl";
pub const ENDING_OF_HEADS: &str = ".json";

#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn chain(&self, segment: &str) -> PathBuf {
        self.0.join(format!("{segment}{ENDING}"))
    }

    pub fn arguments(&self, segment: &str) -> PathBuf {
        self.texts().join(format!("{segment}{ENDING}"))
    }

    /// The directory of the heads that writers keep apart from their records.
    pub fn kept_heads(&self) -> PathBuf {
        self.0.join("heads")
    }

    pub fn kept_head(&self, segment: &str) -> PathBuf {
        self.kept_heads()
            .join(format!("{segment}{ENDING_OF_HEADS}"))
    }

    /// The directory of the arguments.
    pub fn texts(&self) -> PathBuf {
        self.0.join("text")
    }

    /// Held while files of sealed segments are replaced or erased from.
    pub fn lock_contents(&self) -> Result<File> {
        let path = self.0.join(".contents.lock");
        let file = private_files::options()
            .write(true)
            .create(true)
            .open(&path);
        let file = file.map_err(|error| unusable(&path, error))?;
        file.lock().map_err(|error| unusable(&path, error))?;
        Ok(file)
    }

    /// Opens the checkpoints under a lock for which other processes wait.
    pub fn locked_checkpoints(&self) -> Result<File> {
        make_directory(&self.0)?;
        let path = self.chain(CHECKPOINTS);
        let file = private_files::options()
            .read(true)
            .append(true)
            .create(true)
            .open(&path);
        let file = file.map_err(|error| unusable(&path, error))?;
        file.lock().map_err(|error| unusable(&path, error))?;
        Ok(file)
    }

    pub fn add_checkpoints(&self, records: Vec<(Record<'static>, i64)>) -> Result<()> {
        let path = self.chain(CHECKPOINTS);
        let failed = |error| unusable(&path, error);
        let mut file = self.locked_checkpoints()?;
        let (bytes, whole) = last_bytes(&mut file).map_err(failed)?;
        let mut chain = match last_line(&bytes) {
            None => Chain::after(NOTHING),
            Some(line) => {
                let last = parse(line).map_err(|what| broken(CHECKPOINTS, what))?;
                Chain {
                    next: last.seq + 1,
                    prev: last.hash,
                }
            }
        };
        // Nothing depends on a line that a crash cut off: its writer died before it
        // went on. Whoever recovers the segment writes it again.
        if file.metadata().map_err(failed)?.len() > whole {
            file.set_len(whole).map_err(failed)?;
        }
        let mut text = String::new();
        for (record, at) in records {
            text.push_str(&chain.add(record, at)?.record);
            text.push('\n');
        }
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        match whole {
            0 => durable::sync_name(&path).map_err(failed),
            _ => Ok(()),
        }
    }
}
