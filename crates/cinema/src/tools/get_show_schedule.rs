//! `get_show_schedule`: when and where a film runs on a day.

use std::sync::Arc;

use kit::{Context, Effect, Error, Result, Run, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, arguments};
use crate::{
    answers::Schedule,
    errors,
    find::{self, given},
    house::House,
    model::Listing,
    store::{self, Filter},
};

#[derive(Deserialize)]
pub struct Input {
    movie_id: Option<String>,
    movie_title: Option<String>,
    date: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "movie_id": {
                "type": "string",
                "description": "Movie ID; a title works too"
            },
            "movie_title": {
                "type": "string",
                "description": "Movie title (can be used as alternative to movie_id)"
            },
            "date": {
                "type": "string",
                "description": "Screening date in YYYY-MM-DD format; today, tomorrow and 2026/11/15 work too",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}$"
            }
        },
        "required": ["movie_id", "date"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    schedules: Vec<Schedule>,
    /// When none of the schedules can be booked: the next screenings of the film that can.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<Schedule>>,
}

/// More often than any cinema shows one film in a day.
const MOST_PER_DAY: usize = 200;
const ALTERNATIVES: usize = 5;
/// How many of the next screenings are looked at for free seats.
const LOOK_AHEAD: usize = 60;

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "get_show_schedule",
        aliases: &[],
        title: "Screenings of a movie",
        description: "Get screening schedule for a specified movie. Also returns seat \
            availability information.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[
            errors::DATE_PATTERN,
            errors::DATE_TYPE,
            errors::MOVIE_REQUIRED,
        ],
        normalise: |context, arguments| {
            arguments::text(arguments, "movie_id");
            arguments::text(arguments, "movie_title");
            arguments::date(context, arguments, "date");
            // The schema asks for movie_id; a title is as good.
            let nameless = arguments.get("movie_id").is_none_or(|id| id == "");
            if let (true, Some(title)) = (nameless, arguments.get("movie_title").cloned()) {
                arguments.insert("movie_id".into(), title);
            }
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(house, handle),
    }
}

fn handle(house: &House, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let date = house.read_date(&input.date)?;
    let now = house.now(context);
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
        // From that day on; or, when it lies beyond the programme, from now on.
        let from = house.start_of(date)?.max(now);
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

/// The film's id. An id that is none may come with a title that is one.
fn film(sql: &mut dyn Sql, input: &Input) -> Result<String> {
    let id = given(input.movie_id.as_deref());
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
