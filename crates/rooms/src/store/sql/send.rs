//! Sending: messages that are sent to a room through this desk at the same time are
//! written in one transaction.
//!
//! The first sender leads: it writes all waiting messages, answers their senders, and
//! continues while more are waiting.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kit::{Error, Result, Store, sql::Budget};
use tokio::sync::oneshot;

use super::{
    tables::Tables,
    wake::{RoomChange, Wake},
};
use crate::{
    errors,
    model::{message::Draft, names::RoomName},
    store::{call::Call, messages::Sent},
};

/// How many messages are written together.
const MOST: usize = 64;
/// How long writing them may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A message that somebody wants to send.
#[derive(Clone)]
pub struct Unsent {
    pub call: Call,
    pub draft: Draft,
}

type Answer = oneshot::Sender<Result<Sent>>;

/// The messages that wait to be written, by room.
pub struct Outgoing {
    database: Arc<dyn Store>,
    tables: Arc<Tables>,
    wake: Arc<Wake>,
    /// A room is here while somebody writes its messages.
    waiting: Mutex<HashMap<RoomName, Vec<(Unsent, Answer)>>>,
}

impl Outgoing {
    pub fn new(database: Arc<dyn Store>, tables: Arc<Tables>, wake: Arc<Wake>) -> Self {
        Self {
            database,
            tables,
            wake,
            waiting: Mutex::default(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RoomName, Vec<(Unsent, Answer)>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns once the message is committed.
    pub async fn send(self: &Arc<Self>, room: RoomName, unsent: Unsent) -> Result<Sent> {
        let (answer, answered) = oneshot::channel();
        let leads = {
            let mut waiting = self.waiting();
            let leads = !waiting.contains_key(&room);
            let queue = waiting.entry(room.clone()).or_default();
            queue.push((unsent, answer));
            leads
        };
        if leads {
            tokio::spawn(Arc::clone(self).lead(room));
        }
        answered
            .await
            .unwrap_or_else(|_| Err(Error::internal("the writer gave up")))
    }

    async fn lead(self: Arc<Self>, room: RoomName) {
        // If a write panics, the next sender must be able to lead.
        let led = Led(&self, &room);
        loop {
            let batch = {
                let mut waiting = self.waiting();
                match waiting.get_mut(&room) {
                    Some(queue) if !queue.is_empty() => {
                        let most = queue.len().min(MOST);
                        queue.drain(..most).collect::<Vec<_>>()
                    }
                    _ => {
                        waiting.remove(&room);
                        std::mem::forget(led);
                        return;
                    }
                }
            };
            self.commit(&room, batch).await;
        }
    }

    async fn commit(&self, room: &RoomName, batch: Vec<(Unsent, Answer)>) {
        let (unsent, answers): (Vec<Unsent>, Vec<Answer>) = batch.into_iter().unzip();
        let (tables, name) = (Arc::clone(&self.tables), room.clone());
        let shows_life = tables.is_beat_due();
        let budget = Budget {
            deadline: Some(Instant::now() + TIME_LIMIT),
            ..Budget::default()
        };
        let written = self.database.transaction(budget, move |sql| {
            if shows_life {
                tables.show_life(sql)?;
            }
            tables.write_messages(sql, &name, &unsent)
        });
        let results = match written.await {
            Ok(results) => results,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, %room, "messages could not be written");
                for answer in answers {
                    let _ = answer.send(Err(errors::again(&error)));
                }
                return;
            }
        };
        if shows_life {
            self.tables.has_shown_life();
        }
        let is_new = |result: &Result<Sent>| result.as_ref().is_ok_and(|sent| !sent.repeated);
        if results.iter().any(is_new) {
            self.wake.changed(room, RoomChange::Messages);
        }
        for (answer, result) in answers.into_iter().zip(results) {
            let _ = answer.send(result);
        }
    }
}

/// Somebody writes the messages of a room.
struct Led<'a>(&'a Outgoing, &'a RoomName);

impl Drop for Led<'_> {
    fn drop(&mut self) {
        self.0.waiting().remove(self.1);
    }
}
