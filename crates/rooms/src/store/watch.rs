//! Hearing of what other processes write. Only speed depends on it: whoever
//! waits also looks for itself now and then, and every answer looks at the files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

use kit::{context::Change, counter::Announce};
use notify::{Config, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};

use super::{
    Room, Store,
    files::{ACTIVITY, LOG, PRESENCE, ROOMS, Stamp},
};
use crate::model::{names::RoomName, uris};

#[derive(Default)]
pub struct Watch {
    state: Mutex<State>,
    /// Apart from the state: whoever holds it may wait for the watcher's own
    /// thread, which therefore must never want it.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

#[derive(Default)]
struct State {
    announce: Option<Announce>,
    /// The rooms that are watched, or that subscribers know of.
    rooms: BTreeSet<RoomName>,
    /// Watching was tried and did not work; files are looked at instead.
    failed: bool,
    /// What was there at the start has been seen.
    looked: bool,
}

impl Store {
    fn watching(&self) -> MutexGuard<'_, State> {
        self.watch
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn watcher(&self) -> MutexGuard<'_, Option<RecommendedWatcher>> {
        self.watch
            .watcher
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells subscribers of what other processes do, from now on.
    pub fn announce_to(&self, announce: Announce) {
        self.watching().announce = Some(announce);
    }

    pub fn stop_watching(&self) {
        self.watching().announce = None;
        self.watcher().take();
    }

    /// Starts to watch everything there is, once the directory is there.
    /// Returns whether it is watched.
    pub fn watch(self: &Arc<Self>) -> bool {
        let mut watcher = self.watcher();
        if watcher.is_some() {
            return true;
        }
        if self.watching().failed || !self.dir.root().is_dir() {
            return false;
        }
        match self.begin() {
            Ok(begun) => *watcher = Some(begun),
            Err(error) => {
                tracing::warn!(%error, "files cannot be watched; they are looked at instead");
                self.watching().failed = true;
                return false;
            }
        }
        drop(watcher);
        for listed in self.rooms().unwrap_or_default() {
            self.watch_room(&listed.name);
        }
        true
    }

    fn begin(self: &Arc<Self>) -> notify::Result<RecommendedWatcher> {
        // The watcher's thread only passes on what it hears; the other one may
        // use the watcher.
        let (heard, hear) = mpsc::channel::<PathBuf>();
        let handler = move |event: notify::Result<notify::Event>| {
            for path in event.map(|event| event.paths).unwrap_or_default() {
                let _ = heard.send(path);
            }
        };
        let store = Arc::downgrade(self);
        thread::Builder::new()
            .name("rooms-watch".into())
            .spawn(move || {
                while let Ok(path) = hear.recv() {
                    let Some(store) = store.upgrade() else { return };
                    store.noticed(&path);
                }
            })?;
        let config = Config::default()
            .with_follow_symlinks(false)
            // Not who opens a file to read it: that would be ourselves.
            .with_event_kinds(EventKindMask::CORE);
        let mut watcher = RecommendedWatcher::new(handler, config)?;
        watcher.watch(self.dir.root(), RecursiveMode::NonRecursive)?;
        Ok(watcher)
    }

    /// Watches one more room, if watching has begun.
    pub(super) fn watch_room(&self, name: &RoomName) {
        self.watching().rooms.insert(name.clone());
        let Ok(path) = self.dir.room(name) else {
            return;
        };
        if let Some(watcher) = &mut *self.watcher()
            && let Err(error) = watcher.watch(&path, RecursiveMode::NonRecursive)
        {
            tracing::warn!(%error, room = %name, "a room cannot be watched");
        }
    }

    pub(super) fn forget_room(&self, name: &RoomName) {
        self.watching().rooms.remove(name);
        if let (Some(watcher), Ok(path)) = (&mut *self.watcher(), self.dir.room(name)) {
            // It is gone with its directory if the kernel was quicker.
            let _ = watcher.unwatch(&path);
        }
    }

    /// Looks at every file that somebody could wait for: at the start, and for
    /// as long as files cannot be watched.
    pub fn look_around(&self) {
        self.noticed_rooms();
        let first = !std::mem::replace(&mut self.watching().looked, true);
        let rooms: Vec<RoomName> = self.watching().rooms.iter().cloned().collect();
        for name in rooms {
            if let Ok(room) = self.room(&name) {
                if first {
                    self.remember_unseen(&room);
                }
                self.noticed_log(&room);
                self.noticed_presence(&room);
            }
        }
    }

    fn noticed(&self, path: &Path) {
        let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
        let (Some(file), Some(folder)) = (name(path), path.parent()) else {
            return;
        };
        if file == ROOMS {
            return self.noticed_rooms();
        }
        if ![LOG, PRESENCE, ACTIVITY].contains(&file.as_str()) {
            return;
        }
        let room = name(folder).and_then(|name| RoomName::parse(&name).ok());
        let Some(Ok(room)) = room.map(|name| self.room(&name)) else {
            return;
        };
        match file.as_str() {
            LOG => self.noticed_log(&room),
            PRESENCE => self.noticed_presence(&room),
            _ => room.bump(),
        }
    }

    /// What was there before the first look is nothing new.
    fn remember_unseen(&self, room: &Room) {
        let (log, presence) = (self.stamp(room, LOG), self.stamp(room, PRESENCE));
        let told = &mut room.local().told;
        told.0 = told.0.or(log);
        told.1 = told.1.or(presence);
    }

    fn noticed_log(&self, room: &Room) {
        let now = self.stamp(room, LOG);
        let news = {
            let mut local = room.local();
            let news = !is_same(local.told.0, now);
            local.told.0 = now;
            news
        };
        if news {
            room.bump();
            self.announce(Change::Resource(uris::messages(&room.name)));
        }
    }

    fn noticed_presence(&self, room: &Room) {
        let now = self.stamp(room, PRESENCE);
        let news = std::mem::replace(&mut room.local().told.1, now) != now;
        if news {
            room.bump();
            self.announce(Change::Resource(uris::room(&room.name)));
        }
    }

    fn noticed_rooms(&self) {
        let Ok(listed) = self.rooms() else { return };
        let now: BTreeSet<RoomName> = listed.into_iter().map(|listed| listed.name).collect();
        let before = self.watching().rooms.clone();
        if now == before {
            return;
        }
        for name in now.difference(&before) {
            self.watch_room(name);
        }
        for name in before.difference(&now) {
            self.forget_room(name);
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever waits there learns that the room is gone.
            if let Some(room) = open.remove(name) {
                room.bump();
            }
        }
        self.announce(Change::ResourceList);
    }

    fn announce(&self, change: Change) {
        let announce = self.watching().announce.clone();
        if let Some(announce) = announce {
            announce(change);
        }
    }

    /// Subscribers know of the log as it is now.
    pub(super) fn told_log(&self, room: &Room) {
        let now = self.stamp(room, LOG);
        room.local().told.0 = now;
    }

    pub(super) fn told_presence(&self, room: &Room) {
        let now = self.stamp(room, PRESENCE);
        room.local().told.1 = now;
    }

    fn stamp(&self, room: &Room, file: &str) -> Option<Stamp> {
        Stamp::at(&room.directory().ok()?.join(file))
    }
}

/// A log that neither moved nor grew says nothing new.
fn is_same(a: Option<Stamp>, b: Option<Stamp>) -> bool {
    let essence = |stamp: Option<Stamp>| stamp.map(|stamp| (stamp.inode, stamp.length));
    essence(a) == essence(b)
}
