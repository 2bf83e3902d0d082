//! Names that survive a power failure.
//!
//! A sync of a file makes its content durable and not its name: a file that was
//! created, renamed or removed is only safe after a sync of its directory.

use std::{fs, io, path::Path};

/// Makes the names in a directory durable.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    // A relative path of one part has no directory of its own.
    let directory = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    match fs::File::open(directory)?.sync_all() {
        // Some network file systems can't, and make names durable at once.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Makes the name of a file or directory durable.
pub fn sync_name(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_directory)
}

/// Creates a directory and its missing parents, all of them durably. An existing one
/// does not change. On Unix they get this mode.
pub fn create_directory(directory: &Path, mode: u32) -> io::Result<()> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        create_directory(parent, mode)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    #[cfg(not(unix))]
    let _ = mode;
    match builder.create(directory) {
        // Another process was quicker, and may not have synced it yet.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
        created => created?,
    }
    sync_name(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parents_are_created_and_a_file_in_the_way_is_an_error() {
        let folder = std::env::temp_dir().join(crate::ids::random("madoguchi-", 12));
        let deep = folder.join("a/b/c");
        create_directory(&deep, 0o700).unwrap();
        create_directory(&deep, 0o700).unwrap();
        assert!(deep.is_dir());
        fs::write(deep.join("file"), "").unwrap();
        let in_the_way = create_directory(&deep.join("file/d"), 0o700);
        assert!(in_the_way.is_err());
        sync_name(&deep.join("file")).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
