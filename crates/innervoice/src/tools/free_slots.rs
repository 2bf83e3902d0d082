//! `calendar.free_slots`: finds room between events before something is planned.

use std::sync::Arc;

use jiff::{
    SignedDuration, Timestamp, ToSpan as _,
    civil::{Date, Time},
    tz::TimeZone,
};
use kit::{
    Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Today, Tool, Warning,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{OK, arguments, calendar_list, range::Range};
use crate::{
    answers::{AsListed, by_name, timestamp},
    bounds::{LONGEST_TIME, STEPS_OF_A_LIST},
    errors::{self, LONGEST_MINUTES},
    model::{
        moment::{instant, rfc3339},
        repeat::Steps,
        spoken, time_words,
    },
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "f64", range(min = 1, max = LONGEST_MINUTES))]
    duration_min: i64,
    /// As in calendar_list
    #[schemars(length(max = LONGEST_TIME))]
    from: Option<String>,
    /// Last day, or time; a week after from unless given
    #[schemars(length(max = LONGEST_TIME))]
    to: Option<String>,
    /// Time of day, 09:00 unless given
    #[schemars(length(max = 10))]
    earliest: Option<String>,
    /// 18:00 unless given; 26:00 is 2:00 on the next day
    #[schemars(length(max = 10))]
    latest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    slots: Vec<Slot>,
    // Titles of all-day events, which leave the time free.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    all_day: Vec<String>,
    // Why it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    details: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
    #[serde(flatten)]
    today: Today,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
struct Slot {
    start: String,
    end: String,
}

const WEEK: i32 = 7;
const MOST_SLOTS: usize = 20;
/// How many days are searched.
const MOST_DAYS: usize = 366;
/// Slots begin at full five minutes.
const STEP: i64 = 5 * 60;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "calendar.free_slots",
            title: "Find free time",
            description: "Find free time between events before you plan something.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("空き時間の検索")
    .aliases(&["calendar_free_slots", "free_slots"])
    .rules(&[
        errors::DURATION_TYPE,
        errors::DURATION_MIN,
        errors::DURATION_MAX,
    ])
    .normalise(|_, arguments| {
        for name in ["from", "to", "earliest", "latest"] {
            arguments::narrow(arguments, name);
        }
        arguments::minutes(arguments, "duration_min");
    })
}

fn handle(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let mut range = Range::of(context, input.from.as_deref(), input.to.as_deref(), WEEK)?;
    // What has passed is not free.
    range.from = range.from.max(context.clock.now());
    let hours = Hours::of(context, input.earliest.as_deref(), input.latest.as_deref())?;
    let zone = &context.zone;
    let midnight = |at: Timestamp| at.to_zoned(zone.clone()).time() == Time::midnight();
    let night = (hours.latest - MINUTES_A_DAY).max(0);
    if midnight(range.to) {
        // The last day ends with its hours.
        range.to += SignedDuration::from_mins(night.into());
    }
    let (from, to) = range.millis();
    let steps = Steps::new(STEPS_OF_A_LIST);
    let found = events::times_between(sql, from, to, &steps)?;
    let (all_day, busy): (Vec<Event>, Vec<Event>) =
        found.into_iter().partition(|event| event.all_day);
    let mut gaps = Vec::new();
    let mut day = range.from.to_zoned(zone.clone()).date();
    if night > 0 && !midnight(range.from) {
        // The night before may not be over.
        day = day.yesterday().unwrap_or(day);
    }
    for _ in 0..MOST_DAYS {
        gaps.extend(gaps_of_day(context, &range, day, hours, &busy));
        match day.tomorrow() {
            Ok(next) if instant(next.at(0, 0, 0, 0), zone).is_some_and(|at| at < range.to) => {
                day = next;
            }
            _ => break,
        }
    }
    let wanted = SignedDuration::from_mins(input.duration_min);
    let longest = gaps.iter().map(Gap::length).max();
    gaps.retain(|gap| gap.length() >= wanted);
    gaps.truncate(MOST_SLOTS);
    let mut all_day: Vec<String> = all_day.into_iter().map(|event| event.title).collect();
    all_day.dedup();
    let details = gaps.is_empty().then(|| {
        let longest = longest.map_or(0, |gap| gap.as_mins());
        let (from, to) = range.rfc3339(context);
        Map::from_iter([
            ("longest_gap_min".into(), json!(longest)),
            ("from".into(), json!(from)),
            ("to".into(), json!(to)),
            ("earliest".into(), json!(written(hours.earliest))),
            ("latest".into(), json!(written(hours.latest))),
        ])
    });
    Ok(Output {
        status: OK,
        message: format!(
            "{}{}",
            message(context, &range, &gaps, input.duration_min, longest),
            all_day_in_words(context.language, &all_day)
        ),
        slots: gaps.iter().map(|gap| gap.slot(context)).collect(),
        all_day,
        details,
        warnings: calendar_list::incomplete(&steps, context.language),
        today: Today::of(context),
    })
}

