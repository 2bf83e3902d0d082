//! `reminder.create`: a reminder, once or again and again.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{Card, Describe, Line},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ID_LENGTH, MAKES, OK, arguments, calendar_create::zone_name};
use crate::{
    answers::{NEXT, RepeatView, timestamp},
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    errors,
    model::{
        repeat::Steps,
        when::{self, Moment, rfc3339_millis},
        words::{self, Repeat},
    },
    resources,
    store::reminders::{self, Reminder},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    time: String,
    note: String,
    repeat: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "time": {
                "type": "string",
                "description": "When to remind, ISO 8601; without an offset in the user's time zone",
                "maxLength": LONGEST_TIME
            },
            "note": {
                "type": "string",
                "description": "What to be reminded of",
                "minLength": 1,
                "maxLength": 2_000
            },
            "repeat": {
                "type": "string",
                "description": "daily, weekdays, every monday, biweekly, monthly, yearly, 毎日, 平日, 毎週月水金, 隔週, 毎月末 …, or an RRULE",
                "maxLength": 500
            },
            "idempotency_key": {
                "type": "string",
                "description": "Give the same key when you retry, and nothing is created twice",
                "maxLength": LONGEST_KEY
            }
        },
        "required": ["time", "note"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    /// The reminder's id.
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<RepeatView>,
    /// When it comes, at most the next three times.
    next: Vec<String>,
    time_zone: String,
}

/// "In a moment" and a slow network are not the past.
const TOLERANCE_MS: i64 = 60_000;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "reminder.create",
        aliases: &["reminder_create"],
        title: "Create a reminder",
        description: "Remind the user of something, once or repeatedly; the user is asked first.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: MAKES,
        effect: Effect::Outside,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: Some("idempotency_key"),
        rules: &[errors::NOTE_EMPTY],
        normalise: |_, arguments| {
            arguments::narrow(arguments, "time");
            arguments::text(arguments, "note");
            arguments::text(arguments, "repeat");
        },
        meta: None,
        personal: &["note"],
        card: Some(card(voice)),
        inner_calls: None,
        run: Run::prepared(voice, prepare, handle),
    }
}

/// The rule is expanded here, before the transaction.
fn prepare(
    voice: &Voice,
    context: &Context,
    _: &mut dyn Sql,
    input: Input,
) -> Result<(Reminder, Vec<i64>)> {
    let now = voice.now(context);
    let repeat = input.repeat.as_deref();
    let plan = plan(voice, &input.time, repeat, now, context.language)?;
    let mut reminder = Reminder {
        id: kit::ids::random("rmd_", ID_LENGTH),
        note: input.note,
        status: "active".into(),
        next_fire_at: None,
        starts_local: String::new(),
        starts_at: 0,
        zone: String::new(),
        rule: None,
        created_at: now.as_millisecond(),
        version: 0,
        caller: (*context.caller.id).to_owned(),
        changed_by: None,
    };
    plan.apply(&mut reminder);
    Ok((reminder, plan.next))
}

fn handle(
    voice: &Voice,
    context: &Context,
    sql: &mut dyn Sql,
    (reminder, next): &(Reminder, Vec<i64>),
) -> Result<Output> {
    bounds::check_reminders(sql, &context.caller.id)?;
    reminders::insert(sql, reminder)?;
    context.changed(Change::Resource(resources::REMINDERS.into()));
    let zone = reminder.zone();
    Ok(Output {
        status: OK,
        message: message(voice, context, reminder),
        repeat: RepeatView::of(reminder, context.language),
        next: next.iter().map(|at| rfc3339_millis(*at, &zone)).collect(),
        time_zone: reminder.zone.clone(),
        id: reminder.id.clone(),
    })
}

/// A time and a repetition that go together.
pub struct Plan {
    start: Moment,
    rule: Option<String>,
    /// The first time it comes.
    pub first: i64,
    /// The first times it comes, at most [`NEXT`].
    pub next: Vec<i64>,
}

impl Plan {
    pub fn apply(&self, reminder: &mut Reminder) {
        reminder.starts_local = self.start.civil().to_string();
        reminder.starts_at = self.start.millis();
        reminder.zone = zone_name(&self.start);
        reminder.rule.clone_from(&self.rule);
        reminder.next_fire_at = Some(self.first);
    }
}

