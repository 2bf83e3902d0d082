//! `calendar.update`: changes the fields that are given, of an event or of one
//! occurrence. The user sees each field before and after.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Language, Result, Sql, Tool, Warning,
    approval::{self, Card, describe},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    OVERWRITES,
    event::{self, Output},
    event_changes,
};
use crate::{
    answers::exceptions_dropped,
    bounds::{LONGEST_ID, LONGEST_TIME, MOST_EXCEPTIONS, STEPS_OF_A_CALL},
    cards::CardLines,
    errors::{self, LONGEST_MINUTES},
    model::{
        ics_read,
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
    );
    event::with_fields(tool)
        .aliases(&["calendar_update"])
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
}

impl Update {
    /// Rules are expanded here, before the transaction.
    fn of(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        input: Input,
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
        let (after, shown) = match &input.date {
            Some(date) => one_occurrence(context, &before, date, &input)?,
            None => {
                let after = whole(context, &before, input)?;
                let shown = (before.clone(), after.clone());
                (after, shown)
            }
        };
        Ok(Self {
            before,
            after,
            shown,
            replaces,
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

    fn warnings(&self, language: Language) -> Vec<Warning> {
        exceptions_dropped(&self.before.exceptions, &self.after.exceptions, language)
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
    let (day, found) = event::named(context, &before.series(), date)?;
    let occurrence = match found.as_slice() {
        [one] => *one,
        [] => {
            let series = before.series();
            return Err(event::no_occurrence(&before.title, &series, day, i64::MIN));
        }
        several => {
            let times = event::times(several, &before.zone());
            return Err(errors::several_that_day(&before.title, &times));
        }
    };
    let was = before.at(&occurrence);
    let mut moved = was.clone();
    set_times(context, &mut moved, input)?;
    let mut after = before.clone();
    if before.rule.is_none() {
        (after.starts_at, after.ends_at) = (moved.starts_at, moved.ends_at);
        return Ok((after, (was, moved)));
    }
    if (was.starts_at, was.ends_at) != (moved.starts_at, moved.ends_at) {
        let (start, end) = (moved.starts_at, moved.ends_at);
        after.exceptions.move_to(occurrence.original, start, end);
        if after.exceptions.len() > MOST_EXCEPTIONS {
            return Err(errors::too_many_exceptions(MOST_EXCEPTIONS));
        }
        after.find_end(&Steps::new(STEPS_OF_A_CALL));
    }
    Ok((after, (was, moved)))
}

/// A time without a day is on the day of the event.
fn set_times(context: &Context, event: &mut Event, input: &Input) -> Result<()> {
    let minutes = input.duration_min.unwrap_or_else(|| event.minutes());
    match &input.start {
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

/// Changes the event with all its occurrences.
fn whole(context: &Context, before: &Event, input: Input) -> Result<Event> {
    let mut after = before.clone();
    if let Some(all_day) = input.all_day
        && all_day != before.all_day
    {
        after.all_day = all_day;
        if input.start.is_none() {
            let day = before.day().to_string();
            let minutes = input.duration_min.unwrap_or_else(|| before.minutes());
            event::set_times(&mut after, &here(context), &day, minutes)?;
        }
    }
    set_times(context, &mut after, &input)?;
    let times = |event: &Event| (event.starts_at, event.zone.clone(), event.all_day);
    let is_moved = times(&after) != times(before);
    if is_moved || input.repeat.is_some() {
        let kept = before.rule.as_deref();
        let kept = kept.map(|rule| repeat::moved(rule, before.day(), after.day()));
        let repeat = input.repeat.as_deref().or(kept.as_deref());
        event::set_repeat(&mut after, &here(context), repeat)?;
        if times(&after) != times(before) || after.rule != before.rule {
            after.exceptions.clear();
        }
    }
    if after.rule.is_some() {
        // A longer duration or dropped exceptions move the end of the series too.
        after.find_end(&Steps::new(STEPS_OF_A_CALL));
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
    Ok(after)
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
        output: output.warnings(update.warnings(context.language)),
        changed,
    })
}

/// For the person who is asked: the event, and each field before and after.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let is_one = input.date.is_some();
    let update = Update::of(state, context, sql, input)?;
    let (before, after) = (&update.shown.0, &update.shown.1);
    let mut lines = CardLines::new(context.language);
    event::add_lines(&mut lines, before, after);
    if (before.starts_at, before.ends_at) != (after.starts_at, after.ends_at) {
        lines.overlaps(&event::conflicts(sql, after)?);
    }
    if is_one && before.rule.is_some() {
        let only = lines.pick(("this occurrence", "この回だけ"));
        lines.fact(("Changes only", "変更の対象"), only);
    }
    if let Some(copy) = &update.replaces {
        on_the_server(&mut lines, copy.as_ref(), state);
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

/// How many properties of the copy are shown.
const MOST_SHOWN: usize = 50;

/// Shows the copy that would be replaced.
fn on_the_server(lines: &mut CardLines, copy: Option<&ServerCopy>, state: &CounterState) {
    let Some(copy) = copy else {
        let deleted = lines.pick((
            "deleted there; it is put back",
            "サーバー側で削除済み(再登録します)",
        ));
        lines.fact(("On the server", "サーバー側"), deleted);
        return;
    };
    let fields = ics_read::fields(&copy.text, &state.zone);
    for field in fields.iter().take(MOST_SHOWN) {
        let (english, japanese) = match field.name.as_str() {
            "SUMMARY" => ("Title", "件名"),
            "DTSTART" => ("Starts", "開始"),
            "DTEND" => ("Ends", "終了"),
            "LOCATION" => ("Place", "場所"),
            "DESCRIPTION" => ("Description", "説明"),
            other => (other, other),
        };
        let english = format!("{english} (on the server, replaced)");
        let japanese = format!("{japanese} (サーバー側、置き換え前)");
        lines.fact((&english, &japanese), &field.text);
    }
    let more = fields.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        lines.fact(("More fields", "その他の項目数"), &more.to_string());
    }
}
