//! Wakes calls that wait, here and on other desks, and tells subscribers what other desks
//! changed.
//!
//! A topic names the room, what changed, and the process that changed it. A process knows
//! its own changes already.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kit::{Announcement, Store, announcement, context::Change, counter::Announce, sql::Budget};
use tokio::sync::watch;

use super::rooms::listed;
use crate::{
    model::{names::RoomName, uris},
    store::waiting::Wakeups,
};

const PREFIX: &str = "rooms/";
/// How often a waiting call looks without being woken.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Rooms with fewer waiting calls are not searched for ones that nobody waits in.
const SEARCHED_FROM: usize = 64;

/// What changed in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomChange {
    Messages,
    /// Who is a member, or whether the room exists.
    Members,
    /// Who waits or is online.
    Presence,
    /// Which rooms there are.
    Rooms,
}

impl RoomChange {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Messages, "messages"),
        (Self::Members, "members"),
        (Self::Presence, "presence"),
        (Self::Rooms, "list"),
    ];

    fn word(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(what, _)| *what == self)
            .map_or("", |(_, word)| word)
    }
}

struct Channels {
    news: watch::Sender<u64>,
    presence: watch::Sender<u64>,
}

impl Default for Channels {
    fn default() -> Self {
        Self {
            news: watch::Sender::new(0),
            presence: watch::Sender::new(0),
        }
    }
}

impl Channels {
    fn is_used(&self) -> bool {
        self.news.receiver_count() > 0
    }

    fn wake(&self, what: RoomChange) {
        let channel = match what {
            RoomChange::Messages | RoomChange::Members | RoomChange::Rooms => &self.news,
            RoomChange::Presence => &self.presence,
        };
        channel.send_modify(|version| *version += 1);
    }
}

pub struct Wake {
    database: Arc<dyn Store>,
    process: String,
    rooms: Mutex<HashMap<String, Channels>>,
    announce: Mutex<Option<Announce>>,
    is_listening: AtomicBool,
}

impl Wake {
    pub fn new(database: Arc<dyn Store>, process: String) -> Self {
        Self {
            database,
            process,
            rooms: Mutex::default(),
            announce: Mutex::default(),
            is_listening: AtomicBool::new(false),
        }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Channels>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribe before you look.
    pub fn subscribe(self: &Arc<Self>, room: &RoomName) -> Wakeups {
        self.listen();
        let mut rooms = self.rooms();
        if rooms.len() >= SEARCHED_FROM {
            rooms.retain(|_, channels| channels.is_used());
        }
        let channels = rooms.entry(room.to_string()).or_default();
        Wakeups {
            news: channels.news.subscribe(),
            presence: Some(channels.presence.subscribe()),
            look_every: LOOK_EVERY,
        }
    }

    /// Tells subscribers of what other processes do, or nobody any more.
    pub fn announce_to(&self, announce: Option<Announce>) {
        *self.announce.lock().unwrap_or_else(PoisonError::into_inner) = announce;
    }

    /// Call it after the commit: wakes everybody who waits in the room, in this process at
    /// once.
    pub fn changed(&self, room: &RoomName, what: RoomChange) {
        self.wake(room.as_str(), what);
        let topic = format!("{PREFIX}{room}/{}/{}", what.word(), self.process);
        self.database.announce(&topic);
    }

    fn wake(&self, room: &str, what: RoomChange) {
        if let Some(channels) = self.rooms().get(room) {
            channels.wake(what);
        }
    }

    /// Begins to hear what other processes announce.
    pub fn listen(self: &Arc<Self>) {
        if self.is_listening.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut heard = self.database.announcements();
        let this = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(announcement) = announcement::next(&mut heard).await {
                let Some(this) = this.upgrade() else { return };
                match announcement {
                    Announcement::Topic(topic) => this.heard(&topic),
                    Announcement::Missed => this.missed().await,
                }
            }
        });
    }

    fn heard(&self, topic: &str) {
        let Some((room, what)) = self.parse(topic) else {
            return;
        };
        self.wake(room.as_str(), what);
        let announce = self.announce.lock();
        let announce = announce.unwrap_or_else(PoisonError::into_inner).clone();
        let Some(announce) = announce else { return };
        match what {
            RoomChange::Messages => announce(Change::Resource(uris::messages(&room))),
            RoomChange::Members | RoomChange::Presence => {
                announce(Change::Resource(uris::room(&room)))
            }
            RoomChange::Rooms => {
                announce(Change::ResourceList);
                announce(Change::Resource(uris::room(&room)));
                announce(Change::Resource(uris::messages(&room)));
            }
        }
    }

    /// The room and what changed, unless this process changed it.
    fn parse(&self, topic: &str) -> Option<(RoomName, RoomChange)> {
        let mut parts = topic.strip_prefix(PREFIX)?.splitn(3, '/');
        let (room, word, process) = (parts.next()?, parts.next()?, parts.next()?);
        if process == self.process {
            return None;
        }
        let mut all = RoomChange::ALL.iter();
        let (what, _) = all.find(|(_, known)| *known == word)?;
        Some((RoomName::parse(room).ok()?, *what))
    }

    /// Anything may have changed.
    async fn missed(&self) {
        for channels in self.rooms().values() {
            channels.wake(RoomChange::Messages);
        }
        let announce = self.announce.lock();
        let announce = announce.unwrap_or_else(PoisonError::into_inner).clone();
        let Some(announce) = announce else { return };
        let rooms = self.database.query(Budget::default(), |sql| listed(sql));
        match rooms.await {
            Ok(rooms) => {
                for room in rooms {
                    announce(Change::Resource(uris::room(&room.name)));
                    announce(Change::Resource(uris::messages(&room.name)));
                }
                announce(Change::ResourceList);
            }
            Err(error) => {
                tracing::debug!(%error, "the rooms could not be read after announcements were lost");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Store for Nothing {
        fn read(
            &self,
            _: Budget,
            _: kit::sql::ReadJob<'static>,
        ) -> kit::BoxFuture<'_, kit::Result<()>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn write(
            &self,
            _: Budget,
            _: kit::sql::WriteJob<'static>,
        ) -> kit::BoxFuture<'_, kit::Result<()>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn migrate(&self, _: kit::sql::Migrations) -> kit::BoxFuture<'_, kit::Result<()>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn engine(&self) -> &'static str {
            "none"
        }
    }

    #[tokio::test]
    async fn only_rooms_with_waiting_calls_are_kept() {
        let wake = Arc::new(Wake::new(Arc::new(Nothing), "own".into()));
        for number in 0..10 * SEARCHED_FROM {
            let room = RoomName::parse(&format!("room-{number}")).unwrap();
            drop(wake.subscribe(&room));
        }
        assert!(wake.rooms().len() <= SEARCHED_FROM);
    }

    #[tokio::test]
    async fn changes_of_others_wake_and_own_ones_are_known() {
        let wake = Arc::new(Wake::new(Arc::new(Nothing), "own".into()));
        let room = RoomName::parse("a").unwrap();
        let wakeups = wake.subscribe(&room);
        wake.heard("rooms/a/messages/other");
        assert!(wakeups.news.has_changed().unwrap());
        for topic in [
            "rooms/a/messages/own",
            "rooms/b/messages/other",
            "rooms/a/unknown/other",
            "rooms/a",
            "cinema/a/messages/other",
        ] {
            let wakeups = wake.subscribe(&room);
            wake.heard(topic);
            assert!(!wakeups.news.has_changed().unwrap(), "{topic}");
        }
    }
}
