//! Who waits for messages, for everybody on the directory to see.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Result, time::Clock};

use super::{Room, Store, lock, members::save_activity};
use crate::model::members::Activities;

impl Store {
    /// Notes that `agent` waits, until the returned mark is dropped.
    pub fn waiting(
        self: &Arc<Self>,
        room: &Arc<Room>,
        agent: &str,
        until: Timestamp,
        clock: &Clock,
    ) -> Waiting {
        *room.local().waiting.entry(agent.to_owned()).or_default() += 1;
        let mark = Waiting {
            store: Arc::clone(self),
            room: Arc::clone(room),
            agent: agent.to_owned(),
            clock: clock.clone(),
        };
        if let Err(error) = self.note_waiting(room, agent, Some(until), clock.now()) {
            tracing::warn!(%error, cause = ?error.cause, "it could not be noted that an agent waits");
        }
        mark
    }

    fn note_waiting(
        &self,
        room: &Room,
        agent: &str,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        self.process
            .announce(&self.dir, self.settings.lock_timeout())?;
        let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
        let held = held.for_housekeeping();
        self.require(&room.name)?;
        self.note_active(&held, room, [agent].into_iter(), now)?;
        let mut activities = Activities::clone(&*room.activities()?);
        if let Some(activity) = activities.get_mut(agent) {
            activity.waiting_until = until;
            activity.last_active_at = now;
            save_activity(room, &activities)?;
        }
        Ok(())
    }
}

/// Somebody waits for as long as this lives.
pub struct Waiting {
    store: Arc<Store>,
    room: Arc<Room>,
    agent: String,
    clock: Clock,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        {
            let mut local = self.room.local();
            if let Some(calls) = local.waiting.get_mut(&self.agent) {
                *calls -= 1;
                if *calls > 0 {
                    return;
                }
            }
            local.waiting.remove(&self.agent);
        }
        let (store, room) = (Arc::clone(&self.store), Arc::clone(&self.room));
        let agent = std::mem::take(&mut self.agent);
        let clock = self.clock.clone();
        // Dropped where nothing may block: when a call is cancelled, for one.
        let work = move || {
            let again = room.local().waiting.contains_key(&agent);
            if !again {
                let _ = store.note_waiting(&room, &agent, None, clock.now());
            }
        };
        self.store.blocking.run_later(work);
    }
}
