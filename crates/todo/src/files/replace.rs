//! Replaces a file's text while others may save the same file. If another
//! version is found in its place, both are merged, until nobody interferes.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use kit::Result;

use super::{
    read::{LoadedFile, read},
    stamp::Stamp,
    write::{PlaceOutcome, PreparedFile},
};
use crate::{errors, model::merge};

/// In each round somebody else must have saved at the same moment.
const MOST_ROUNDS: usize = 100;

/// A version of a file.
#[derive(Debug, Clone)]
pub struct FileVersion {
    pub stamp: Stamp,
    pub text: Arc<str>,
    /// Whether it contains our change.
    ours: bool,
}

impl FileVersion {
    /// The version before our change.
    pub fn read(loaded: &LoadedFile) -> Self {
        Self::of(loaded, false)
    }

    fn of(loaded: &LoadedFile, ours: bool) -> Self {
        Self {
            stamp: loaded.stamp,
            text: Arc::clone(&loaded.text),
            ours,
        }
    }

    pub fn before(stamp: Stamp, text: &Arc<str>) -> Self {
        Self {
            stamp,
            text: Arc::clone(text),
            ours: false,
        }
    }
}

/// The file was replaced, possibly merged with changes by others. Must be
/// settled.
pub struct Replacement {
    pub now: FileVersion,
    /// The old file, and its version when it was replaced.
    old: Option<(PreparedFile, FileVersion)>,
}

/// The version to write next.
struct NextVersion {
    prepared: PreparedFile,
    text: Arc<str>,
    ours: bool,
}

impl NextVersion {
    /// Not synced, so that there is less time for others to interfere.
    fn new(path: &Path, shown: &str, text: impl Into<Arc<str>>, ours: bool) -> Result<Self> {
        let text = text.into();
        let prepared = PreparedFile::new(path, &text).map_err(|error| failed(shown, error))?;
        Ok(Self {
            prepared,
            text,
            ours,
        })
    }
}

/// Replaces `there`, the version that was read, with `prepared`. `None` if the
/// changes of others conflict with ours, and theirs stays, or if they deleted
/// the file.
pub fn replace(
    path: &Path,
    shown: &str,
    there: FileVersion,
    prepared: PreparedFile,
    text: &Arc<str>,
) -> Result<Option<Replacement>> {
    let next = NextVersion {
        prepared,
        text: Arc::clone(text),
        ours: true,
    };
    match put(path, shown, there, next)? {
        Some(done) if !done.now.ours => done.settle(path, shown),
        done => Ok(done),
    }
}

/// Undoes our change, which is `there`. Later changes by others stay.
pub fn restore(path: &Path, shown: &str, there: FileVersion, text: &Arc<str>) -> Result<()> {
    let next = NextVersion::new(path, shown, Arc::clone(text), false)?;
    if let Some(done) = put(path, shown, there, next)? {
        done.settle(path, shown)?;
    }
    Ok(())
}

fn failed(shown: &str, error: io::Error) -> kit::Error {
    errors::io(shown, true, error)
}

