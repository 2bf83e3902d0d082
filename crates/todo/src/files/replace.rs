//! One text put in the place of another, while others may save the same file at
//! that very moment. Whatever is found in the place is brought together with
//! what was put there, until nobody came between.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use kit::Result;

use super::{
    read::{Loaded, read},
    stamp::Stamp,
    write::{Placed, Prepared},
};
use crate::{errors, model::merge};

/// Each round somebody else has to save within a moment.
const MOST_ROUNDS: usize = 100;

/// What is in a place.
#[derive(Debug, Clone)]
pub struct Version {
    pub stamp: Stamp,
    pub text: Arc<str>,
    /// Whether our change is in it.
    ours: bool,
}

impl Version {
    /// As it was before our change.
    pub fn read(loaded: &Loaded) -> Self {
        Self::of(loaded, false)
    }

    fn of(loaded: &Loaded, ours: bool) -> Self {
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

/// Something is in its place, perhaps with what others wrote. It has to be
/// settled.
pub struct Done {
    pub now: Version,
    /// What was there before, and what it was when it was taken out.
    old: Option<(Prepared, Version)>,
}

/// What is to be put in a place.
struct Next {
    prepared: Prepared,
    text: Arc<str>,
    ours: bool,
}

impl Next {
    /// Not synced: the quicker it is there, the less can come between.
    fn new(path: &Path, shown: &str, text: impl Into<Arc<str>>, ours: bool) -> Result<Self> {
        let text = text.into();
        let prepared = Prepared::new(path, &text, false).map_err(|error| failed(shown, error))?;
        Ok(Self {
            prepared,
            text,
            ours,
        })
    }
}

/// `there` is what was read, `prepared` is synced. `None` when what others wrote
/// goes together with ours in no way, and theirs stands, or when they took the
/// file away.
pub fn replace(
    path: &Path,
    shown: &str,
    there: Version,
    prepared: Prepared,
    text: &Arc<str>,
) -> Result<Option<Done>> {
    let next = Next {
        prepared,
        text: Arc::clone(text),
        ours: true,
    };
    match put(path, shown, there, next)? {
        Some(done) if !done.now.ours => done.settle(path, shown),
        done => Ok(done),
    }
}

/// Takes our change back, which is `there`. What others did since stays.
pub fn restore(path: &Path, shown: &str, there: Version, text: &Arc<str>) -> Result<()> {
    let next = Next::new(path, shown, Arc::clone(text), false)?;
    if let Some(done) = put(path, shown, there, next)? {
        done.settle(path, shown)?;
    }
    Ok(())
}

fn failed(shown: &str, error: io::Error) -> kit::Error {
    errors::io(shown, true, error)
}

/// `None` when the file is gone.
fn put(path: &Path, shown: &str, mut there: Version, mut next: Next) -> Result<Option<Done>> {
    let failed = |error| failed(shown, error);
    for round in 0..MOST_ROUNDS {
        let Next {
            prepared,
            text,
            ours,
        } = next;
        let stamp = prepared.stamp().map_err(failed)?;
        let mut put = Version { stamp, text, ours };
        let theirs = match prepared.place(Some(&there.stamp)).map_err(failed)? {
            Placed::Done { stamp, old } => {
                put.stamp = stamp;
                if round > 0 {
                    File::open(path)
                        .and_then(|file| file.sync_data())
                        .map_err(failed)?;
                }
                return Ok(Some(Done {
                    now: put,
                    old: old.map(|old| (old, there)),
                }));
            }
            Placed::Raced { theirs: None } => return Ok(None),
            Placed::Raced {
                theirs: Some(theirs),
            } => theirs,
        };
        let Ok(saved) = theirs.load(shown) else {
            // Nobody can read it; it goes back as it is.
            next = Next {
                prepared: theirs,
                text: Arc::clone(&there.text),
                ours: there.ours,
            };
            there = put;
            continue;
        };
        if let Some(added) = added(&there.text, &put.text, &saved.text) {
            put = append(path, shown, added, put.ours)?;
            let old = (theirs, Version::of(&saved, there.ours));
            return Ok(Some(Done {
                now: put,
                old: Some(old),
            }));
        }
        let saved = saved.text;
        next = match merge::merge(&there.text, &put.text, &saved) {
            Ok(merged) => Next::new(path, shown, merged, ours)?,
            // Theirs comes back, and ours is made anew on it.
            Err(_) if round == 0 && ours && !there.ours => Next {
                prepared: theirs,
                text: saved,
                ours: false,
            },
            Err(_) => both(path, shown, &there, &put, &saved)?,
        };
        there = put;
    }
    Err(errors::conflict(shown, None))
}

/// What somebody wrote at the end of a text, when it can be written at the end
/// of the new one as well.
fn added<'a>(was: &str, now: &str, saved: &'a str) -> Option<&'a str> {
    let whole = |text: &str| text.is_empty() || text.ends_with('\n');
    let added = saved.strip_prefix(was)?;
    (whole(was) && whole(now)).then_some(added)
}

/// Writes at the end of what is in the place, as they did: nobody can come
/// between. The file may be another by then.
fn append(path: &Path, shown: &str, added: &str, ours: bool) -> Result<Version> {
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
            return Ok(Version::of(&now, ours));
        }
    }
    Err(errors::conflict(shown, None))
}

/// They saved twice, before and after they saw what we put there: everything is
/// kept. What they saved last has in it what was there.
fn both(path: &Path, shown: &str, there: &Version, put: &Version, saved: &str) -> Result<Next> {
    let both = merge::both(&there.text, &put.text, saved);
    Next::new(path, shown, both, there.ours || put.ours)
}

impl Done {
    /// Whoever had the old file open may have written into it after it was taken
    /// out. Waits for them, and brings that together with what is there now.
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
                self.old = Some((old, Version::of(&saved, was.ours)));
                continue;
            }
            let saved = saved.text;
            let next = match merge::merge(&was.text, &self.now.text, &saved) {
                Ok(merged) => Next::new(path, shown, merged, self.now.ours)?,
                Err(_) if self.now.ours && !was.ours => Next::new(path, shown, saved, false)?,
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
