//! The files as a [`RoomStore`]: work on them runs on threads that may block.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kit::{BoxFuture, Result, Warning, counter::Announce, sql::Budget};
use tokio::task::AbortHandle;

use super::{FileStore, rounds::rounds};
use crate::{
    Settings,
    model::{
        members::Profile,
        message::Draft,
        names::RoomName,
        owners::{Actor, Holder, KeyRef},
    },
    store::{
        call::Call,
        messages::{Page, Pick, Sent},
        room_store::{Done, RoomStore},
        rooms::{Entered, Listed, Marked, Member, NewRoom, RoomList, StatusReport},
        searching::{Search, SearchHits},
        waiting::{LookedUpTo, News, Reached, WaitFilter, Waiting, Wakeups},
    },
};

/// The pause between a change and writing the counts, so that a burst is written once.
const COUNTS_LAG: Duration = Duration::from_millis(200);
/// The shortest time between two writes of the counts. Senders wait for the disk during each.
const COUNTS_EVERY: Duration = Duration::from_secs(2);
/// How often a waiting call looks without being woken: seldom while the files are watched,
/// often if they can't be.
const LOOK_WATCHED: Duration = Duration::from_secs(1);
const LOOK_UNWATCHED: Duration = Duration::from_millis(50);

pub struct FileRooms {
    store: Arc<FileStore>,
    counting: Arc<Counting>,
    rounds: Mutex<Option<AbortHandle>>,
}

/// When the counts in the files are written.
#[derive(Default)]
struct Counting {
    is_coming: AtomicBool,
    last: Mutex<Option<Instant>>,
}

impl FileRooms {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        Self {
            store: Arc::new(FileStore::new(settings)),
            counting: Arc::default(),
            rounds: Mutex::default(),
        }
    }

    /// Runs work on the files.
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<FileStore>) -> Result<T> + Send + 'static,
    ) -> Done<'_, T> {
        let store = Arc::clone(&self.store);
        let blocking = self.store.blocking().clone();
        Box::pin(async move { blocking.run(move || work(&store)).await })
    }
}