/// `None` if the file was deleted.
fn put(
    path: &Path,
    shown: &str,
    mut there: FileVersion,
    mut next: NextVersion,
) -> Result<Option<Replacement>> {
    let failed = |error| failed(shown, error);
    for round in 0..MOST_ROUNDS {
        let NextVersion {
            prepared,
            text,
            ours,
        } = next;
        let stamp = prepared.stamp().map_err(failed)?;
        let mut put = FileVersion { stamp, text, ours };
        let theirs = match prepared.place(Some(&there.stamp)).map_err(failed)? {
            PlaceOutcome::Done { stamp, old } => {
                put.stamp = stamp;
                if round > 0 {
                    File::open(path)
                        .and_then(|file| file.sync_data())
                        .map_err(failed)?;
                }
                return Ok(Some(Replacement {
                    now: put,
                    old: old.map(|old| (old, there)),
                }));
            }
            PlaceOutcome::Raced { theirs: None } => return Ok(None),
            PlaceOutcome::Raced {
                theirs: Some(theirs),
            } => theirs,
        };
        let Ok(saved) = theirs.load(shown) else {
            // It is unreadable, so it is put back unchanged.
            next = NextVersion {
                prepared: theirs,
                text: Arc::clone(&there.text),
                ours: there.ours,
            };
            there = put;
            continue;
        };
        if let Some(added) = added(&there.text, &put.text, &saved.text) {
            put = append(path, shown, added, put.ours)?;
            let old = (theirs, FileVersion::of(&saved, there.ours));
            return Ok(Some(Replacement {
                now: put,
                old: Some(old),
            }));
        }
        let saved = saved.text;
        next = match merge::merge(&there.text, &put.text, &saved) {
            Ok(merged) => NextVersion::new(path, shown, merged, ours)?,
            // Their version is restored, and our change is repeated
            // on it.
            Err(_) if round == 0 && ours && !there.ours => NextVersion {
                prepared: theirs,
                text: saved,
                ours: false,
            },
            Err(_) => both(path, shown, &there, &put, &saved)?,
        };
        there = put;
    }
    Err(errors::conflict(shown))
}

/// The text that somebody appended, if it can be appended to the new version
/// too.
fn added<'a>(was: &str, now: &str, saved: &'a str) -> Option<&'a str> {
    let whole = |text: &str| text.is_empty() || text.ends_with('\n');
    let added = saved.strip_prefix(was)?;
    (whole(was) && whole(now)).then_some(added)
}

/// Appends to the current file, as they did. Retries if the file is replaced
/// meanwhile.
fn append(path: &Path, shown: &str, added: &str, ours: bool) -> Result<FileVersion> {
    let failed = |error| failed(shown, error);
    for _ in 0..MOST_ROUNDS {
        let mut file = File::options().append(true).open(path).map_err(failed)?;
        file.write_all(added.as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        let written = Stamp::of(&file.metadata().map_err(failed)?);
        drop(file);
        let there = Stamp::of(&fs::metadata(path).map_err(failed)?);
        let now = read(path, shown, None, false)?;
        if let Some(now) = now
            && (there.file == written.file || now.text.contains(added))
        {
            return Ok(FileVersion::of(&now, ours));
        }
    }
    Err(errors::conflict(shown))
}

/// They saved twice, before and after they saw our version. Keeps everything;
/// their last version contains `there`.
fn both(
    path: &Path,
    shown: &str,
    there: &FileVersion,
    put: &FileVersion,
    saved: &str,
) -> Result<NextVersion> {
    let both = merge::both(&there.text, &put.text, saved);
    NextVersion::new(path, shown, both, there.ours || put.ours)
}

impl Replacement {
    /// A process that had the old file open may have written into it after
    /// it was replaced. Waits for it to finish and merges what it wrote.
    /// `None` as for [`replace`].
    pub fn settle(mut self, path: &Path, shown: &str) -> Result<Option<Self>> {
        let mut first = true;
        while let Some((old, was)) = self.old.take() {
            if old.is_still(&was.stamp) {
                break;
            }
            let saved = old.load(shown)?;
            if let Some(added) = added(&was.text, &self.now.text, &saved.text) {
                self.now = append(path, shown, added, self.now.ours)?;
                self.old = Some((old, FileVersion::of(&saved, was.ours)));
                continue;
            }
            let saved = saved.text;
            let next = match merge::merge(&was.text, &self.now.text, &saved) {
                Ok(merged) => NextVersion::new(path, shown, merged, self.now.ours)?,
                Err(_) if self.now.ours && !was.ours => {
                    NextVersion::new(path, shown, saved, false)?
                }
                Err(_) => both(path, shown, &was, &self.now, &saved)?,
            };
            match put(path, shown, self.now, next)? {
                Some(done) => self = done,
                None => return Ok(None),
            }
            first = false;
        }
        if !first {
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.map_err(|error| failed(shown, error))?;
        }
        Ok(self.now.ours.then_some(self))
    }
}
