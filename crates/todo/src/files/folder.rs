//! Where the files of `.todo/` are.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::Result;

use super::{
    read::{LoadedFile, MOST_BYTES, is_missing, read},
    stamp::Stamp,
};
use crate::errors;

/// The project's `.todo/`. It need not exist yet.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Without symbolic links.
    pub root: PathBuf,
    pub todo: PathBuf,
    /// Whether to wait for a file that may be half written.
    pub patient: bool,
}

impl Folder {
    pub fn open(root: &Path) -> Result<Self> {
        let root = root
            .canonicalize()
            .map_err(|error| errors::io("The project directory", false, error))?;
        let folder = Self {
            todo: root.join(".todo"),
            root,
            patient: true,
        };
        let todo = folder.inside(&folder.todo, ".todo")?;
        if fs::metadata(&todo).is_ok_and(|found| !found.is_dir()) {
            return Err(errors::unreadable(".todo", "it is not a directory"));
        }
        Ok(Self { todo, ..folder })
    }

    /// The name to show to people: `.todo/task.md`.
    pub fn shown(name: &str) -> String {
        format!(".todo/{name}")
    }

    /// The path of a file in `.todo/`. Symbolic links may not lead out of
    /// the project.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let shown = Self::shown(name);
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !name.split('/').all(plain) {
            return Err(errors::outside(&shown));
        }
        match name.rsplit_once('/') {
            Some((parent, file)) => {
                let parent = self.inside(&self.todo.join(parent), &shown)?;
                self.inside(&parent.join(file), &shown)
            }
            None => self.inside(&self.todo.join(name), &shown),
        }
    }

    fn inside(&self, path: &Path, shown: &str) -> Result<PathBuf> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => match path.canonicalize() {
                Ok(target) if target.starts_with(&self.root) => Ok(target),
                Ok(_) => Err(errors::outside(shown)),
                Err(error) => Err(errors::io(shown, false, error)),
            },
            Ok(_) => Ok(path.to_owned()),
            Err(error) if is_missing(&error) => Ok(path.to_owned()),
            Err(error) => Err(errors::io(shown, false, error)),
        }
    }

    /// `None` if there is no such file.
    pub fn read(&self, name: &str) -> Result<Option<LoadedFile>> {
        self.read_again(name, None)
    }

    /// Like [`Self::read`], for a file that had this text when it was last
    /// read.
    pub fn read_again(&self, name: &str, was: Option<&Arc<str>>) -> Result<Option<LoadedFile>> {
        read(&self.path(name)?, &Self::shown(name), was, self.patient)
    }

    pub fn stamp(&self, name: &str) -> Result<Option<Stamp>> {
        match fs::metadata(self.path(name)?) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(errors::io(&Self::shown(name), false, error)),
        }
    }

    /// Names of the Markdown files in one folder, without `.md`, sorted.
    pub fn stems(&self, folder: &str) -> Result<Vec<String>> {
        let entries = self.entries(folder)?.into_iter();
        let mut stems: Vec<String> = entries.map(|(stem, _)| stem).collect();
        stems.sort_unstable();
        Ok(stems)
    }

    /// The Markdown files in one folder, by their names without `.md`.
    fn entries(&self, folder: &str) -> Result<Vec<(String, fs::DirEntry)>> {
        let failed = |error| errors::io(&Self::shown(folder), false, error);
        let entries = match fs::read_dir(self.path(folder)?) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().into_string().unwrap_or_default();
            if let Some(stem) = name.strip_suffix(".md")
                && !stem.starts_with('.')
            {
                files.push((stem.to_owned(), entry));
            }
        }
        Ok(files)
    }

    /// The Markdown files in one folder with their stamps, sorted.
    pub fn stamped(&self, folder: &str) -> Result<Vec<(String, Stamp)>> {
        let mut files = Vec::new();
        for (stem, entry) in self.entries(folder)? {
            let metadata = match entry.metadata() {
                Ok(metadata) if metadata.is_symlink() => {
                    fs::metadata(self.path(&format!("{folder}/{stem}.md"))?)
                }
                other => other,
            };
            match metadata {
                Ok(metadata) => files.push((stem, Stamp::of(&metadata))),
                // The file was deleted since the directory was
                // read.
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(errors::io(&Self::shown(folder), false, error)),
            }
        }
        files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(files)
    }

    /// Reads a file into `bytes` if it still has this stamp. `false` if it
    /// changed.
    pub fn read_known(&self, name: &str, stamp: &Stamp, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        if stamp.size > MOST_BYTES {
            return false;
        }
        let Ok(mut file) = File::open(self.todo.join(name)) else {
            return false;
        };
        let same = |file: &File| {
            let metadata = file.metadata();
            metadata.is_ok_and(|metadata| Stamp::of(&metadata) == *stamp)
        };
        let size = stamp.size as usize;
        bytes.resize(size, 0);
        same(&file) && file.read_exact(bytes).is_ok()
    }
}
