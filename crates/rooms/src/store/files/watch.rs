//! The watcher of the data directory: which directories it watches, and who is notified
//! of changes.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
};

use kit::{context::Change, counter::Announce};
use notify::{Config, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};

use super::dir::Dir;
use crate::model::names::RoomName;

#[derive(Default)]
pub struct Watch {
    watched: Mutex<Watched>,
    /// Apart from `watched`: a holder may wait for the watcher's thread, so that thread must
    /// never lock it.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

#[derive(Default)]
pub struct Watched {
    pub announce: Option<Announce>,
    /// The rooms that are watched, or that subscribers know of.
    pub rooms: BTreeSet<RoomName>,
    /// Watching was tried and did not work; files are looked at instead.
    pub has_failed: bool,
    /// What was there at the start has been seen.
    pub has_looked: bool,
}

impl Watch {
    pub fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn watcher(&self) -> MutexGuard<'_, Option<RecommendedWatcher>> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches one more room, if watching has begun.
    pub fn add_room(&self, dir: &Dir, name: &RoomName) {
        self.watched().rooms.insert(name.clone());
        let Ok(path) = dir.room(name) else {
            return;
        };
        if let Some(watcher) = &mut *self.watcher()
            && let Err(error) = watcher.watch(&path, RecursiveMode::NonRecursive)
        {
            tracing::warn!(%error, room = %name, "a room cannot be watched");
        }
    }

    pub fn remove_room(&self, dir: &Dir, name: &RoomName) {
        self.watched().rooms.remove(name);
        if let (Some(watcher), Ok(path)) = (&mut *self.watcher(), dir.room(name)) {
            // An error means that the directory is already gone.
            let _ = watcher.unwatch(&path);
        }
    }

    pub fn announce(&self, change: Change) {
        let announce = self.watched().announce.clone();
        if let Some(announce) = announce {
            announce(change);
        }
    }
}

/// Watches the directory itself; the paths that change come through the channel.
pub fn begin(dir: &Dir) -> notify::Result<(RecommendedWatcher, mpsc::Receiver<PathBuf>)> {
    let (heard, hear) = mpsc::channel::<PathBuf>();
    // The watcher's thread only forwards events, so that the receiver can use the
    // watcher.
    let handler = move |event: notify::Result<notify::Event>| {
        for path in event.map(|event| event.paths).unwrap_or_default() {
            let _ = heard.send(path);
        }
    };
    let config = Config::default()
        .with_follow_symlinks(false)
        // Without reads: those are mostly our own.
        .with_event_kinds(EventKindMask::CORE);
    let mut watcher = RecommendedWatcher::new(handler, config)?;
    watcher.watch(dir.root(), RecursiveMode::NonRecursive)?;
    Ok((watcher, hear))
}
