//! Where the programs are. The benchmark runs in its own folder (`./run` sees
//! to that).

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub struct Places {
    pub madoguchi: PathBuf,
    /// This package's own programs.
    pub here: PathBuf,
    pub python: PathBuf,
    pub fastmcp: PathBuf,
    pub typescript: PathBuf,
    /// What the servers write to stderr.
    pub logs: PathBuf,
    /// On the disk that is measured; a system's own temporary directory may be memory.
    pub scratch: PathBuf,
}

impl Places {
    pub fn new(madoguchi: &Path) -> Result<Self> {
        let exe = std::env::current_exe()?;
        let places = Self {
            // Some are started in other folders.
            madoguchi: std::path::absolute(madoguchi)?,
            here: exe.parent().context("a program in a folder")?.to_owned(),
            python: ".env/python/bin/python".into(),
            fastmcp: "others/fastmcp/server.py".into(),
            typescript: ".env/typescript/server.mjs".into(),
            logs: ".env/logs".into(),
            scratch: ".env/scratch".into(),
        };
        std::fs::create_dir_all(&places.logs)?;
        std::fs::create_dir_all(&places.scratch)?;
        Ok(places)
    }

    /// A folder that is gone when it is dropped.
    pub fn fresh(&self) -> Result<tempfile::TempDir> {
        Ok(tempfile::tempdir_in(&self.scratch)?)
    }
}
