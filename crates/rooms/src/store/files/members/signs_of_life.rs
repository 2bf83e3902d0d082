//! Signs of life: which members act through this process, and which of them
//! wait. `absence` deals with members whose signs have stopped.

use jiff::Timestamp;
use kit::Result;

use super::Members;
use crate::{
    model::{
        members::{Activities, Activity, Status},
        remember::remember,
    },
    store::files::lock::Held,
};

/// A sign of life is written after this fraction of the idle time, so that busy agents
/// cost next to nothing.
const NOTED_PER_IDLE: i64 = 8;

impl Members {
    /// A sign of life of somebody who only reads. It keeps agents of this process online,
    /// and brings nobody else online.
    pub fn heard_of(&self, agent: &str, now: Timestamp) {
        {
            let mut local = self.local();
            let Some(heard) = local.heard.get_mut(agent) else {
                return;
            };
            *heard = now.max(*heard);
        }
        let noted = self.activities().ok().and_then(|activities| {
            let activity = activities.get(agent)?;
            Some(activity.last_active_at)
        });
        if noted.is_none_or(|noted| self.is_due(noted, now))
            && let Err(error) = self.sign_of_life(agent, now)
        {
            tracing::debug!(%error, "a sign of life could not be written");
        }
    }

    fn is_due(&self, noted: Timestamp, now: Timestamp) -> bool {
        let idle = self.at.data.settings.idle_ms();
        now.as_millisecond() - noted.as_millisecond() >= idle / NOTED_PER_IDLE
    }

    fn sign_of_life(&self, agent: &str, now: Timestamp) -> Result<()> {
        let held = self.at.data.lock_room(&self.at.name)?;
        self.note_active(&held.for_housekeeping(), [agent].into_iter(), now)
    }

    /// Notes that these members act through this process, and that they are
    /// online. Under the room's lock; writes only what has changed.
    pub fn note_active<'a>(
        &self,
        held: &Held,
        agents: impl Iterator<Item = &'a str>,
        now: Timestamp,
    ) -> Result<()> {
        let (known, members) = (self.activities()?, self.load()?);
        let mut activities = None;
        let mut back = Vec::new();
        for agent in agents {
            remember(&mut self.local().heard, agent, now);
            let Some(user) = members.users.get(agent) else {
                continue;
            };
            if user.status == Status::Offline {
                back.push(agent);
            }
            let noted = known.get(agent);
            if noted.is_none_or(|noted| {
                noted.process != self.at.data.process.id() || self.is_due(noted.last_active_at, now)
            }) {
                let activities = activities.get_or_insert_with(|| Activities::clone(&known));
                let waiting_until = noted.and_then(|noted| noted.waiting_until);
                activities.set(agent, self.activity(waiting_until, now));
            }
        }
        if let Some(activities) = activities {
            self.save_activities(&activities)?;
        }
        if back.is_empty() {
            return Ok(());
        }
        self.edit(held, |presence| {
            let mut changed = false;
            for agent in &back {
                if let Some(user) = presence.users.get_mut(agent) {
                    changed |= user.status != Status::Online;
                    user.status = Status::Online;
                }
            }
            Ok(changed)
        })
    }

    fn activity(&self, waiting_until: Option<Timestamp>, now: Timestamp) -> Activity {
        Activity {
            last_active_at: now,
            process: self.at.data.process.id().to_owned(),
            waiting_until,
        }
    }

    /// Notes that somebody has just entered.
    pub(super) fn note_entered(
        &self,
        known: &Activities,
        agent: &str,
        now: Timestamp,
    ) -> Result<()> {
        let mut activities = known.clone();
        activities.set(agent, self.activity(None, now));
        remember(&mut self.local().heard, agent, now);
        self.save_activities(&activities)
    }

    /// One more call of this agent waits.
    pub fn begin_waiting(&self, agent: &str) {
        let mut local = self.local();
        *local.waiting.entry(agent.to_owned()).or_default() += 1;
    }

    /// One call fewer waits. Returns whether it was the agent's last.
    pub fn end_waiting(&self, agent: &str) -> bool {
        let mut local = self.local();
        if let Some(calls) = local.waiting.get_mut(agent) {
            *calls -= 1;
            if *calls > 0 {
                return false;
            }
        }
        local.waiting.remove(agent);
        true
    }

    pub fn is_waiting(&self, agent: &str) -> bool {
        self.local().waiting.contains_key(agent)
    }

    /// Writes down that `agent` waits, or does not any more.
    pub fn note_waiting(
        &self,
        agent: &str,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        self.at.data.announce()?;
        let held = self.at.lock()?.for_housekeeping();
        self.note_active(&held, [agent].into_iter(), now)?;
        let mut activities = Activities::clone(&*self.activities()?);
        if let Some(activity) = activities.get_mut(agent) {
            activity.waiting_until = until;
            activity.last_active_at = now;
            self.save_activities(&activities)?;
        }
        Ok(())
    }
}
