//! Asks the system whether somebody has a file open for writing: it gives a
//! lease for reading only when nobody has. Whoever opens the file to write while
//! the lease lasts waits until it is over.

use std::fs::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// Nobody, for as long as this file is kept open.
    None,
    Some,
    /// The system, or this file system, does not tell.
    Unknown,
}

/// The same number on every processor, and missing in `libc`.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// About a file that is open for reading only.
#[cfg(target_os = "linux")]
pub fn of(file: &File) -> Writers {
    // Whoever comes meanwhile makes the system send us a signal. The usual one
    // would end the process; this one does nothing unless somebody wants it.
    if fcntl(file, F_SETSIG, libc::SIGURG).is_err() {
        return Writers::Unknown;
    }
    match fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => Writers::None,
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Writers::Some,
        Err(_) => Writers::Unknown,
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate offers these two questions")]
fn fcntl(file: &File, question: libc::c_int, with: libc::c_int) -> std::io::Result<()> {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open while `file` is borrowed, and both
    // questions take a number and no memory.
    match unsafe { libc::fcntl(file.as_raw_fd(), question, with) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn of(_: &File) -> Writers {
    Writers::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{io::Write as _, thread};

    use super::*;

    #[test]
    fn somebody_who_writes_is_seen_and_made_to_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let writer = File::create(&path).unwrap();
        let reader = File::open(&path).unwrap();
        assert_eq!(of(&reader), Writers::Some);
        drop(writer);
        assert_eq!(of(&reader), Writers::None);
        // Another reader is no trouble.
        assert_eq!(of(&File::open(&path).unwrap()), Writers::None);
        let waiting = thread::spawn({
            let path = path.clone();
            move || {
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(b"x").unwrap();
            }
        });
        // It comes through once the lease is given back, and we live on.
        drop(reader);
        waiting.join().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }
}
