//! Files and directories that only their owner can read.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, BufWriter, ErrorKind, Write},
    path::Path,
};

use kit::durable;

/// Options that create a file for its owner alone.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a directory and its missing parents. An existing one does not change.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    durable::create_directory(directory, 0o700)
}

/// Writes a new file and renames it to `path`. Nobody sees half of it, and it survives
/// a power failure. An existing file or link is replaced, not written to.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut hidden_name = OsString::from(".");
    hidden_name.push(name);
    hidden_name.push(kit::ids::random(".new-", 8));
    let hidden_path = path.with_file_name(hidden_name);
    let file = options().write(true).create_new(true).open(&hidden_path)?;
    let put = || {
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        writer.into_inner()?.sync_all()?;
        fs::rename(&hidden_path, path)?;
        durable::sync_name(path)
    };
    let put = put();
    if put.is_err() {
        let _ = fs::remove_file(&hidden_path);
    }
    put
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_and_an_open_file_are_replaced_and_not_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("other"), "theirs").unwrap();
        symlink(path("other"), path("link")).unwrap();
        fs::write(path("open"), "old").unwrap();
        for name in ["link", "open", "new"] {
            replace(&path(name), |file| file.write_all(b"secret")).unwrap();
            let metadata = fs::symlink_metadata(path(name)).unwrap();
            assert!(metadata.is_file(), "{name}");
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
            assert_eq!(fs::read(path(name)).unwrap(), b"secret");
        }
        assert_eq!(fs::read(path("other")).unwrap(), b"theirs");
        let failed = replace(&path("new"), |_| Err(ErrorKind::StorageFull.into()));
        assert!(failed.is_err());
        assert_eq!(fs::read(path("new")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4);
    }
}
