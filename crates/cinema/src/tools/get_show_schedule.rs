//! `get_show_schedule`: when and where a film runs on a day.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, arguments};
use crate::{
    answers::Schedule,
    errors,
    find::{self, given},
    model::Listing,
    state::CounterState,
    store::{self, Filter},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Movie ID; a title works too
    movie_id: String,
    /// Movie title (can be used as alternative to movie_id)
    movie_title: Option<String>,
    /// Screening date in YYYY-MM-DD format; today, tomorrow and 2026/11/15 work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    schedules: Vec<Schedule>,
    /// When none of the schedules can be booked: the next screenings of the film that can.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<Schedule>>,
}

/// More than any cinema shows one film in a day.
const MOST_PER_DAY: usize = 200;
const ALTERNATIVES: usize = 5;
/// How many of the next screenings are checked for free seats.
const LOOK_AHEAD: usize = 60;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_show_schedule",
            title: "Screenings of a movie",
            description: "Get screening schedule for a specified movie. Also returns seat \
                availability information.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .rules(&[
        errors::DATE_PATTERN,
        errors::DATE_TYPE,
        errors::MOVIE_REQUIRED,
    ])
    .normalise(|context, arguments| {
        arguments::text(arguments, "movie_id");
        arguments::text(arguments, "movie_title");
        arguments::date(context, arguments, "date");
        // The schema requires movie_id; a title alone is accepted as well.
        let has_no_id = arguments.get("movie_id").is_none_or(|id| id == "");
        if let (true, Some(title)) = (has_no_id, arguments.get("movie_title").cloned()) {
            arguments.insert("movie_id".into(), title);
        }
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let date = state.read_date(&input.date)?;
    let now = state.now(context);
    let film = film(sql, &input)?;
    let of_the_day = Filter {
        films: vec![&film],
        dates: vec![date.to_string()],
        ..Filter::default()
    };
    let found = store::listings(sql, &of_the_day, now, MOST_PER_DAY)?;
    let alternatives = if found.iter().any(|listing| listing.can_be_booked(now)) {
        None
    } else {
        // From that day on, or from now on if that day is beyond the programme.
        let from = state.start_of(date)?.max(now);
        let mut next = bookable(sql, &film, from, now)?;
        if next.is_empty() && from > now {
            next = bookable(sql, &film, now, now)?;
        }
        Some(next)
    };
    let schedules = |listings: Vec<Listing>| -> Vec<Schedule> {
        listings.iter().map(|one| Schedule::of(one, now)).collect()
    };
    Ok(Output {
        schedules: schedules(found),
        alternatives: alternatives.map(schedules),
    })
}

/// The film's id. Falls back to the title if the id is unknown.
fn film(sql: &mut dyn Sql, input: &Input) -> Result<String> {
    let id = given(Some(&input.movie_id));
    let title = given(input.movie_title.as_deref());
    let wanted = id
        .or(title)
        .ok_or_else(|| Error::new(errors::MOVIE_REQUIRED.code, errors::MOVIE_REQUIRED.message))?;
    match (find::film(sql, wanted), title) {
        (Ok(film), _) => Ok(film.id),
        (Err(_), Some(title)) if title != wanted => Ok(find::film(sql, title)?.id),
        (Err(error), _) => Err(error),
    }
}

fn bookable(sql: &mut dyn Sql, film: &str, from: i64, now: i64) -> Result<Vec<Listing>> {
    let filter = Filter {
        films: vec![film],
        from: Some(from),
        ..Filter::default()
    };
    let mut next = store::listings(sql, &filter, now, LOOK_AHEAD)?;
    next.retain(|listing| listing.can_be_booked(now));
    next.truncate(ALTERNATIVES);
    Ok(next)
}