impl RoomStore for FileRooms {
    fn rooms(&self, _: Budget) -> Done<'_, Vec<Listed>> {
        self.run(|store| store.rooms())
    }

    fn list_rooms(&self, call: Call, agent: Option<String>) -> Done<'_, RoomList> {
        self.run(move |store| store.list_rooms(&call, agent.as_deref()))
    }

    fn status(&self, call: Call, only: Option<RoomName>) -> Done<'_, StatusReport> {
        self.run(move |store| store.status(&call, only.as_ref()))
    }

    fn create_room(&self, call: Call, new: NewRoom) -> Done<'_, ()> {
        self.run(move |store| store.create_room(&call, new))
    }

    fn delete_room(&self, call: Call, room: RoomName) -> Done<'_, usize> {
        self.run(move |store| store.delete(&call, &room))
    }

    fn clear_room(&self, call: Call, room: RoomName) -> Done<'_, usize> {
        self.run(move |store| {
            let room = store.room(&room)?;
            store.clear(&call, &room)
        })
    }

    fn members(&self, call: Call, room: RoomName) -> Done<'_, Vec<Member>> {
        self.run(move |store| store.room(&room)?.members.list(call.now()))
    }

    fn enter(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        profile: Option<Profile>,
    ) -> Done<'_, Entered> {
        self.run(move |store| store.enter_room(&call, &room, &agent, profile))
    }

    fn leave(&self, call: Call, room: RoomName, agent: String) -> Done<'_, ()> {
        self.run(move |store| store.leave_room(&call, &room, &agent))
    }

    fn may_send(&self, call: Call, room: RoomName, agent: String) -> Done<'_, ()> {
        // Whether the room still exists is checked when the message is written.
        if call.actor == Actor::Local && self.store.opened(&room).is_some() {
            return Box::pin(std::future::ready(Ok(())));
        }
        self.run(move |store| {
            let room = store.room(&room)?;
            store.act(&call.actor, &room, &agent, call.now())
        })
    }

    fn send(&self, call: Call, room: RoomName, draft: Draft) -> Done<'_, Sent> {
        Box::pin(async move {
            let room = match self.store.opened(&room) {
                Some(room) => room,
                None => self.run(move |store| store.room(&room)).await?,
            };
            room.send(draft, call.clock).await
        })
    }

    fn page(
        &self,
        call: Call,
        room: RoomName,
        reader: Option<String>,
        pick: Pick,
    ) -> Done<'_, (Page, Option<usize>)> {
        self.run(move |store| store.page(&call, &room, reader.as_deref(), &pick))
    }

    fn mark_read(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        up_to: Option<String>,
    ) -> Done<'_, Marked> {
        self.run(move |store| store.mark_read(&call, &room, &agent, up_to.as_deref()))
    }

    fn search(
        &self,
        call: Call,
        only: Option<RoomName>,
        search: Search,
    ) -> Done<'_, (SearchHits, Vec<Warning>)> {
        self.run(move |store| store.search(&call, only.as_ref(), &search))
    }

    fn is_known(&self, _: Call, agent: String) -> Done<'_, bool> {
        self.run(move |store| Ok(store.is_known(&agent)))
    }

    fn begin_wait(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
    ) -> Done<'_, (Wakeups, News)> {
        self.run(move |store| {
            let opened = store.begin_wait(&call, &room, &agent)?;
            let look_every = match store.watch() {
                true => LOOK_WATCHED,
                false => LOOK_UNWATCHED,
            };
            // First subscribe, then look.
            let wakeups = Wakeups {
                news: opened.subscribe(),
                presence: None,
                look_every,
            };
            let news = store.look(&call, &room, &agent, (&wanted, None))?;
            Ok((wakeups, news))
        })
    }

    fn look(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
        looked: Option<LookedUpTo>,
    ) -> Done<'_, News> {
        self.run(move |store| store.look_again(&call, &room, &agent, (&wanted, looked)))
    }

    fn mark_waiting(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        until: Timestamp,
    ) -> Done<'_, Waiting> {
        self.run(move |store| Ok(store.room(&room)?.waiting(&agent, until, &call.clock)))
    }

    /// The messages count as read at once in this process; the file is written later.
    fn deliver(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        reached: Reached,
    ) -> Done<'_, bool> {
        if let (Some(room), Reached::InFiles(position)) = (self.store.opened(&room), reached) {
            room.reads.advance(&agent, position);
            let now = call.now();
            self.store.blocking().run_later(move || {
                room.members.heard_of(&agent, now);
                if let Err(error) = room.save_position(&agent, now) {
                    tracing::warn!(%error, cause = ?error.cause, "a read position could not be written");
                }
            });
        }
        Box::pin(std::future::ready(Ok(true)))
    }

    fn held_names(&self) -> Done<'_, Vec<Holder>> {
        self.run(|store| store.names.held())
    }

    fn release_name(&self, name: String) -> Done<'_, Holder> {
        self.run(move |store| store.names.release(&name))
    }

    fn share_name(&self, name: String, key: KeyRef) -> Done<'_, Holder> {
        self.run(move |store| store.names.share(&name, &key))
    }

    fn unshare_name(&self, name: String, key: String) -> Done<'_, Holder> {
        self.run(move |store| store.names.unshare(&name, &key))
    }

    fn start(&self, announce: Announce) {
        self.store.announce_to(Arc::clone(&announce));
        let task = tokio::spawn(rounds(Arc::clone(&self.store), announce));
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        *rounds = Some(task.abort_handle());
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rounds) = rounds.take() {
            rounds.abort();
        }
        let ended = self.run(|store| {
            store.stop_watching();
            store.retire()?;
            store.write_counts()
        });
        Box::pin(async move {
            if let Err(error) = ended.await {
                tracing::warn!(%error, cause = ?error.cause, "agents could not be taken offline");
            }
        })
    }

    /// Writes the counts soon, if any have changed.
    fn after_call(&self) {
        let counting = Arc::clone(&self.counting);
        if !self.store.has_counts_to_write() || counting.is_coming.swap(true, Ordering::AcqRel) {
            return;
        }
        let store = Arc::clone(&self.store);
        tokio::spawn(async move {
            let last = *counting.last.lock().unwrap_or_else(PoisonError::into_inner);
            let pause = last.map_or(COUNTS_LAG, |last| {
                COUNTS_EVERY.saturating_sub(last.elapsed()).max(COUNTS_LAG)
            });
            tokio::time::sleep(pause).await;
            *counting.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            counting.is_coming.store(false, Ordering::Release);
            let blocking = store.blocking().clone();
            let written = blocking.run(move || store.write_counts()).await;
            if let Err(error) = written {
                tracing::warn!(%error, cause = ?error.cause, "counts could not be written to the files");
            }
        });
    }
}
