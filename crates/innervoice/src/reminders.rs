//! Fires reminders: each due time once. Missed times fire once, late.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Result, Sql, counter::Announce, sql::Budget};
use serde_json::json;

use crate::{
    answers::timestamp,
    bounds::{MOST_FIRINGS, STEPS_OF_A_FIRING},
    model::{
        moment,
        repeat::{Steps, TooCostly},
        spoken,
    },
    outbox::subject_of,
    state::CounterState,
    store::{
        outbox::{self, NewItem},
        reminders::{self, Firing, Reminder},
    },
    worker::Worker,
};

/// A reminder that fires within this time is on time.
const ON_TIME_MS: i64 = 60_000;
/// A reminder that is later than this is recorded, but not sent.
const TOO_LATE_MS: i64 = 24 * 60 * 60_000;
/// Reminders in one transaction.
const BATCH: i64 = 100;
/// Missed times are counted up to this: a day of minutes, and some more.
const MOST_MISSED: usize = 2_000;
const ID_LENGTH: usize = 20;

const LEASE: &str = "innervoice-reminders";

impl Worker {
    /// Fires reminders until it is stopped.
    pub async fn remind(self, announce: Announce) {
        self.repeat(LEASE, || self.remind_round(&announce)).await;
    }

    /// Fires everything that is due.
    pub async fn remind_round(&self, announce: &Announce) -> Result<()> {
        loop {
            let now = self.now();
            let look = move |sql: &mut dyn Sql| is_due(sql, now);
            let due = self.store().query(Budget::default(), look).await?;
            if !due || !self.holds(LEASE).await? {
                return Ok(());
            }
            // Rules are expanded beside other readers: the transaction only writes.
            let plan = move |sql: &mut dyn Sql| {
                let due = reminders::due(sql, now, BATCH)?;
                Ok(due
                    .into_iter()
                    .filter_map(|one| Due::of(one, now))
                    .collect())
            };
            let due: Vec<Due> = self.store().query(Budget::default(), plan).await?;
            let state = Arc::clone(&self.state);
            let fire =
                move |sql: &mut dyn Sql| due.iter().try_for_each(|one| one.fire(&state, sql, now));
            self.store().transaction(Budget::default(), fire).await?;
            announce(kit::context::Change::Resource(
                crate::resources::REMINDERS.into(),
            ));
        }
    }
}

fn is_due(sql: &mut dyn Sql, now: i64) -> Result<bool> {
    Ok(!reminders::due(sql, now, 1)?.is_empty())
}

/// A reminder that is due, and when it fires next.
struct Due {
    reminder: Reminder,
    /// The time it fires for: the last one, if several were missed.
    at: i64,
    /// How many earlier missed times this firing includes, up to [`MOST_MISSED`].
    coalesced: usize,
    next: Option<i64>,
}

impl Due {
    fn of(reminder: Reminder, now: i64) -> Option<Self> {
        let due = reminder.next_fire_at?;
        let times_after = |after: i64, most: usize| {
            let steps = Steps::new(STEPS_OF_A_FIRING);
            let times = reminder.times_after(after, most, &steps);
            times.unwrap_or_else(|TooCostly { found }| {
                tracing::warn!(reminder = reminder.id, "the rule takes too many steps");
                found.into_iter().map(Timestamp::as_millisecond).collect()
            })
        };
        let missed = |after: i64| -> Vec<i64> {
            let times = times_after(after, MOST_MISSED);
            times.into_iter().filter(|at| *at <= now).collect()
        };
        let mut times = missed(due);
        let coalesced = times.len();
        if coalesced == MOST_MISSED {
            // After a longer time only the last day is examined: older times are
            // too late to be sent.
            times.extend(missed(now - TOO_LATE_MS));
        }
        let at = times.last().copied().unwrap_or(due);
        Some(Self {
            next: times_after(at.max(now), 1).first().copied(),
            at,
            coalesced,
            reminder,
        })
    }

    /// In the caller's transaction.
    fn fire(&self, state: &CounterState, sql: &mut dyn Sql, now: i64) -> Result<()> {
        let (reminder, last) = (&self.reminder, self.at);
        if !reminders::advance(sql, reminder, self.next, now)? {
            return Ok(());
        }
        let outcome = if now - last <= ON_TIME_MS {
            "on_time"
        } else if now - last <= TOO_LATE_MS {
            "late"
        } else {
            "missed"
        };
        let firing = Firing {
            id: kit::ids::random("fir_", ID_LENGTH),
            reminder_id: reminder.id.clone(),
            note: reminder.note.clone(),
            due_at: last,
            fired_at: now,
            outcome,
            coalesced: i64::try_from(self.coalesced).unwrap_or(i64::MAX),
        };
        if !reminders::record(sql, &firing)? {
            return Ok(());
        }
        reminders::forget_old(sql, &reminder.id, MOST_FIRINGS)?;
        if outcome == "missed" {
            return Ok(());
        }
        for (channel, address) in state.channels.for_reminders() {
            let body = body(&firing, reminder, channel);
            outbox::insert(
                sql,
                &NewItem {
                    id: &format!("{}-{channel}", firing.id),
                    origin: "reminder",
                    firing_id: Some(&firing.id),
                    channel,
                    contact_id: None,
                    recipient_name: None,
                    address: &address,
                    subject: &subject_of(&reminder.note),
                    body: &body,
                    not_before: now,
                    caller: "desk",
                    created_at: now,
                },
            )?;
        }
        Ok(())
    }
}

fn body(firing: &Firing, reminder: &Reminder, channel: &str) -> String {
    let zone = reminder.zone();
    let is_late = firing.outcome == "late";
    if channel == "webhook" {
        return json!({
            "type": "reminder.fired",
            "id": firing.id,
            "reminder_id": firing.reminder_id,
            "note": firing.note,
            "due_at": moment::rfc3339_millis(firing.due_at, &zone),
            "fired_at": moment::rfc3339_millis(firing.fired_at, &zone),
            "late": is_late,
            "coalesced": firing.coalesced,
        })
        .to_string();
    }
    let due = spoken::in_full(timestamp(firing.due_at), &zone);
    if is_late {
        format!("{}\n\n{due}, late", firing.note)
    } else {
        format!("{}\n\n{due}", firing.note)
    }
}
