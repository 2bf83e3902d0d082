//! `calendar.update`: changes the fields that are given, of an event or of one
//! occurrence. The user sees each field before and after.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{
    Context, Definition, Effect, Handler, Language, Result, Sql, Tool,
    approval::{self, Card, describe},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    OVERWRITES,
    event::{self, Output},
    event_changes, occurrence,
};
use crate::{
    answers::exceptions_dropped,
    bounds::{LONGEST_ID, LONGEST_TIME, MOST_EXCEPTIONS, STEPS_OF_A_CALL},
    cards::CardLines,
    errors::{self, LONGEST_MINUTES},
    model::{
        moment::Here,
        repeat::{self, Steps},
    },
    state::{CounterState, here},
    store::{
        caldav::{self, ServerCopy},
        events::{self, Event},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    #[schemars(length(min = 1, max = 500))]
    title: Option<String>,
    /// As in calendar_create; without a day it keeps the day
    #[schemars(length(max = LONGEST_TIME))]
    start: Option<String>,
    #[schemars(with = "Option<f64>", range(min = 1, max = LONGEST_MINUTES))]
    duration_min: Option<i64>,
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    #[schemars(length(max = 500))]
    location: Option<String>,
    /// none stops it
    #[schemars(length(max = 500))]
    repeat: Option<String>,
    all_day: Option<bool>,
    /// Move only this day's occurrence
    #[schemars(length(max = LONGEST_TIME))]
    date: Option<String>,
    /// Fields to empty
    #[serde(default)]
    clear: Vec<Clearable>,
    /// Replace the calendar server's copy after a conflict
    overwrite: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Description,
    Location,
}

#[derive(Serialize, JsonSchema)]
pub struct Changed {
    #[serde(flatten)]
    output: Output,
    // The names of the fields.
    changed: Vec<&'static str>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let tool = Tool::new(
        Definition {
            name: "calendar.update",
            title: "Change event",
            description: "Change an event, or one occurrence with date; the user is asked first.",
            hints: OVERWRITES,
            effect: Effect::Outside,
        },
        Handler::prepared(state, Update::of, handle),
    )
    .in_japanese("予定の変更");
    event::with_fields(tool)
        .aliases(&["calendar_update"])
        .keeps_empty(&["date"])
        .card(describe(state, card))
}

/// An event before and after a call.
struct Update {
    before: Event,
    after: Event,
    /// What the user sees and hears: the event, or the occurrence that is moved.
    shown: (Event, Event),
    /// The copy on the server that is replaced; `Some(None)` if it was deleted.
    replaces: Option<Option<ServerCopy>>,
    /// Coming days whose occurrence was moved or skipped, and which the changed series
    /// does not have.
    dropped: Vec<Date>,
    /// Whether only one occurrence of a series is moved.
    moves_one: bool,
}

impl Update {
    /// Rules are expanded here, before the transaction.
    fn of(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        mut input: Input,
    ) -> Result<Self> {
        let before = event::find(sql, &input.id)?;
        let overwrites = input.overwrite == Some(true) && state.caldav.is_some();
        if !overwrites && !input.names_a_change() {
            return Err(errors::nothing_to_change());
        }
        if before.cancelled_at.is_some() {
            return Err(errors::already_over("event", &before.id, "cancelled"));
        }
        let replaces = match overwrites {
            true => caldav::in_conflict(sql, &before)?,
            false => None,
        };
        // What only a whole event has is meant for the whole series.
        let may_be_one = before.rule.is_some() && input.names_more_than_time().is_none();
        let date = occurrence::given(input.date.take(), &before.title, may_be_one)?;
        let moves_one = date.is_some() && before.rule.is_some();
        let (after, shown, dropped) = match date {
            Some(date) => {
                let (after, shown) = one_occurrence(context, &before, &date, &input)?;
                (after, shown, Vec::new())
            }
            None => {
                let (after, dropped) = whole(context, &before, input)?;
                let shown = (before.clone(), after.clone());
                (after, shown, dropped)
            }
        };
        Ok(Self {
            before,
            after,
            shown,
            replaces,
            dropped,
            moves_one,
        })
    }

