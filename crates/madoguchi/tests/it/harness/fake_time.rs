//! Another time for a process.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Place;

/// A clock that runs beside the real one, at a distance that can change while programs
/// go by it. Debian's libfaketime makes them follow its file.
pub struct FakeClock(PathBuf);

impl FakeClock {
    /// `distance` is such as `+5h` or `-30m`.
    pub fn new(place: &Place, name: &str, distance: &str) -> Self {
        Self(place.file(name, &format!("{distance}\n")))
    }

    pub fn set(&self, distance: &str) {
        // Written beside and renamed: nobody reads half of it.
        let fresh = self.0.with_extension("new");
        fs::write(&fresh, format!("{distance}\n")).unwrap();
        fs::rename(fresh, &self.0).unwrap();
    }

    /// What a program goes by it with.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [
            ("LD_PRELOAD", text(&library())),
            ("FAKETIME_TIMESTAMP_FILE", text(&self.0)),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }
}

fn library() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap();
    let libraries = folders.map(|it| it.unwrap().path().join("faketime/libfaketime.so.1"));
    let mut found = libraries.filter(|library| library.exists());
    found
        .next()
        .expect("scripts/test --setup installs libfaketime")
}