/// Days that are only marked, such as a holiday, are free; but the person must hear of
/// them.
fn all_day_in_words(language: Language, titles: &[String]) -> String {
    match (language, titles) {
        (_, []) => String::new(),
        (Language::English, titles) => {
            format!(" But note what lasts all day: {}.", titles.join(", "))
        }
        (Language::Japanese, titles) => {
            format!("ただし、終日の予定があります: {}。", titles.join("、"))
        }
    }
}

/// The part of each day that is searched, in minutes from midnight. It may reach into
/// the next day.
#[derive(Clone, Copy)]
struct Hours {
    earliest: i32,
    latest: i32,
}

const MINUTES_A_DAY: i32 = 24 * 60;

impl Hours {
    fn of(context: &Context, earliest: Option<&str>, latest: Option<&str>) -> Result<Self> {
        let now = context.clock.now().to_zoned(context.zone.clone());
        let read = |text: Option<&str>, usual: i32| match text {
            None => Ok(usual * 60),
            Some(text) => time_words::minutes_of_day(text, &now)
                .ok_or_else(|| errors::invalid_time_of_day(text)),
        };
        let hours = Self {
            earliest: read(earliest, 9)?,
            latest: read(latest, 18)?,
        };
        let length = hours.latest - hours.earliest;
        match (1..=MINUTES_A_DAY).contains(&length) {
            true => Ok(hours),
            false => Err(errors::empty_hours(
                &written(hours.earliest),
                &written(hours.latest),
            )),
        }
    }
}

fn written(minutes: i32) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The instant so many minutes after midnight, by the clock.
fn instant_at(day: Date, minutes: i32, zone: &TimeZone) -> Option<Timestamp> {
    let day = day.checked_add((minutes / MINUTES_A_DAY).days()).ok()?;
    let minutes = minutes % MINUTES_A_DAY;
    let hour = i8::try_from(minutes / 60).ok()?;
    let minute = i8::try_from(minutes % 60).ok()?;
    instant(day.at(hour, minute, 0, 0), zone)
}

/// Time without events.
struct Gap {
    start: Timestamp,
    end: Timestamp,
}

impl Gap {
    fn length(&self) -> SignedDuration {
        self.end.duration_since(self.start)
    }

    fn slot(&self, context: &Context) -> Slot {
        Slot {
            start: rfc3339(self.start, &context.zone),
            end: rfc3339(self.end, &context.zone),
        }
    }
}

/// The gaps of a day within the hours. `busy` is in order.
fn gaps_of_day(
    context: &Context,
    range: &Range,
    day: Date,
    hours: Hours,
    busy: &[Event],
) -> Vec<Gap> {
    let at = |minutes| instant_at(day, minutes, &context.zone);
    let (Some(first), Some(last)) = (at(hours.earliest), at(hours.latest)) else {
        return Vec::new();
    };
    let mut free_from = rounded_up(first.max(range.from));
    let end = last.min(range.to);
    let mut gaps = Vec::new();
    let mut add = |start: Timestamp, end: Timestamp| {
        if start < end {
            gaps.push(Gap { start, end });
        }
    };
    for event in busy {
        let (start, stop) = (event.start(), timestamp(event.ends_at));
        if start >= end {
            break;
        }
        if stop > free_from {
            add(free_from, start.min(end));
            free_from = rounded_up(stop);
        }
    }
    add(free_from, end);
    gaps
}

fn rounded_up(at: Timestamp) -> Timestamp {
    let second = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    let rest = second.rem_euclid(STEP);
    let up = if rest == 0 {
        second
    } else {
        second - rest + STEP
    };
    Timestamp::from_second(up).unwrap_or(at)
}

/// How many slots are read out.
const READ_OUT: usize = 3;

fn message(
    context: &Context,
    range: &Range,
    gaps: &[Gap],
    minutes: i64,
    longest: Option<SignedDuration>,
) -> String {
    let language = context.language;
    let (zone, now) = (&context.zone, context.clock.now());
    let clock = |at: Timestamp| spoken::clock(at.to_zoned(zone.clone()).time(), language);
    let said = gaps.iter().take(READ_OUT).map(|gap| {
        let day = spoken::day(gap.start, zone, now, language);
        let (start, end) = (clock(gap.start), clock(gap.end));
        match language {
            Language::English => format!("{day} from {start} to {end}"),
            Language::Japanese => format!("{day}の{start}から{end}"),
        }
    });
    let said: Vec<String> = said.collect();
    let when = range.spoken(context);
    let longest = longest.map_or(0, |gap| gap.as_mins());
    match (language, gaps.len() > READ_OUT) {
        (Language::English, _) if gaps.is_empty() => format!(
            "You have no {minutes} minutes free {when}; the longest gap is {longest} minutes."
        ),
        (Language::English, false) => format!("You are free {}.", said.join(", and ")),
        (Language::English, true) => {
            format!("You are free {}, and at other times.", said.join(", "))
        }
        (Language::Japanese, _) if gaps.is_empty() => {
            format!("{when}に{minutes}分の空きはありません。いちばん長い空きは{longest}分です。")
        }
        (Language::Japanese, false) => format!("{}が空いています。", said.join("と")),
        (Language::Japanese, true) => format!("{}などが空いています。", said.join("、")),
    }
}