    fn changes_anything(&self) -> bool {
        self.before != self.after || self.replaces.is_some()
    }

    /// What the user approves: this version of the event, and this copy of it.
    fn state(&self) -> String {
        let copy = self.replaces.as_ref().map(|copy| match copy {
            Some(copy) => copy.etag.as_deref().unwrap_or("no tag"),
            None => "deleted",
        });
        format!("{}/{}", self.before.sequence, copy.unwrap_or_default())
    }
}

impl Input {
    fn names_a_change(&self) -> bool {
        self.start.is_some() || self.duration_min.is_some() || self.names_more_than_time().is_some()
    }

    /// A field that only a whole event has.
    fn names_more_than_time(&self) -> Option<&'static str> {
        let fields = [
            ("title", self.title.is_some()),
            ("description", self.description.is_some()),
            ("location", self.location.is_some()),
            ("repeat", self.repeat.is_some()),
            ("all_day", self.all_day.is_some()),
            ("clear", !self.clear.is_empty()),
        ];
        fields
            .iter()
            .find_map(|(name, is_given)| is_given.then_some(*name))
    }
}

/// Moves one occurrence.
fn one_occurrence(
    context: &Context,
    before: &Event,
    date: &str,
    input: &Input,
) -> Result<(Event, (Event, Event))> {
    if let Some(field) = input.names_more_than_time() {
        return Err(errors::only_its_time(field));
    }
    let series = before.series();
    let (day, found) = occurrence::named(context, &series, date)?;
    let occurrence = occurrence::single(&before.title, &series, day, &found)?;
    let was = before.at(&occurrence);
    let mut moved = was.clone();
    set_times(
        context,
        &mut moved,
        input.start.as_deref(),
        input.duration_min,
    )?;
    let mut after = before.clone();
    if before.rule.is_none() {
        (after.starts_at, after.ends_at) = (moved.starts_at, moved.ends_at);
        return Ok((after, (was, moved)));
    }
    if (was.starts_at, was.ends_at) != (moved.starts_at, moved.ends_at) {
        occurrence::check_is_free(&before.title, &series, &occurrence, moved.starts_at)?;
        let (start, end) = (moved.starts_at, moved.ends_at);
        after.exceptions.move_to(occurrence.original, start, end);
        if after.exceptions.len() > MOST_EXCEPTIONS {
            return Err(errors::too_many_exceptions(MOST_EXCEPTIONS));
        }
        after.find_end(&Steps::new(STEPS_OF_A_CALL));
    }
    Ok((after, (was, moved)))
}

/// The length of an event that no longer lasts all day.
const USUAL_MINUTES: i64 = 60;

/// A time without a day is on the day of the event.
fn set_times(
    context: &Context,
    event: &mut Event,
    start: Option<&str>,
    minutes: Option<i64>,
) -> Result<()> {
    let minutes = minutes.unwrap_or_else(|| event.minutes());
    match start {
        None => event::set_end(event, minutes),
        Some(start) => {
            let here = Here {
                day: Some(event.day()),
                ..here(context)
            };
            event::set_times(event, &here, start, minutes)
        }
    }
}

