//! `calendar.cancel`: cancels an event, or one occurrence of it.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{Context, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cancel::Cancel, event, occurrence};
use crate::{
    bounds::{LONGEST_ID, LONGEST_TIME, MOST_EXCEPTIONS, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{exceptions::Occurrence, repeat::Steps},
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    /// Only this day's occurrence; the series goes on
    #[schemars(length(max = LONGEST_TIME))]
    date: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    super::cancel::tool::<CancelledEvent>(
        state,
        "calendar.cancel",
        &["calendar_cancel"],
        "Cancel event",
        "Cancel an event, or one occurrence with date; asks the user unless it is your own.",
    )
    .in_japanese("予定の取り消し")
    .keeps_empty(&["date"])
}

struct CancelledEvent {
    event: Event,
    /// The occurrences of one day of a series.
    skips: Option<Skipped>,
}

/// The occurrences of a day. Empty if they are skipped already.
struct Skipped {
    day: Date,
    occurrences: Vec<Occurrence>,
    /// The series without them.
    rest: Event,
    /// Whether others are still to come.
    goes_on: bool,
}

impl Skipped {
    fn of(event: &Event, day: Date, occurrences: Vec<Occurrence>, now: i64) -> Self {
        let mut rest = event.clone();
        for one in &occurrences {
            rest.exceptions.skip(one.original);
        }
        Self {
            day,
            goes_on: comes_after(&rest, now),
            occurrences,
            rest,
        }
    }
}

fn comes_after(event: &Event, after: i64) -> bool {
    let steps = Steps::new(STEPS_OF_A_CALL);
    let next = event.series().between(after, i64::MAX, 1, &steps);
    !next.is_empty() || steps.ran_out()
}

impl CancelledEvent {
    /// What is cancelled: the event, or its first occurrence of that day.
    fn shown(&self) -> Event {
        let skipped = self
            .skips
            .as_ref()
            .and_then(|skips| skips.occurrences.first());
        skipped.map_or_else(|| self.event.clone(), |one| self.event.at(one))
    }
}

impl Cancel for CancelledEvent {
    type Input = Input;

    fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let event = event::find(sql, &input.id)?;
        let is_series = event.rule.is_some();
        let Some(date) = occurrence::given(input.date, &event.title, is_series)? else {
            return Ok(Self { event, skips: None });
        };
        let series = event.series();
        let (day, occurrences) = occurrence::named(context, &series, &date)?;
        let zone = event.zone();
        let was_skipped = || event.exceptions.is_skipped_on(day, &zone);
        if occurrences.is_empty() && !was_skipped() {
            return Err(occurrence::none_on(&event.title, &series, day, i64::MIN));
        }
        occurrence::check_is_clear(&event.title, &series, &occurrences)?;
        let now = context.clock.now().as_millisecond();
        let skips = is_series.then(|| Skipped::of(&event, day, occurrences, now));
        Ok(Self { event, skips })
    }

    fn id(&self) -> &str {
        &self.event.id
    }

    fn version(&self) -> String {
        self.event.sequence.to_string()
    }

    fn is_of(&self, caller: &str) -> bool {
        self.event.is_of(caller)
    }

    fn is_cancelled(&self) -> bool {
        let is_skipped = |skips: &Skipped| skips.occurrences.is_empty();
        self.event.cancelled_at.is_some() || self.skips.as_ref().is_some_and(is_skipped)
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        event::changed(context, &self.event);
        let now = context.clock.now().as_millisecond();
        let Some(skips) = &self.skips else {
            return events::cancel(sql, &self.event, now);
        };
        if !comes_after(&skips.rest, i64::MIN) {
            return events::cancel(sql, &self.event, now);
        }
        if skips.rest.exceptions.len() > MOST_EXCEPTIONS {
            return Err(errors::too_many_exceptions(MOST_EXCEPTIONS));
        }
        events::update(sql, &skips.rest, &context.caller.id, now)
    }

    fn question(&self, language: Language) -> String {
        let title = &self.event.title;
        match (language, &self.skips) {
            (Language::English, None) => format!("Cancel \"{title}\" in the calendar"),
            (Language::English, Some(Skipped { day, .. })) => {
                format!("Cancel \"{title}\" on {day} only")
            }
            (Language::Japanese, None) => format!("予定「{title}」を取り消す"),
            (Language::Japanese, Some(Skipped { day, .. })) => {
                format!("予定「{title}」の{day}の回だけを取り消す")
            }
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        let shown = self.shown();
        event::add_lines(lines, &shown, &shown);
    }

    fn message(&self, state: &CounterState, context: &Context) -> String {
        let event = &self.event;
        let when = event::when(state, context, &self.shown());
        let (language, title) = (context.language, &event.title);
        match (language, &self.skips) {
            (Language::English, None) if event.rule.is_some() => {
                format!("I cancelled {title} with all its repetitions.")
            }
            (Language::English, None) => format!("I cancelled {title}, {when}."),
            (Language::English, Some(skips)) if skips.occurrences.is_empty() => {
                format!("{title} was already cancelled on {}.", skips.day)
            }
            (Language::English, Some(Skipped { goes_on: true, .. })) => {
                format!("I cancelled {title}, {when}; the other times stay.")
            }
            (Language::English, Some(_)) => {
                format!("I cancelled {title}, {when}, which was the last time.")
            }
            (Language::Japanese, None) if event.rule.is_some() => {
                format!("「{title}」の予定を繰り返しごと取り消しました。")
            }
            (Language::Japanese, None) => format!("{when}の「{title}」の予定を取り消しました。"),
            (Language::Japanese, Some(skips)) if skips.occurrences.is_empty() => {
                format!("「{title}」の{}の回はすでに取り消されています。", skips.day)
            }
            (Language::Japanese, Some(Skipped { goes_on: true, .. })) => {
                format!("{when}の「{title}」だけを取り消しました。ほかの回はそのままです。")
            }
            (Language::Japanese, Some(_)) => {
                format!("{when}の「{title}」を取り消しました。これが最後の回でした。")
            }
        }
    }
}
