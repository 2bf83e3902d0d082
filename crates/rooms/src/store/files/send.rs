//! Sending: messages that are sent to a room at the same time are written together,
//! with one sync.
//!
//! The first sender leads: it takes the room's lock, writes all waiting messages, syncs,
//! answers their senders, and continues while more are waiting.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use kit::{Error, Result, time::Clock};
use tokio::sync::oneshot;

use super::{batch::Batch, lock::Held, room::Room, send_queue::Unsent};
use crate::{
    errors,
    model::message::Draft,
    store::messages::{LARGE, Sent},
};

/// A busy leader releases the lock after this long, and pauses long enough for other
/// processes to take it.
const TURN: Duration = Duration::from_millis(5);
const PAUSE: Duration = Duration::from_micros(1_200);

impl Room {
    /// Returns once the message is on the disk.
    pub async fn send(self: &Arc<Self>, draft: Draft, clock: Clock) -> Result<Sent> {
        let (answer, answered) = oneshot::channel();
        let lead = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.unsent.push(Unsent {
                draft,
                clock,
                answer,
            });
            !std::mem::replace(&mut queue.is_led, true)
        };
        if lead {
            let room = Arc::clone(self);
            self.at.data.blocking.run_later(move || room.lead());
        }
        answered
            .await
            .unwrap_or_else(|_| Err(Error::internal("the writer gave up")))
    }

    fn lead(&self) {
        // If a write panics, the next sender must be able to lead.
        struct Led<'a>(&'a Room);
        impl Drop for Led<'_> {
            fn drop(&mut self) {
                let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.is_led = false;
                queue.unsent.clear();
            }
        }
        let led = Led(self);
        let mut since = Instant::now();
        loop {
            let batch = {
                let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                if queue.unsent.is_empty() {
                    queue.is_led = false;
                    std::mem::forget(led);
                    return;
                }
                std::mem::take(&mut queue.unsent)
            };
            self.commit(batch);
            if since.elapsed() > TURN {
                std::thread::sleep(PAUSE);
                since = Instant::now();
            }
        }
    }

    fn commit(&self, unsent: Vec<Unsent>) {
        let mut batch = Batch::default();
        let begun = self.at.data.announce().and_then(|()| self.at.lock());
        let held = match begun.and_then(|held| {
            self.write(&held, &unsent, &mut batch)?;
            Ok(held.for_housekeeping())
        }) {
            Ok(held) => held,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, room = %self.name, "messages could not be written");
                for unsent in unsent {
                    let _ = unsent.answer.send(Err(errors::again(&error)));
                }
                return;
            }
        };
        // A small room is shortened before the answer. A large one takes longer, and
        // nobody should wait for that.
        let most = self.at.data.settings.max_messages.get() as usize;
        let shorten = || self.keep_house(self.log.shorten(&held, most));
        if most <= LARGE {
            shorten();
        }
        let now = unsent.first().map(|unsent| unsent.clock.now());
        for (unsent, result) in unsent.into_iter().zip(batch.results) {
            let _ = unsent.answer.send(result);
        }
        self.bump();
        if let (Some(now), false) = (now, batch.senders.is_empty()) {
            self.at.data.mark_uncounted(&self.name);
            let senders = batch.senders.iter().map(String::as_str);
            self.keep_house(self.members.note_active(&held, senders, now));
        }
        if most > LARGE {
            shorten();
        }
    }

    /// Logs a failure of housekeeping: the messages are already safe.
    fn keep_house(&self, done: Result<()>) {
        if let Err(error) = done {
            tracing::warn!(%error, cause = ?error.cause, room = %self.name, "housekeeping after a message failed");
        }
    }

    fn write(&self, held: &Held, unsent: &[Unsent], batch: &mut Batch) -> Result<()> {
        let members = self.members.load()?;
        self.log.look_mended(held, |index, files| {
            for unsent in unsent {
                let result = batch.add(self, &members, index, files, unsent)?;
                batch.results.push(result);
            }
            Ok(())
        })?;
        let reads = self.reads.load()?;
        if !batch.bytes.is_empty() {
            self.log.append(&batch.bytes)?;
        }
        // The messages are written. Whoever is refused now would send them again.
        let counted = self.log.look(|index, files| {
            for sent in batch.results.iter_mut().flatten() {
                let agent = &sent.line.agent_name;
                let unread = self.reads.of(agent, index, files, &reads)?;
                sent.unread = unread.count(agent, index);
            }
            Ok(())
        });
        self.keep_house(counted);
        Ok(())
    }
}