pub fn plan(
    voice: &Voice,
    time: &str,
    repeat: Option<&str>,
    now: Timestamp,
    language: Language,
) -> Result<Plan> {
    let start = voice.moment("time", time)?;
    let repeat = match repeat {
        None => Repeat::Once,
        Some(text) => words::read(text, start.civil())
            .map_err(|why| errors::invalid_repeat(text, Some(&why)))?
            .ok_or_else(|| errors::invalid_repeat(text, None))?,
    };
    let earliest = now.as_millisecond() - TOLERANCE_MS;
    let mut probe = Reminder {
        id: String::new(),
        note: String::new(),
        status: String::new(),
        next_fire_at: None,
        starts_local: start.civil().to_string(),
        starts_at: start.millis(),
        zone: zone_name(&start),
        rule: None,
        created_at: 0,
        version: 0,
        caller: String::new(),
        changed_by: None,
    };
    if let Repeat::Rule(rule) = repeat {
        probe.rule = Some(rule);
    } else if start.millis() < earliest {
        let spoken = when::spoken(start.at, &start.zone, &voice.zone, now, language);
        return Err(errors::time_passed(
            &spoken,
            &when::rfc3339(now, &voice.zone),
        ));
    }
    // A series may have begun in the past; what matters is when it comes next.
    let from = if probe.rule.is_some() {
        earliest
    } else {
        start.millis() - 1
    };
    let steps = Steps::new(bounds::STEPS_OF_A_CALL);
    let next = probe.times_after(from, NEXT, &steps);
    let next = next.map_err(|_| errors::rule_too_costly())?;
    let first = *next.first().ok_or_else(errors::never_fires)?;
    Ok(Plan {
        start,
        rule: probe.rule,
        first,
        next,
    })
}

/// For a person who is asked: what, when exactly, how often.
fn card(voice: &Arc<Voice>) -> Describe {
    let voice = Arc::clone(voice);
    Arc::new(move |context, sql, arguments| {
        let input: Input = kit::handler::typed(arguments.clone())?;
        bounds::check_reminders(sql, &context.caller.id)?;
        let now = voice.now(context);
        let plan = plan(
            &voice,
            &input.time,
            input.repeat.as_deref(),
            now,
            context.language,
        )?;
        let zone = &plan.start.zone;
        let repeat = repetition(plan.rule.as_deref(), context.language);
        let (summary, labels) = match context.language {
            Language::English => (
                format!("Remind you: {}", input.note),
                ["Note", "When", "Repeats"],
            ),
            Language::Japanese => (
                format!("リマインダーを設定する: {}", input.note),
                ["内容", "日時", "繰り返し"],
            ),
        };
        let texts = [
            input.note,
            when::in_full(timestamp(plan.first), zone),
            repeat,
        ];
        let lines = labels.into_iter().zip(texts);
        Ok(Card {
            summary,
            lines: lines
                .filter(|(_, text)| !text.is_empty())
                .map(|(label, text)| Line::new(label, text))
                .collect(),
            ..Card::default()
        })
    })
}

/// A rule in words and in its own letters; empty where there is none.
pub fn repetition(rule: Option<&str>, language: Language) -> String {
    rule.map_or(String::new(), |rule| {
        format!("{} ({rule})", words::say(rule, language))
    })
}

pub fn message(voice: &Voice, context: &Context, reminder: &Reminder) -> String {
    let language = context.language;
    let first = reminder.next_fire_at.unwrap_or(reminder.starts_at);
    let spoken = voice.spoken(context, first, &reminder.zone());
    let repeat = reminder
        .rule
        .as_ref()
        .map(|rule| words::say(rule, language));
    let note = &reminder.note;
    match (language, repeat) {
        (Language::English, None) => format!("I will remind you {spoken}: {note}."),
        (Language::English, Some(repeat)) => {
            format!("I will remind you {repeat}, first {spoken}: {note}.")
        }
        (Language::Japanese, None) => format!("{spoken}に「{note}」をお知らせします。"),
        (Language::Japanese, Some(repeat)) => {
            format!("{repeat}、次は{spoken}に「{note}」をお知らせします。")
        }
    }
}
