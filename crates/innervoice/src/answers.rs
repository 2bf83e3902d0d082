//! Types of answers that several tools share.

pub mod sync;

use jiff::{Timestamp, tz::TimeZone};
use kit::{Language, Result, Sql};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    bounds::STEPS_OF_A_LIST,
    model::{
        moment::rfc3339_millis,
        repeat::{self, Steps},
    },
    store::{
        events::Event,
        outbox::OutboxItem,
        reminders::{self, Reminder},
    },
};

/// The answer of a tool that only reports success.
#[derive(Serialize, JsonSchema)]
pub struct Done {
    pub status: &'static str,
    pub id: String,
    // One sentence to read out; the instructions say so.
    pub message: String,
}

#[derive(Serialize, JsonSchema)]
pub struct EventView {
    pub id: String,
    pub title: String,
    /// With the offset of its zone.
    pub start: String,
    pub end: String,
    pub duration_min: i64,
    pub time_zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> Self {
        let zone = event.zone();
        Self {
            id: event.id.clone(),
            title: event.title.clone(),
            start: rfc3339_millis(event.starts_at, &zone),
            end: rfc3339_millis(event.ends_at, &zone),
            duration_min: event.minutes(),
            time_zone: event.zone.clone(),
            description: given(&event.description),
            location: given(&event.location),
        }
    }
}

/// An event at the same time as another.
#[derive(Serialize, JsonSchema)]
pub struct Conflict {
    pub id: String,
    pub title: String,
    pub start: String,
    pub end: String,
}

impl From<&Event> for Conflict {
    fn from(event: &Event) -> Self {
        let zone = event.zone();
        Self {
            id: event.id.clone(),
            title: event.title.clone(),
            start: rfc3339_millis(event.starts_at, &zone),
            end: rfc3339_millis(event.ends_at, &zone),
        }
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[derive(Serialize, JsonSchema)]
pub struct MessageView {
    pub id: String,
    /// The name, if it is a contact's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    pub platform: String,
    pub address: String,
    pub text: String,
    /// unknown: a text that may have gone out
    pub status: String,
    /// Why a queued message stays where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    pub attempts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub created_at: String,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
}

impl MessageView {
    pub fn of(item: &OutboxItem, is_configured: bool, zone: &TimeZone) -> Self {
        let held = item.status == "queued" && !is_configured;
        Self {
            id: item.id.clone(),
            recipient: item.recipient_name.clone(),
            platform: item.channel.clone(),
            address: item.address.clone(),
            text: item.body.clone(),
            status: item.status.clone(),
            held: held.then(|| "not_configured".into()),
            attempts: item.attempts,
            last_error: item.last_error.clone(),
            created_at: rfc3339_millis(item.created_at, zone),
            next_attempt_at: item
                .next_attempt_at
                .filter(|_| !held)
                .map(|at| rfc3339_millis(at, zone)),
            sent_at: item.sent_at.map(|at| rfc3339_millis(at, zone)),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct RepeatView {
    /// RFC 5545, without `RRULE:`.
    pub rule: String,
    /// The rule in words.
    pub text: String,
}

impl RepeatView {
    pub fn of(reminder: &Reminder, language: Language) -> Option<Self> {
        reminder.rule.as_ref().map(|rule| Self {
            rule: rule.clone(),
            text: repeat::say(rule, language),
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ReminderView {
    pub id: String,
    pub note: String,
    /// active, done or cancelled
    pub status: String,
    pub time_zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatView>,
    /// The next times, at most three.
    pub next: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fired: Option<FiringView>,
}

#[derive(Serialize, JsonSchema)]
pub struct FiringView {
    pub due_at: String,
    pub fired_at: String,
    /// on_time, late, or missed (noticed too late to tell anybody)
    pub outcome: String,
    /// Earlier times it stands for as well.
    pub coalesced: i64,
}

/// How many coming times are listed.
pub const NEXT: usize = 3;

impl ReminderView {
    pub fn all(sql: &mut dyn Sql, found: &[Reminder], language: Language) -> Result<Vec<Self>> {
        let steps = Steps::new(STEPS_OF_A_LIST);
        let view = |reminder: &Reminder| {
            let last = reminders::last_firing(sql, &reminder.id)?;
            Ok(Self::of(reminder, language, last, &steps))
        };
        found.iter().map(view).collect()
    }

    fn of(
        reminder: &Reminder,
        language: Language,
        last: Option<(i64, i64, String, i64)>,
        steps: &Steps,
    ) -> Self {
        let zone = reminder.zone();
        let next = next_times(reminder, steps);
        Self {
            id: reminder.id.clone(),
            note: reminder.note.clone(),
            status: reminder.status.clone(),
            time_zone: reminder.zone.clone(),
            repeat: RepeatView::of(reminder, language),
            next: next.iter().map(|at| rfc3339_millis(*at, &zone)).collect(),
            last_fired: last.map(|(due_at, fired_at, outcome, coalesced)| FiringView {
                due_at: rfc3339_millis(due_at, &zone),
                fired_at: rfc3339_millis(fired_at, &zone),
                outcome,
                coalesced,
            }),
        }
    }
}

/// When a reminder fires next. If the steps run out, the time in its row.
pub fn next_times(reminder: &Reminder, steps: &Steps) -> Vec<i64> {
    let Some(at) = reminder.next_fire_at else {
        return Vec::new();
    };
    reminder
        .times_after(at - 1, NEXT, steps)
        .unwrap_or_else(|_| vec![at])
}

pub fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
