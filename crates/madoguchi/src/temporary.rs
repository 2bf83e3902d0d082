//! Temporary files that become a backup, or a part of one. They hold secrets, so those
//! that a killed process left are removed by the next.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use tempfile::NamedTempFile;

const PREFIX: &str = ".madoguchi-backup-";

/// A new file that only its owner can read. It is locked for as long as it is open, and
/// removed unless it is kept.
pub fn file(directory: &Path) -> io::Result<NamedTempFile> {
    let file = NamedTempFile::with_prefix_in(PREFIX, directory)?;
    // Some network drives have no locks. There nothing is ever swept.
    let _ = file.as_file().lock();
    Ok(file)
}

/// Removes the files of processes that have ended.
pub fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(PREFIX)
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_dead_processes_are_swept() {
        let directory = tempfile::tempdir().unwrap();
        let kept = file(directory.path()).unwrap();
        let left = directory.path().join(format!("{PREFIX}left"));
        fs::write(&left, "secret").unwrap();
        fs::write(directory.path().join("mine"), "").unwrap();
        sweep(directory.path());
        assert!(kept.path().exists() && !left.exists());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
