//! Notices what other processes write. Only speed depends on it: waiting calls also look
//! from time to time, and every answer reads the files.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, mpsc},
    thread,
};

use kit::{context::Change, counter::Announce};
use notify::RecommendedWatcher;

use super::{
    FileStore, Room,
    dir::{ACTIVITY, LOG, PRESENCE, ROOMS},
    watch,
};
use crate::model::{names::RoomName, uris};

impl FileStore {
    /// Tells subscribers of what other processes do, from now on.
    pub fn announce_to(&self, announce: Announce) {
        self.watch.watched().announce = Some(announce);
    }

    pub fn stop_watching(&self) {
        self.watch.watched().announce = None;
        self.watch.watcher().take();
    }

    /// Starts to watch everything there is, once the directory is there.
    /// Returns whether it is watched.
    pub fn watch(self: &Arc<Self>) -> bool {
        let mut watcher = self.watch.watcher();
        if watcher.is_some() {
            return true;
        }
        if self.watch.watched().has_failed || !self.data.dir.root().is_dir() {
            return false;
        }
        match self.begin_watching() {
            Ok(begun) => *watcher = Some(begun),
            Err(error) => {
                tracing::warn!(%error, "files cannot be watched; they are looked at instead");
                self.watch.watched().has_failed = true;
                return false;
            }
        }
        drop(watcher);
        for listed in self.rooms().unwrap_or_default() {
            self.watch.add_room(&self.data.dir, &listed.name);
        }
        true
    }

    fn begin_watching(self: &Arc<Self>) -> notify::Result<RecommendedWatcher> {
        let (watcher, hear): (_, mpsc::Receiver<_>) = watch::begin(&self.data.dir)?;
        let store = Arc::downgrade(self);
        thread::Builder::new()
            .name("rooms-watch".into())
            .spawn(move || {
                while let Ok(path) = hear.recv() {
                    let Some(store) = store.upgrade() else { return };
                    store.noticed(&path);
                }
            })?;
        Ok(watcher)
    }

    /// Looks at every file that somebody could wait for: at the start, and for
    /// as long as files cannot be watched.
    pub fn look_around(&self) {
        self.noticed_rooms();
        let is_first = !std::mem::replace(&mut self.watch.watched().has_looked, true);
        let rooms: Vec<RoomName> = self.watch.watched().rooms.iter().cloned().collect();
        for name in rooms {
            if let Ok(room) = self.room(&name) {
                if is_first {
                    room.log.begin_watching();
                    room.members.begin_watching();
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

    fn noticed_log(&self, room: &Room) {
        if room.log.has_news() {
            room.bump();
            let uri = uris::messages(&room.name);
            self.watch.announce(Change::Resource(uri));
        }
    }

    fn noticed_presence(&self, room: &Room) {
        if room.members.has_news() {
            room.bump();
            self.watch
                .announce(Change::Resource(uris::room(&room.name)));
        }
    }

    fn noticed_rooms(&self) {
        let Ok(listed) = self.rooms() else { return };
        let now: BTreeSet<RoomName> = listed.into_iter().map(|listed| listed.name).collect();
        let before = self.watch.watched().rooms.clone();
        if now == before {
            return;
        }
        for name in now.difference(&before) {
            self.watch.add_room(&self.data.dir, name);
        }
        for name in before.difference(&now) {
            self.watch.remove_room(&self.data.dir, name);
            // Whoever waits there learns that the room is gone.
            if let Some(room) = self.open().remove(name) {
                room.bump();
            }
        }
        self.watch.announce(Change::ResourceList);
    }
}
