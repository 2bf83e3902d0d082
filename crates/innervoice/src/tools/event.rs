//! What the tools that create, change and cancel an event have in common.

use jiff::{
    ToSpan as _,
    civil::{Date, DateTime, Time},
};
use kit::{
    Context, Language, Result, Sql, Today, Tool, Warning, context::Change, time::written_day,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{OK, arguments};
use crate::{
    answers::{AsListed, Conflict, EventView, timestamp},
    bounds::{MOST_CONFLICTS, STEPS_OF_A_CALL, STEPS_OF_A_LIST},
    cards::CardLines,
    errors,
    model::{
        moment::{Here, Moment, instant},
        repeat::{self, Steps},
        repeat_words::{self, Repeat},
        spoken,
        time_words::SaidTime,
    },
    resources,
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    #[schemars(with = "AsListed")]
    event: EventView,
    #[schemars(with = "Vec<AsListed>")]
    conflicts: Vec<Conflict>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
    #[serde(flatten)]
    today: Today,
}

impl Output {
    pub fn new(context: &Context, event: &Event, conflicts: &[Event], message: String) -> Self {
        Self {
            status: OK,
            id: event.id.clone(),
            message,
            event: EventView::of(event, context.language),
            conflicts: conflicts.iter().map(Conflict::from).collect(),
            warnings: Vec::new(),
            today: Today::of(context),
        }
    }

    pub fn warnings(self, warnings: Vec<Warning>) -> Self {
        Self { warnings, ..self }
    }
}

/// The rules and the normalisation of an event's fields.
pub fn with_fields(tool: Tool) -> Tool {
    tool.rules(&[
        errors::TITLE_EMPTY,
        errors::DURATION_TYPE,
        errors::DURATION_MIN,
        errors::DURATION_MAX,
    ])
    .normalise(|_, arguments| {
        for name in ["id", "start", "date"] {
            arguments::narrow(arguments, name);
        }
        arguments::minutes(arguments, "duration_min");
        for name in ["title", "description", "location", "repeat"] {
            arguments::text(arguments, name);
        }
        // A new event of a whole day needs no duration.
        let is_all_day = arguments.get("all_day") == Some(&true.into());
        if is_all_day && !arguments.contains_key("id") {
            arguments
                .entry("duration_min")
                .or_insert_with(|| MINUTES_A_DAY.into());
        }
    })
    .personal(&["title", "description", "location"])
}

const MINUTES_A_DAY: i64 = 24 * 60;

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Event> {
    events::find(sql, id)?.ok_or_else(|| errors::not_found("event", id, "calendar_list"))
}

/// Sets the start and the end.
pub fn set_times(event: &mut Event, here: &Here, start: &str, minutes: i64) -> Result<()> {
    let wrong = |why| errors::invalid_time("start", start, why, here);
    let start = match event.all_day {
        false => here.moment(start).map_err(wrong)?,
        true => {
            let (said, zone) = here.said(start).map_err(wrong)?;
            let day = match said {
                SaidTime::Days(first, _) => first,
                SaidTime::Local(local) => day_alone(local)?,
                SaidTime::At(at) => day_alone(at.to_zoned(zone.clone()).datetime())?,
            };
            let midnight = instant(day.to_datetime(Time::midnight()), &zone);
            let midnight = midnight.ok_or_else(errors::invalid_duration)?;
            Moment::new(midnight, &zone)
        }
    };
    event.starts_at = start.millis();
    event.zone = start.zone_name();
    set_end(event, minutes)
}

/// The day of an all-day event. Midnight is how programs write a day without a time.
fn day_alone(start: DateTime) -> Result<Date> {
    match start.time() == Time::midnight() {
        true => Ok(start.date()),
        false => Err(errors::time_of_all_day()),
    }
}

/// Sets the end by the duration. An all-day event lasts whole days.
pub fn set_end(event: &mut Event, minutes: i64) -> Result<()> {
    let start = Moment::new(event.start(), &event.zone());
    let end = match event.all_day {
        false => start.plus_minutes(minutes).map(|end| end.millis()),
        true => {
            // A day has 23 or 25 hours when clocks change.
            let days = ((minutes + MINUTES_A_DAY / 2) / MINUTES_A_DAY).max(1);
            let day = start.civil().date().checked_add(days.days()).ok();
            let end = day.and_then(|day| instant(day.to_datetime(Time::midnight()), &start.zone));
            end.map(|end| end.as_millisecond())
        }
    };
    event.ends_at = end.ok_or_else(errors::invalid_duration)?;
    Ok(())
}

/// Sets the rule; the event moves to the first time of the rule.
pub fn set_repeat(event: &mut Event, here: &Here, repeat: Option<&str>) -> Result<()> {
    event.rule = match repeat {
        None => None,
        Some(text) => {
            let start = event.start().to_zoned(event.zone()).datetime();
            let now = here.now.to_zoned(event.zone());
            match repeat_words::read(text, start, &now) {
                Ok(Some(Repeat::Rule(rule))) => Some(rule),
                Ok(Some(Repeat::Once)) => None,
                Ok(None) => return Err(errors::invalid_repeat(text, None)),
                Err(why) => return Err(errors::invalid_repeat(text, Some(&why))),
            }
        }
    };
    event.over_at = None;
    if event.rule.is_none() {
        return Ok(());
    }
    let steps = Steps::new(STEPS_OF_A_CALL);
    // By the rule alone: an occurrence that was moved is not the start of the series.
    let by_rule = Event {
        exceptions: Default::default(),
        ..event.clone()
    };
    let first = by_rule
        .series()
        .between(event.starts_at - 1, i64::MAX, 1, &steps);
    match first.first() {
        Some(first) => {
            let at = event.at(first);
            (event.starts_at, event.ends_at) = (at.starts_at, at.ends_at);
        }
        None if steps.ran_out() => return Err(errors::rule_too_costly()),
        None => return Err(errors::never_fires("event")),
    }
    event.find_end(&steps);
    Ok(())
}

/// For how long the occurrences of a series are compared with other events.
const COMPARED_MS: i64 = 62 * 24 * 60 * 60_000;
/// How many of them are compared.
const MOST_COMPARED: usize = 1_000;

/// Other events at the same time. All-day events are at no time.
pub fn conflicts(sql: &mut dyn Sql, event: &Event) -> Result<Vec<Event>> {
    if event.all_day {
        return Ok(Vec::new());
    }
    let steps = Steps::new(STEPS_OF_A_LIST);
    let own = match event.rule {
        None => vec![event.clone()],
        Some(_) => {
            let until = event.starts_at + COMPARED_MS;
            let series = event.without_description();
            series.occurrences(event.starts_at, until, MOST_COMPARED, &steps)
        }
    };
    let (Some(first), Some(last)) = (own.first(), own.iter().map(|one| one.ends_at).max()) else {
        return Ok(Vec::new());
    };
    let mut others = events::times_between(sql, first.starts_at, last, &steps)?;
    others.retain(|other| {
        other.id != event.id && !other.all_day && own.iter().any(|one| one.overlaps(other))
    });
    others.truncate(MOST_CONFLICTS);
    Ok(others)
}

/// Tells subscribers of the calendar and of this event.
pub fn changed(context: &Context, event: &Event) {
    context.changed(Change::Resource(resources::CALENDAR.into()));
    context.changed(Change::Resource(resources::event_uri(&event.id)));
}

/// When an event is, as a voice says it.
pub fn when(state: &CounterState, context: &Context, event: &Event) -> String {
    let language = context.language;
    let zone = event.zone();
    if !event.all_day {
        return state.spoken(context, event.starts_at, &zone);
    }
    let now = state.now(context);
    let first = spoken::day(event.start(), &zone, now, language);
    let last = spoken::day(timestamp(event.ends_at - 1), &zone, now, language);
    match (language, first == last) {
        (Language::English, true) => format!("{first}, all day"),
        (Language::English, false) => format!("{first} to {last}"),
        (Language::Japanese, true) => format!("{first}終日"),
        (Language::Japanese, false) => format!("{first}から{last}まで"),
    }
}

/// A rule in words and as an RRULE; empty without one.
pub fn repetition(rule: Option<&str>, language: Language) -> String {
    rule.map_or(String::new(), |rule| {
        format!("{} ({rule})", repeat::say(rule, language))
    })
}

/// Adds the fields of an event, before and after where they differ.
pub fn add_lines(lines: &mut CardLines, before: &Event, after: &Event) {
    let language = lines.language;
    let day = |day: Date, event: &Event| format!("{} ({})", written_day(day, language), event.zone);
    let time = |at: i64, event: &Event| spoken::on_card(timestamp(at), &event.zone(), language);
    let start = |event: &Event| match event.all_day {
        true => day(event.day(), event),
        false => time(event.starts_at, event),
    };
    let end = |event: &Event| match event.all_day {
        true => day(event.last_day(), event),
        false => time(event.ends_at, event),
    };
    let repeats = |event: &Event| repetition(event.rule.as_deref(), language);
    lines.field(("Title", "件名"), &before.title, &after.title);
    lines.field(("Starts", "開始"), &start(before), &start(after));
    lines.field(("Ends", "終了"), &end(before), &end(after));
    lines.field(("Repeats", "繰り返し"), &repeats(before), &repeats(after));
    lines.field(("Place", "場所"), &before.location, &after.location);
    lines.field(
        ("Description", "説明"),
        &before.description,
        &after.description,
    );
}
