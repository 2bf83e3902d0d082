//! Why the embedded database can't be used, and the command that helps.

use std::path::Path;

use kit::Error;
use store::url::DatabaseUrl;

/// Adds what can be seen from outside: whose the files are, and who uses them.
pub fn explained(error: Error, url: &DatabaseUrl) -> Error {
    let DatabaseUrl::Sqlite(path) = url else {
        return error;
    };
    if error.code != store::STORAGE_ERROR {
        return error;
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    if let Some(owner) = other_owner(directory).or_else(|| other_owner(path)) {
        let shown = directory.display();
        return error.next(format!(
            "{shown} belongs to the user with the id {owner}. Use another directory with --data DIR, \
             or take this one over: sudo chown -R \"$(id -u)\" {shown}"
        ));
    }
    match is_busy(&error) {
        true => error.next(format!(
            "Another program has locked it. Stop that program; this command names it: fuser -v {}",
            path.display()
        )),
        false => error,
    }
}

fn is_busy(error: &Error) -> bool {
    let cause = error.cause.as_ref().map(ToString::to_string);
    cause.is_some_and(|cause| cause.contains("locked"))
}

/// The owner of a file that is not ours. The superuser may use every file.
#[cfg(unix)]
fn other_owner(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::metadata("/proc/self").ok()?.uid();
    let owner = std::fs::metadata(path).ok()?.uid();
    (own != 0 && owner != own).then_some(owner)
}

#[cfg(not(unix))]
fn other_owner(_: &Path) -> Option<u32> {
    None
}
