//! Asks the system whether a process has a file open for writing: a read lease
//! is granted only if none has. A process that opens the file for writing
//! during the lease waits until the lease ends.

use std::fs::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// No writer, for as long as this file stays open.
    None,
    Some,
    /// The system or the file system cannot tell.
    Unknown,
}

/// Missing in `libc`; the same on every architecture.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// Checks a file that is open for reading only.
#[cfg(target_os = "linux")]
pub fn of(file: &File) -> Writers {
    // When another process opens the file, the system sends us a signal.
    // The default signal would end the process; SIGURG is ignored by
    // default.
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
    // commands take a number and no pointer.
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
    fn a_writer_is_detected_and_has_to_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let writer = File::create(&path).unwrap();
        let reader = File::open(&path).unwrap();
        assert_eq!(of(&reader), Writers::Some);
        drop(writer);
        assert_eq!(of(&reader), Writers::None);
        // Another reader does not matter.
        assert_eq!(of(&File::open(&path).unwrap()), Writers::None);
        let waiting = thread::spawn({
            let path = path.clone();
            move || {
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(b"x").unwrap();
            }
        });
        // The writer continues once the lease ends, and the signal does
        // not end us.
        drop(reader);
        waiting.join().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }
}
