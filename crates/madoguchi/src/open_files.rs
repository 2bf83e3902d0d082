//! How many files this process may have open.

/// Raises the limit as far as the system lets every program: a backup has the logs of all
/// rooms open at once, and their locks.
#[cfg(unix)]
pub fn allow_many() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    #[expect(unsafe_code, reason = "the standard library does not offer it")]
    // SAFETY: it fills in a value that lives longer than the call.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    if is_known {
        limit.rlim_cur = limit.rlim_max;
        #[expect(unsafe_code, reason = "the standard library does not offer it")]
        // SAFETY: it reads the same value. If it is refused, the old limit stays.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

#[cfg(not(unix))]
pub fn allow_many() {}
