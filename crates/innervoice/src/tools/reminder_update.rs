//! `reminder.update`: changes the time, note or repetition that is given. The user
//! sees each field before and after.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{self, Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OK, OVERWRITES, arguments, reminder_create};
use crate::{
    answers::{RepeatView, next_times, timestamp},
    bounds::{LONGEST_ID, LONGEST_TIME, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{moment::rfc3339_millis, repeat::Steps, spoken},
    resources,
    state::CounterState,
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The reminder's id, rmd_…
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    /// New time, ISO 8601
    #[schemars(length(max = LONGEST_TIME))]
    time: Option<String>,
    /// New note
    #[schemars(length(min = 1, max = 2_000))]
    note: Option<String>,
    /// As in reminder_create; none to stop repeating
    #[schemars(length(max = 500))]
    repeat: Option<String>,
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
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reminder.update",
            title: "Change a reminder",
            description: "Change a reminder's time, note or repetition; what is not given stays. The \
            user is asked first.",
            hints: OVERWRITES,
            effect: Effect::Outside,
        },
        Handler::prepared(state, Update::of, handle),
    )
    .aliases(&["reminder_update"])
        .rules(&[errors::NOTE_EMPTY])
        .normalise(|_, arguments| {
            arguments::narrow(arguments, "id");
            arguments::narrow(arguments, "time");
            arguments::text(arguments, "note");
            arguments::text(arguments, "repeat");
        })
        .personal(&["note"])
        .card(describe(state, card))
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Reminder> {
    reminders::find(sql, id)?.ok_or_else(|| errors::not_found("reminder", id, "reminder_list"))
}

/// A reminder before and after a call.
struct Update {
    before: Reminder,
    after: Reminder,
    /// The next times after the change.
    next: Vec<i64>,
    /// The version of the reminder that the user approves.
    version: String,
}

impl Update {
    /// The rule is expanded here, before the transaction.
    fn of(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        input: Input,
    ) -> Result<Self> {
        let before = find(sql, &input.id)?;
        if input.time.is_none() && input.note.is_none() && input.repeat.is_none() {
            return Err(errors::nothing_to_change());
        }
        if before.status != "active" {
            return Err(errors::already_over("reminder", &before.id, &before.status));
        }
        let mut version = before.version.to_string();
        let mut after = before.clone();
        after.note = input.note.unwrap_or(after.note);
        let next = if input.time.is_some() || input.repeat.is_some() {
            // Without a new time the series continues from its next time.
            let time = input.time.unwrap_or_else(|| {
                let next = before.next_fire_at.unwrap_or(before.starts_at);
                version.push_str(&format!("/{next}"));
                let local = timestamp(next).to_zoned(before.zone()).datetime();
                format!("{local}[{}]", before.zone)
            });
            let repeat = input.repeat.as_deref().or(before.rule.as_deref());
            let now = state.now(context);
            let plan = reminder_create::plan(state, &time, repeat, now, context.language)?;
            plan.apply(&mut after);
            plan.next
        } else {
            next_times(&before, &Steps::new(STEPS_OF_A_CALL))
        };
        Ok(Self {
            before,
            after,
            next,
            version,
        })
    }

    fn changes_anything(&self) -> bool {
        self.before != self.after
    }
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    update: &Update,
) -> Result<Output> {
    context.check_card(None, Some(&update.version))?;
    let (before, after) = (&update.before, &update.after);
    if update.changes_anything() {
        let now = state.now(context).as_millisecond();
        if !reminders::update(sql, before, after, &context.caller.id, now)? {
            return Err(approval::state_changed());
        }
        context.changed(Change::Resource(resources::REMINDERS.into()));
    }
    let zone = after.zone();
    let next = update.next.iter();
    Ok(Output {
        status: OK,
        message: reminder_create::message(state, context, after),
        repeat: RepeatView::of(after, context.language),
        next: next.map(|at| rfc3339_millis(*at, &zone)).collect(),
        id: after.id.clone(),
    })
}

/// For the person who is asked: the reminder, and each field before and after.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let update = Update::of(state, context, sql, input)?;
    let mut lines = CardLines::new(context.language);
    add_lines(&mut lines, &update.before, &update.after);
    let note = &update.before.note;
    Ok(Card {
        summary: match context.language {
            Language::English => format!("Change the reminder: {note}"),
            Language::Japanese => format!("リマインダーを変更する: {note}"),
        },
        lines: lines.done(),
        exempt: !update.changes_anything(),
        state: Some(update.version),
        ..Card::default()
    })
}

/// Adds the fields of a reminder, before and after where they differ.
pub fn add_lines(lines: &mut CardLines, before: &Reminder, after: &Reminder) {
    let language = lines.language;
    let when = |reminder: &Reminder| {
        let at = reminder.next_fire_at.unwrap_or(reminder.starts_at);
        spoken::in_full(timestamp(at), &reminder.zone())
    };
    let repeats =
        |reminder: &Reminder| reminder_create::repetition(reminder.rule.as_deref(), language);
    lines.field(("Note", "内容"), &before.note, &after.note);
    lines.field(("When", "日時"), &when(before), &when(after));
    lines.field(("Repeats", "繰り返し"), &repeats(before), &repeats(after));
}
