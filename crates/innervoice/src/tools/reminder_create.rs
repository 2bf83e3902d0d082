//! `reminder.create`: sets a reminder, once or repeatedly.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Today, Tool,
    approval::{Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ADDS_OUTSIDE, ID_LENGTH, OK, arguments, reminder};
use crate::{
    answers::RepeatView,
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    cards::CardLines,
    model::{exceptions::Exceptions, moment::rfc3339_millis},
    resources,
    state::{CounterState, here},
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"time": "+30m", "note": "Take out the bread"}]))]
pub struct Input {
    /// As start in calendar_create (通知時刻)
    #[schemars(length(max = LONGEST_TIME))]
    time: String,
    /// リマインダーの内容
    #[schemars(length(min = 1, max = 2_000))]
    note: String,
    /// daily, weekdays, every monday, first monday of every month, 毎日, 毎週月水金 …, with an end if wanted (until the end of the year, 5 times, 年末まで), or an RRULE (繰り返し設定)
    #[schemars(length(max = 500))]
    repeat: Option<String>,
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<RepeatView>,
    next: Vec<String>,
    #[serde(flatten)]
    today: Today,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reminder.create",
            title: "Create reminder",
            description: "Remind the user, once or repeatedly; the user is asked first. リマインダーを作成します。",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::prepared(state, prepare, handle),
    )
    .in_japanese("リマインダーの作成")
    .aliases(&["reminder_create"])
    .rules(&[crate::errors::NOTE_EMPTY])
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
    let plan = reminder::plan(state, context, &input.time, input.repeat.as_deref(), None)?;
    let mut reminder = Reminder {
        id: kit::ids::random("rmd_", ID_LENGTH),
        note: input.note,
        status: "active".into(),
        next_fire_at: None,
        starts_local: String::new(),
        starts_at: 0,
        zone: String::new(),
        rule: None,
        created_at: state.now(context).as_millisecond(),
        version: 0,
        caller: (*context.caller.id).to_owned(),
        changed_by: None,
        exceptions: Exceptions::default(),
    };
    plan.apply(&mut reminder);
    let next = reminder::set_next(&mut reminder, reminder::earliest(state, context))?;
    Ok((reminder, next))
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
        message: reminder::message(state, context, reminder),
        repeat: RepeatView::of(reminder.rule.as_deref(), context.language),
        next: next.iter().map(|at| rfc3339_millis(*at, &zone)).collect(),
        id: reminder.id.clone(),
        today: Today::of(context),
    })
}

/// For the person who is asked: what, when exactly, how often.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    bounds::check_reminders(sql, &context.caller.id)?;
    let language = context.language;
    let (reminder, _) = prepare(state, context, sql, input)?;
    let mut lines = CardLines::new(language);
    reminder::add_lines(&mut lines, &reminder, &reminder);
    let note = &reminder.note;
    Ok(Card {
        summary: match language {
            Language::English => format!("Remind you: {note}"),
            Language::Japanese => format!("リマインダーを設定する: {note}"),
        },
        lines: lines.done(),
        asked_at: Some(here(context).now.as_millisecond()),
        ..Card::default()
    })
}
