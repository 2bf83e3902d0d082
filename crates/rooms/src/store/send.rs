//! Sending: all who send into a room at the same time are written together and
//! wait for the disk once.
//!
//! The first to come leads: it takes the room's lock, writes what has gathered,
//! waits for the disk, answers everybody, and goes on while more has come.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use kit::{Error, Result, time::Clock};
use tokio::sync::oneshot;

use super::{
    Room, Store,
    files::{self, LOG, Stamp},
    index::{Files, Index},
    lock::{self, Held},
    reads::position,
    recent,
    upkeep::{LARGE, is_torn, mend},
};
use crate::{
    errors,
    model::{
        members::Presence,
        mentions::mentions,
        message::{Draft, Line, written},
        names::canonical,
    },
    state,
};

/// Random characters of an id: 80 bits.
const ID_LENGTH: usize = 16;
/// A leader with no end of work lets other processes have the lock after this
/// long, for a pause in which they are certain to look.
const TURN: Duration = Duration::from_millis(5);
const PAUSE: Duration = Duration::from_micros(1_200);
const MEGABYTE: u64 = 1_000_000;

#[derive(Default)]
pub struct Queue {
    waiting: Vec<Waiting>,
    is_led: bool,
}

struct Waiting {
    draft: Draft,
    clock: Clock,
    answer: oneshot::Sender<Result<Sent>>,
}

#[derive(Debug, Clone)]
pub struct Sent {
    pub line: Line,
    /// It had been sent before, with the same clientMessageId.
    pub repeated: bool,
    /// What the sender has not read.
    pub unread: usize,
}

impl Store {
    /// Returns once the message is on the disk.
    pub async fn send(
        self: &Arc<Self>,
        room: &Arc<Room>,
        draft: Draft,
        clock: Clock,
    ) -> Result<Sent> {
        let (answer, answered) = oneshot::channel();
        let lead = {
            let mut queue = room.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.waiting.push(Waiting {
                draft,
                clock,
                answer,
            });
            !std::mem::replace(&mut queue.is_led, true)
        };
        if lead {
            let (store, room) = (Arc::clone(self), Arc::clone(room));
            self.blocking.run_later(move || store.lead(&room));
        }
        answered
            .await
            .unwrap_or_else(|_| Err(Error::internal("the writer gave up")))
    }

    fn lead(&self, room: &Room) {
        // Should a write panic, the next sender must be able to lead.
        struct Led<'a>(&'a Room);
        impl Drop for Led<'_> {
            fn drop(&mut self) {
                let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.is_led = false;
                queue.waiting.clear();
            }
        }
        let led = Led(room);
        let mut since = Instant::now();
        loop {
            let batch = {
                let mut queue = room.queue.lock().unwrap_or_else(PoisonError::into_inner);
                if queue.waiting.is_empty() {
                    queue.is_led = false;
                    std::mem::forget(led);
                    return;
                }
                std::mem::take(&mut queue.waiting)
            };
            self.commit(room, batch);
            if since.elapsed() > TURN {
                std::thread::sleep(PAUSE);
                since = Instant::now();
            }
        }
    }

    fn commit(&self, room: &Room, batch: Vec<Waiting>) {
        let mut outcome = Batch::default();
        let begun = self
            .process
            .announce(&self.dir, self.settings.lock_timeout())
            .and_then(|()| lock::room(&self.dir, &room.name, self.settings.lock_timeout()));
        let held = match begun.and_then(|held| {
            self.require(&room.name)?;
            self.write(&held, room, &batch, &mut outcome)?;
            Ok(held.for_housekeeping())
        }) {
            Ok(held) => held,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, room = %room.name, "messages could not be written");
                for waiting in batch {
                    let _ = waiting.answer.send(Err(errors::again(&error)));
                }
                return;
            }
        };
        // A small room is within its limit when the answer comes. A large one
        // takes a while to shorten, for which nobody should have to wait.
        let at_once = self.settings.max_messages.get() as usize <= LARGE;
        if at_once {
            self.keep_house(room, || self.shorten(&held, room));
        }
        let now = batch.first().map(|waiting| waiting.clock.now());
        for (waiting, result) in batch.into_iter().zip(outcome.results) {
            let _ = waiting.answer.send(result);
        }
        room.bump();
        if let (Some(now), false) = (now, outcome.senders.is_empty()) {
            self.mark_dirty(&room.name);
            let senders = outcome.senders.iter().map(String::as_str);
            self.keep_house(room, || self.note_active(&held, room, senders, now));
        }
        if !at_once {
            self.keep_house(room, || self.shorten(&held, room));
        }
        drop(held);
    }

    /// The messages are safe; what else is done under the same lock may fail.
    fn keep_house(&self, room: &Room, work: impl FnOnce() -> Result<()>) {
        if let Err(error) = work() {
            tracing::warn!(%error, cause = ?error.cause, room = %room.name, "housekeeping after a message failed");
        }
    }

    fn write(
        &self,
        held: &Held,
        room: &Room,
        batch: &[Waiting],
        outcome: &mut Batch,
    ) -> Result<()> {
        let directory = room.directory()?;
        let members = room.members()?;
        // Lines are added without the original's lock: both servers add them
        // whole. Only what seems to be no whole line may still be on its way.
        if room.look(is_torn)? {
            let _log = held.file(&directory, LOG)?;
            room.look_mut(|index, files| mend(&directory, index, files))?;
        }
        room.look(|index, files| {
            for waiting in batch {
                let result = outcome.add(self, room, &members, index, files, waiting)?;
                outcome.results.push(result);
            }
            Ok(())
        })?;
        if !outcome.bytes.is_empty() {
            let told = |stamp: Stamp| room.local().told.0 = Some(stamp);
            append(&directory, &outcome.bytes, told).map_err(errors::storage)?;
        }
        let reads = room.reads.load(&directory).map_err(errors::storage)?;
        room.look(|index, files| {
            for sent in outcome.results.iter_mut().flatten() {
                let agent = &sent.line.agent_name;
                let (read, _) = position(room, agent, index, files, &reads)?;
                sent.unread = index.count_by_others(agent, read);
            }
            Ok(())
        })
    }
}

