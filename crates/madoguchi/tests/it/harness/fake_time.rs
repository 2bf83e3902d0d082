//! Another time for a process.

use std::{fs, path::PathBuf};

/// Debian's libfaketime, which makes the clock of a process follow a file.
pub fn fake_time() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap();
    let libraries = folders.map(|it| it.unwrap().path().join("faketime/libfaketime.so.1"));
    let mut found = libraries.filter(|library| library.exists());
    found
        .next()
        .expect("scripts/test --setup installs libfaketime")
}
