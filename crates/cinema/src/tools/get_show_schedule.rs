//! `get_show_schedule`: when and where a film runs on a day, or the day's programme.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{
    Context, Definition, Effect, Error, Handler, Hints, Language, Result, Sql, Today, Tool, Warning,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, arguments};
use crate::{
    answers::{AnyObject, Schedule, age_warning, without_required},
    errors,
    find::{self, given},
    model::{
        Listing,
        film::{AGE_CLASSES, Film},
        place::Place,
        titles,
    },
    programme::Filters,
    reasons::{Day, Explanation},
    state::CounterState,
    store::{self, Filter},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Movie ID or title; "" for every movie of the day
    movie_id: String,
    /// Movie title (can be used as alternative to movie_id)
    movie_title: Option<String>,
    /// Screening date in YYYY-MM-DD format; today, 明日, Saturday work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: String,
    /// Earliest start, HH:MM
    from_time: Option<String>,
    /// Latest start, HH:MM
    to_time: Option<String>,
    /// In Japanese or English
    genre: Option<String>,
    /// Strictest to list
    #[schemars(extend("enum" = AGE_CLASSES))]
    max_age_class: Option<String>,
    /// Free seats side by side
    #[schemars(range(min = 1, max = 20))]
    min_seats_together: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    schedules: Vec<Schedule>,
    /// If none is bookable: the next that are
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<AnyObject>>")]
    alternatives: Vec<Schedule>,
    /// Price list of a named movie; the cheapest that applies counts
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prices: Vec<String>,
    /// More in cinema://place
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    #[serde(flatten)]
    explanation: Explanation,
    #[serde(flatten)]
    today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// More than any cinema shows in a day.
const MOST_PER_DAY: usize = 1_000;
/// How many screenings one answer has. The rest is reached by `from_time`.
const MOST_LISTED: usize = 100;
const ALTERNATIVES: usize = 5;
/// How many of the next screenings are searched for alternatives.
const LOOK_AHEAD: usize = 400;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_show_schedule",
            title: "Screenings of a day",
            description: "Get screening schedule for a specified movie. Also returns seat \
                availability information.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("上映スケジュール")
    .rules(&[
        errors::DATE_PATTERN,
        errors::DATE_TYPE,
        errors::FROM_TIME_PATTERN,
        errors::TO_TIME_PATTERN,
    ])
    .normalise(|context, arguments| {
        arguments::text(arguments, "movie_id");
        arguments::text(arguments, "movie_title");
        arguments::date(context, arguments, "date");
        arguments::time(arguments, "from_time");
        arguments::time(arguments, "to_time");
        arguments::text(arguments, "genre");
        arguments::integer(arguments, "min_seats_together");
        arguments::age_class(arguments, "max_age_class");
        // The schema requires movie_id; a title alone, or no film, is accepted as well.
        let has_no_id = arguments
            .get("movie_id")
            .is_none_or(|id| ["", "*", "all"].iter().any(|any| id == any));
        if has_no_id {
            let title = arguments.get("movie_title").cloned();
            arguments.insert("movie_id".into(), title.unwrap_or_else(|| "".into()));
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
    let now = state.sales_time(context);
    let film = film(sql, &input)?;
    let filters = filters(&input)?;
    let day = Day::new(state, context, sql, date)?;
    let mut found = of_the_day(sql, film.as_ref(), date, state.now(context))?;
    let mut reason = None;
    if found.is_empty() {
        reason = Some(day.no_screening(film.as_ref().map(|film| film.title.as_str())));
    } else if film.is_none() {
        // The programme is what is still to come.
        let is_over = day.nothing_to_book(&found, now);
        found.retain(|listing| !listing.show.has_begun(now));
        if found.is_empty() {
            reason = is_over;
        }
    }
    if reason.is_none() {
        reason = filters.apply(state, context, sql, &mut found)?;
    }
    let reason = reason.or_else(|| day.nothing_to_book(&found, now));

    let alternatives = match reason {
        Some(_) => alternatives(state, context, sql, film.as_ref(), date, &filters)?,
        None => Vec::new(),
    };
    let reason = reason.map(|it| it.and_next(context.language, alternatives.first()));
    let age_class = film.as_ref().map_or("", |film| &film.age_class);
    let warnings = age_warning(age_class, context.language).into_iter();
    let warnings = warnings.chain(cut(&mut found, context.language)).collect();
    // Whoever has chosen a film asks next what it costs and how to get there.
    let first = found.first().filter(|_| film.is_some());
    let prices = price_board(state, context, sql, first)?;
    let place = match first {
        Some(_) => store::any_document::<Place>(sql)?,
        None => None,
    };
    let mut schedules = |listings: Vec<Listing>| -> Result<Vec<Schedule>> {
        let listed = listings.iter().map(|listing| {
            let list = state.prices(sql, &listing.show)?;
            let schedule = Schedule::of(listing, now, film.is_some());
            Ok(schedule.priced(&listing.show, list.as_deref()))
        });
        listed.collect()
    };
    Ok(Output {
        schedules: schedules(found)?,
        alternatives: schedules(alternatives)?,
        prices,
        place: place.map(|place| place.line(context.language)),
        explanation: reason.into(),
        today: Today::of(context),
        warnings,
    })
}

/// The price list of a screening, line by line.
fn price_board(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    listing: Option<&Listing>,
) -> Result<Vec<String>> {
    let Some(listing) = listing else {
        return Ok(Vec::new());
    };
    let list = state.prices(sql, &listing.show)?;
    let rules = list.iter().flat_map(|list| &list.rules);
    Ok(rules.map(|rule| rule.line(context.language)).collect())
}

/// Keeps as many screenings as one answer has.
fn cut(found: &mut Vec<Listing>, language: Language) -> Option<Warning> {
    let all = found.len();
    found.truncate(MOST_LISTED);
    let last = found.last()?.show.start;
    let message = match language {
        Language::English => format!(
            "Only {MOST_LISTED} of {all} screenings are listed; from_time {last} lists the rest."
        ),
        Language::Japanese => format!(
            "{all}回のうち{MOST_LISTED}回だけを表示しています。続きはfrom_timeを{last}にしてください。"
        ),
    };
    (all > MOST_LISTED).then(|| Warning::new("LIST_CUT", message).detail("total", all))
}

fn filters(input: &Input) -> Result<Filters<'_>> {
    let [from, to] = Filters::times(
        given(input.from_time.as_deref()),
        given(input.to_time.as_deref()),
    )?;
    Ok(Filters {
        genre: given(input.genre.as_deref()),
        max_age_class: given(input.max_age_class.as_deref()),
        from,
        to,
        min_seats_together: input.min_seats_together,
    })
}

/// The film, if one is named. Falls back to the title if the id is unknown, and refuses
/// a title of another film.
fn film(sql: &mut dyn Sql, input: &Input) -> Result<Option<Film>> {
    let title = given(input.movie_title.as_deref());
    let Some(wanted) = given(Some(&input.movie_id)).or(title) else {
        return Ok(None);
    };
    let Some(title) = title.filter(|title| *title != wanted) else {
        return find::film(sql, wanted).map(Some);
    };
    let Ok(film) = find::film(sql, wanted) else {
        return find::film(sql, title).map(Some);
    };
    let is_same = titles::names(title, &film)
        || find::film(sql, title).is_ok_and(|named| named.id == film.id);
    match is_same {
        true => Ok(Some(film)),
        false => Err(movie_mismatch(&film)),
    }
}

fn movie_mismatch(film: &Film) -> Error {
    Error::new(
        "MOVIE_MISMATCH",
        format!(
            "movie_id names {} ({}); movie_title says something else.",
            film.title, film.id
        ),
    )
    .next("Find out which movie is meant and give only its movie_id.")
}

fn of_the_day(
    sql: &mut dyn Sql,
    film: Option<&Film>,
    date: Date,
    now: i64,
) -> Result<Vec<Listing>> {
    let filter = Filter {
        films: film.iter().map(|film| film.id.as_str()).collect(),
        dates: vec![date.to_string()],
        ..Filter::default()
    };
    store::listings(sql, &filter, now, MOST_PER_DAY)
}

/// The next screenings that fit and can be booked, from that day on, or from now on if
/// there are none so late.
fn alternatives(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    film: Option<&Film>,
    date: Date,
    filters: &Filters<'_>,
) -> Result<Vec<Listing>> {
    let now = state.now(context);
    let on_sale = state.sales_time(context);
    let from = state.start_of(date)?.max(on_sale);
    for from in [from, on_sale] {
        let filter = Filter {
            films: film.iter().map(|film| film.id.as_str()).collect(),
            from: Some(from),
            ..Filter::default()
        };
        let mut next = store::listings(sql, &filter, now, LOOK_AHEAD)?;
        next.retain(|listing| listing.can_be_booked(on_sale));
        filters.apply(state, context, sql, &mut next)?;
        // For somebody without any wish, one says when the programme goes on.
        let has_wishes = film.is_some() || *filters != Filters::default();
        next.truncate(if has_wishes { ALTERNATIVES } else { 1 });
        if !next.is_empty() || from == on_sale {
            return Ok(next);
        }
    }
    Ok(Vec::new())
}
