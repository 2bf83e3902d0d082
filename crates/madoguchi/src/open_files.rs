//! How many files this process may have open.

/// Raises the limit as far as the system lets every program: a backup has the logs of all
/// rooms open at once, and their locks.
#[cfg(unix)]
pub fn allow_many() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If it is refused, the old limit stays.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(unix))]
pub fn allow_many() {}