/// Changes the event with all its occurrences. Also returns the coming days whose
/// exceptions the changed series can't keep.
fn whole(context: &Context, before: &Event, input: Input) -> Result<(Event, Vec<Date>)> {
    let mut after = before.clone();
    let mut minutes = input.duration_min;
    if let Some(all_day) = input.all_day
        && all_day != before.all_day
    {
        after.all_day = all_day;
        // The length of an all-day event says nothing about a meeting.
        minutes = minutes.or((!all_day).then_some(USUAL_MINUTES));
        if input.start.is_none() {
            let day = before.day().to_string();
            let minutes = minutes.unwrap_or_else(|| before.minutes());
            event::set_times(&mut after, &here(context), &day, minutes)?;
        }
    }
    set_times(context, &mut after, input.start.as_deref(), minutes)?;
    let times = |event: &Event| (event.starts_at, event.zone.clone(), event.all_day);
    if times(&after) != times(before) || input.repeat.is_some() {
        let kept = before.rule.as_deref();
        let kept = kept.map(|rule| repeat::moved(rule, before.day(), after.day()));
        let repeat = input.repeat.as_deref().or(kept.as_deref());
        event::set_repeat(&mut after, &here(context), repeat)?;
    }
    let steps = Steps::new(STEPS_OF_A_CALL);
    let now = here(context).now.as_millisecond();
    let dropped = after.carry_exceptions(before, now, &steps);
    if after.rule.is_some() {
        // A longer duration or other exceptions move the end of the series too.
        after.find_end(&steps);
    }
    after.title = input.title.unwrap_or(after.title);
    let clears = |field| input.clear.contains(&field);
    after.description = new_text(
        "description",
        input.description,
        clears(Clearable::Description),
        after.description,
    )?;
    after.location = new_text(
        "location",
        input.location,
        clears(Clearable::Location),
        after.location,
    )?;
    Ok((after, dropped))
}

/// The new value of a text that can be given or cleared.
fn new_text(
    field: &str,
    given: Option<String>,
    is_cleared: bool,
    before: String,
) -> Result<String> {
    match (given, is_cleared) {
        (Some(_), true) => Err(errors::given_and_cleared(field)),
        (None, true) => Ok(String::new()),
        (Some(text), false) => Ok(text),
        (None, false) => Ok(before),
    }
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    update: &Update,
) -> Result<Changed> {
    context.check_card(None, Some(&update.state()))?;
    let event = &update.after;
    if update.changes_anything() {
        let now = state.now(context).as_millisecond();
        if !events::update(sql, event, &context.caller.id, now)? {
            return Err(approval::state_changed());
        }
        if let Some(copy) = &update.replaces
            && !caldav::overwrite(sql, &event.id, copy.as_ref())?
        {
            return Err(approval::state_changed());
        }
        event::changed(context, event);
    }
    let (was, is) = &update.shown;
    let conflicts = event::conflicts(
        sql,
        &Event {
            rule: None,
            ..is.clone()
        },
    )?;
    let changed = event_changes::fields(was, is);
    let mut message = event_changes::message(state, context, was, is, &changed);
    message += &event_changes::overlap(context.language, &changed, &conflicts);
    let output = Output::new(context, is, &conflicts, message);
    Ok(Changed {
        output: output.warnings(exceptions_dropped(&update.dropped, context.language)),
        changed,
    })
}

/// For the person who is asked: the event, and each field before and after.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let update = Update::of(state, context, sql, input)?;
    let (before, after) = (&update.shown.0, &update.shown.1);
    let mut lines = CardLines::new(context.language);
    event::add_lines(&mut lines, before, after);
    if (before.starts_at, before.ends_at) != (after.starts_at, after.ends_at) {
        lines.overlaps(&event::conflicts(sql, after)?);
    }
    if update.moves_one {
        let only = lines.pick(("this occurrence", "この回だけ"));
        lines.fact(("Changes only", "変更の対象"), only);
    }
    lines.dropped(&update.dropped);
    if let Some(copy) = &update.replaces {
        event_changes::on_the_server(&mut lines, copy.as_ref(), state);
    }
    let title = &before.title;
    let replaces = update.replaces.is_some();
    Ok(Card {
        summary: match (context.language, replaces) {
            (Language::English, false) => format!("Change \"{title}\" in the calendar"),
            (Language::English, true) => {
                format!("Change \"{title}\" and replace its copy on the calendar server")
            }
            (Language::Japanese, false) => format!("予定「{title}」を変更する"),
            (Language::Japanese, true) => {
                format!("予定「{title}」を変更し、カレンダーサーバー側の内容を置き換える")
            }
        },
        lines: lines.done(),
        state: Some(update.state()),
        exempt: !update.changes_anything(),
        asked_at: Some(here(context).now.as_millisecond()),
        ..Card::default()
    })
}