/// What becomes of those who are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    results: Vec<Result<Sent>>,
    senders: Vec<String>,
    /// Where in `results` a message with this sender and clientMessageId stands.
    client_ids: HashMap<(String, String), usize>,
}

impl Batch {
    fn add(
        &mut self,
        store: &Store,
        room: &Room,
        members: &Presence,
        index: &Index,
        files: &Files,
        waiting: &Waiting,
    ) -> io::Result<Result<Sent>> {
        let draft = &waiting.draft;
        if members.users.get(&draft.agent).is_none() {
            return Ok(Err(store.stranger(&draft.agent, &room.name)));
        }
        if let Some(before) = self.before(index, files, draft)? {
            return Ok(if draft.became(&before) {
                Ok(Sent {
                    line: before,
                    repeated: true,
                    unread: 0,
                })
            } else {
                Err(errors::client_message_id_reused())
            });
        }
        let most_mb = store.settings.max_archive_mb.get();
        if index.archive.end() >= u64::from(most_mb) * MEGABYTE {
            return Ok(Err(errors::archive_is_full(room.name.as_str(), most_mb)));
        }
        if let Some(wait) = self.wait(store, index, files, waiting)? {
            let most = store.settings.sends_per_minute;
            return Ok(Err(errors::rate_limited(most, wait)));
        }
        if let Some(id) = &draft.reply_to
            && index.find(id, files)?.is_none()
        {
            return Ok(Err(errors::message_not_found(id)));
        }
        let line = Line {
            id: kit::ids::random("msg_", ID_LENGTH),
            room_name: room.name.to_string(),
            agent_name: draft.agent.clone(),
            mentions: mentions(&canonical(&draft.text), members.users.names()),
            message: draft.text.clone(),
            timestamp: written(waiting.clock.now()),
            metadata: draft.metadata.clone(),
            reply_to: draft.reply_to.clone(),
            client_message_id: draft.client_id.clone(),
        };
        serde_json::to_writer(&mut self.bytes, &line)?;
        self.bytes.push(b'\n');
        if !self.senders.contains(&draft.agent) {
            self.senders.push(draft.agent.clone());
        }
        if let Some(client_id) = &draft.client_id {
            let key = (draft.agent.clone(), client_id.clone());
            self.client_ids.insert(key, self.results.len());
        }
        Ok(Ok(Sent {
            line,
            repeated: false,
            unread: 0,
        }))
    }

    /// How long the sender has to wait, if it has sent too much: to this room,
    /// through whichever process.
    fn wait(
        &self,
        store: &Store,
        index: &Index,
        files: &Files,
        waiting: &Waiting,
    ) -> io::Result<Option<i64>> {
        let most = store.settings.sends_per_minute as usize;
        let agent = &waiting.draft.agent;
        let results = self.results.iter().flatten();
        let here = results.filter(|sent| !sent.repeated && sent.line.agent_name == *agent);
        match most.checked_sub(here.count()) {
            _ if most == 0 => Ok(None),
            None | Some(0) => Ok(Some(state::MINUTE_MS)),
            Some(most) => recent::wait(index, files, agent, most, waiting.clock.now()),
        }
    }

    /// The message that this draft became already, here or on the disk.
    fn before(&self, index: &Index, files: &Files, draft: &Draft) -> io::Result<Option<Line>> {
        let Some(client_id) = &draft.client_id else {
            return Ok(None);
        };
        let key = (draft.agent.clone(), client_id.clone());
        let here = self
            .client_ids
            .get(&key)
            .and_then(|at| self.results.get(*at));
        if let Some(Ok(sent)) = here {
            return Ok(Some(sent.line.clone()));
        }
        index.find_client_id(&draft.agent, client_id, files)
    }
}

/// Appends whole lines and waits until they are on the disk; on failure the log
/// is as it was.
fn append(directory: &Path, bytes: &[u8], told: impl Fn(Stamp)) -> io::Result<()> {
    let path = directory.join(LOG);
    let is_new = Stamp::at(&path).is_none();
    let mut file = files::open(&path, OpenOptions::new().append(true).create(true))?;
    let before = Stamp::of(&file.metadata()?);
    // Whoever watches for other processes' writes must not take this for one.
    told(before.grown_by(bytes.len() as u64));
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    if let Err(error) = written {
        file.set_len(before.length)?;
        return Err(error);
    }
    if is_new {
        files::sync_directory(directory)?;
    }
    Ok(())
}
