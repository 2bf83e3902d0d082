//! Firing reminders: each once, late if need be, and never a pile of them.

use std::sync::Arc;

use kit::{Result, Sql, counter::Announce, sql::Budget};
use serde_json::json;

use crate::{
    answers::timestamp,
    model::when,
    outbox::subject_of,
    store::{
        outbox::{self, New},
        reminders::{self, Firing, Reminder},
    },
    voice::Voice,
    worker::Worker,
};

/// Up to here a reminder counts as on time.
const ON_TIME_MS: i64 = 60_000;
/// What was missed by more is only written down.
const TOO_LATE_MS: i64 = 24 * 60 * 60_000;
/// Of one transaction.
const BATCH: i64 = 100;
/// More missed times than this are not counted one by one.
const MOST_MISSED: usize = 100_000;
const ID_LENGTH: usize = 20;

const LEASE: &str = "innervoice-reminders";

impl Worker {
    /// Fires reminders until it is stopped.
    pub async fn remind(self, announce: Announce) {
        self.repeat(LEASE, || self.remind_round(&announce)).await;
    }

    /// Everything that is due fires once.
    pub async fn remind_round(&self, announce: &Announce) -> Result<()> {
        loop {
            let now = self.now();
            let look = move |sql: &mut dyn Sql| is_due(sql, now);
            let due = self.store().query(Budget::default(), look).await?;
            if !due || !self.holds(LEASE).await? {
                return Ok(());
            }
            let voice = Arc::clone(&self.voice);
            let work = move |sql: &mut dyn Sql| fire(&voice, sql, now);
            let fired = self.store().transaction(Budget::default(), work).await?;
            if fired > 0 {
                announce(kit::context::Change::Resource(
                    crate::resources::REMINDERS.into(),
                ));
            }
        }
    }
}

fn is_due(sql: &mut dyn Sql, now: i64) -> Result<bool> {
    Ok(!reminders::due(sql, now, 1)?.is_empty())
}

/// Fires what is due, in the caller's transaction; says how many were dealt with.
fn fire(voice: &Voice, sql: &mut dyn Sql, now: i64) -> Result<usize> {
    let due = reminders::due(sql, now, BATCH)?;
    for reminder in &due {
        fire_one(voice, sql, reminder, now)?;
    }
    Ok(due.len())
}

fn fire_one(voice: &Voice, sql: &mut dyn Sql, reminder: &Reminder, now: i64) -> Result<()> {
    let Some(due) = reminder.next_fire_at else {
        return Ok(());
    };
    // Of several missed times the last one stands for all.
    let mut times = reminder.times_after(due, MOST_MISSED.min(missed_bound(reminder, due, now)));
    times.retain(|at| *at <= now);
    let stands_for = i64::try_from(times.len()).unwrap_or(i64::MAX);
    let last = times.last().copied().unwrap_or(due);
    let next = reminder.times_after(last.max(now), 1).first().copied();
    if !reminders::advance(sql, &reminder.id, due, next, now)? {
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
        coalesced: stands_for,
    };
    if !reminders::record(sql, &firing)? || outcome == "missed" {
        return Ok(());
    }
    for (channel, address) in voice.channels.for_reminders() {
        let body = body(&firing, reminder, channel);
        outbox::insert(
            sql,
            &New {
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

/// A series comes at most once an hour, so there is no need to look further.
fn missed_bound(reminder: &Reminder, due: i64, now: i64) -> usize {
    match reminder.rule {
        None => 0,
        Some(_) => usize::try_from((now - due) / 60_000 + 2).unwrap_or(MOST_MISSED),
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
            "due_at": when::rfc3339_millis(firing.due_at, &zone),
            "fired_at": when::rfc3339_millis(firing.fired_at, &zone),
            "late": is_late,
            "coalesced": firing.coalesced,
        })
        .to_string();
    }
    let due = when::in_full(timestamp(firing.due_at), &zone);
    if is_late {
        format!("{}\n\n{due}, late", firing.note)
    } else {
        format!("{}\n\n{due}", firing.note)
    }
}
