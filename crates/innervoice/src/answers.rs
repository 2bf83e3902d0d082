//! Types of answers that several tools share.

pub mod sync;

use std::{borrow::Cow, ops::Not};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use kit::{Language, Result, Sql, Warning};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

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

/// Replaces the fields of an object in an output schema by their names, in one
/// description. Nobody needs their types, and every model reads the schemas.
pub fn by_name(schema: &mut Schema) {
    schema.remove("required");
    let Some(Value::Object(properties)) = schema.remove("properties") else {
        return;
    };
    let fields = properties.iter().map(|(name, field)| {
        let about = field.get("description").and_then(Value::as_str);
        about.map_or_else(|| name.clone(), |about| format!("{name} ({about})"))
    });
    let fields: Vec<String> = fields.collect();
    schema.insert("description".into(), fields.join(", ").into());
}

/// The schema of an object that is described elsewhere, or by its names.
pub struct AsListed;

impl JsonSchema for AsListed {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AsListed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct EventView {
    pub id: String,
    pub title: String,
    /// a day if all_day
    pub start: String,
    /// the last day if all_day
    pub end: String,
    pub duration_min: i64,
    pub time_zone: String,
    #[serde(skip_serializing_if = "Not::not")]
    #[schemars(with = "Option<bool>")]
    pub all_day: bool,
    /// {rule, text}
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

impl EventView {
    pub fn of(event: &Event, language: Language) -> Self {
        let (start, end) = start_and_end(event);
        Self {
            id: event.id.clone(),
            title: event.title.clone(),
            start,
            end,
            duration_min: event.minutes(),
            time_zone: event.zone.clone(),
            all_day: event.all_day,
            repeat: RepeatView::of(event.rule.as_deref(), language),
            description: given(&event.description),
            location: given(&event.location),
        }
    }
}

/// Times, or the days of an all-day event.
pub fn start_and_end(event: &Event) -> (String, String) {
    let zone = event.zone();
    match event.all_day {
        true => (event.day().to_string(), event.last_day().to_string()),
        false => (
            rfc3339_millis(event.starts_at, &zone),
            rfc3339_millis(event.ends_at, &zone),
        ),
    }
}

/// An event at the same time as another.
#[derive(Serialize)]
pub struct Conflict {
    id: String,
    title: String,
    start: String,
    end: String,
}

impl From<&Event> for Conflict {
    fn from(event: &Event) -> Self {
        let (start, end) = start_and_end(event);
        Self {
            id: event.id.clone(),
            title: event.title.clone(),
            start,
            end,
        }
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
pub struct MessageView {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    pub platform: String,
    pub address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub subject: String,
    pub text: String,
    /// unknown: may have gone out
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    #[schemars(skip)]
    pub attempts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
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
            subject: match item.channel.as_str() {
                "email" => item.subject.clone(),
                _ => String::new(),
            },
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
#[schemars(transform = by_name)]
pub struct RepeatView {
    /// RFC 5545
    pub rule: String,
    pub text: String,
}

impl RepeatView {
    pub fn of(rule: Option<&str>, language: Language) -> Option<Self> {
        rule.map(|rule| Self {
            rule: rule.to_owned(),
            text: repeat::say(rule, language),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
pub struct ReminderView {
    pub id: String,
    pub note: String,
    /// active, done or cancelled
    pub status: String,
    pub time_zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatView>,
    /// at most three times
    pub next: Vec<String>,
    /// {due_at, fired_at, outcome, coalesced}
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fired: Option<FiringView>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
pub struct FiringView {
    pub due_at: String,
    pub fired_at: String,
    /// on_time, late or missed
    pub outcome: String,
    /// Earlier times it includes
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
            repeat: RepeatView::of(reminder.rule.as_deref(), language),
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

/// A warning if a changed series no longer comes on days whose occurrence was moved or
/// skipped.
pub fn exceptions_dropped(days: &[Date], language: Language) -> Vec<Warning> {
    if days.is_empty() {
        return Vec::new();
    }
    let message = match language {
        Language::English => {
            "The series no longer comes on some days that were moved or skipped; those changes are gone."
        }
        Language::Japanese => {
            "個別に変更・取り消しした回のうち、新しい繰り返しに含まれない日の分はなくなりました。"
        }
    };
    let days: Vec<String> = days.iter().map(Date::to_string).collect();
    vec![Warning::new("EXCEPTIONS_DROPPED", message).detail("dates", days)]
}
