//! `reminder.create`: sets a reminder, once or repeatedly.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ADDS_OUTSIDE, ID_LENGTH, OK, arguments};
use crate::{
    answers::{NEXT, RepeatView, timestamp},
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    cards::CardLines,
    errors,
    model::{
        moment::{self, Moment, rfc3339_millis},
        repeat::{self, Steps},
        repeat_words::{self, Repeat},
        spoken,
    },
    resources,
    state::CounterState,
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// When to remind, ISO 8601; without an offset in the user's time zone
    #[schemars(length(max = LONGEST_TIME))]
    time: String,
    /// What to be reminded of
    #[schemars(length(min = 1, max = 2_000))]
    note: String,
    /// daily, weekdays, every monday, biweekly, monthly, yearly, 毎日, 平日, 毎週月水金, 隔週, 毎月末 …, or an RRULE
    #[schemars(length(max = 500))]
    repeat: Option<String>,
    /// Give the same key when you retry, and nothing is created twice
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
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

/// A time that passed less than this ago is still accepted.
const TOLERANCE_MS: i64 = 60_000;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reminder.create",
            title: "Create a reminder",
            description: "Remind the user of something, once or repeatedly; the user is asked first.",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::prepared(state, prepare, handle),
    )
    .aliases(&["reminder_create"])
        .rules(&[errors::NOTE_EMPTY])
        .normalise(|_, arguments| {
            arguments::narrow(arguments, "time");
            arguments::text(arguments, "note");
            arguments::text(arguments, "repeat");
        })
        .idempotency_key("idempotency_key")
        .personal(&["note"])
        .card(describe(state, card))
}

/// The rule is expanded here, before the transaction.
fn prepare(
    state: &CounterState,
    context: &Context,
    _: &mut dyn Sql,
    input: Input,
) -> Result<(Reminder, Vec<i64>)> {
    let now = state.now(context);
    let repeat = input.repeat.as_deref();
    let plan = plan(state, &input.time, repeat, now, context.language)?;
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
    state: &CounterState,
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
        message: message(state, context, reminder),
        repeat: RepeatView::of(reminder, context.language),
        next: next.iter().map(|at| rfc3339_millis(*at, &zone)).collect(),
        time_zone: reminder.zone.clone(),
        id: reminder.id.clone(),
    })
}

/// When a reminder fires.
pub struct Plan {
    start: Moment,
    rule: Option<String>,
    /// The first firing.
    pub first: i64,
    /// The first firings, at most [`NEXT`].
    pub next: Vec<i64>,
}

impl Plan {
    pub fn apply(&self, reminder: &mut Reminder) {
        reminder.starts_local = self.start.civil().to_string();
        reminder.starts_at = self.start.millis();
        reminder.zone = self.start.zone_name();
        reminder.rule.clone_from(&self.rule);
        reminder.next_fire_at = Some(self.first);
    }
}

pub fn plan(
    state: &CounterState,
    time: &str,
    repeat: Option<&str>,
    now: Timestamp,
    language: Language,
) -> Result<Plan> {
    let start = state.moment("time", time)?;
    let repeat = match repeat {
        None => Repeat::Once,
        Some(text) => repeat_words::read(text, start.civil())
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
        zone: start.zone_name(),
        rule: None,
        created_at: 0,
        version: 0,
        caller: String::new(),
        changed_by: None,
    };
    if let Repeat::Rule(rule) = repeat {
        probe.rule = Some(rule);
    } else if start.millis() < earliest {
        let said = spoken::time(start.at, &start.zone, &state.zone, now, language);
        return Err(errors::time_passed(
            &said,
            &moment::rfc3339(now, &state.zone),
        ));
    }
    // A series may have begun in the past; its next time must not have passed.
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

/// For the person who is asked: what, when exactly, how often.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    bounds::check_reminders(sql, &context.caller.id)?;
    let language = context.language;
    let now = state.now(context);
    let plan = plan(state, &input.time, input.repeat.as_deref(), now, language)?;
    let when = spoken::in_full(timestamp(plan.first), &plan.start.zone);
    let mut lines = CardLines::new(language);
    lines.fact(("Note", "内容"), &input.note);
    lines.fact(("When", "日時"), &when);
    lines.fact(
        ("Repeats", "繰り返し"),
        &repetition(plan.rule.as_deref(), language),
    );
    Ok(Card {
        summary: match language {
            Language::English => format!("Remind you: {}", input.note),
            Language::Japanese => format!("リマインダーを設定する: {}", input.note),
        },
        lines: lines.done(),
        ..Card::default()
    })
}

/// A rule in words and as an RRULE; empty without one.
pub fn repetition(rule: Option<&str>, language: Language) -> String {
    rule.map_or(String::new(), |rule| {
        format!("{} ({rule})", repeat::say(rule, language))
    })
}

pub fn message(state: &CounterState, context: &Context, reminder: &Reminder) -> String {
    let language = context.language;
    let first = reminder.next_fire_at.unwrap_or(reminder.starts_at);
    let spoken = state.spoken(context, first, &reminder.zone());
    let repeat = reminder
        .rule
        .as_ref()
        .map(|rule| repeat::say(rule, language));
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
