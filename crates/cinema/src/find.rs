//! Which film or screening a caller means: an id, or words that fit exactly one.
//! Anything else is refused with candidates. Nothing is guessed, and what was
//! viewed last does not count.

use jiff::civil::Date;
use kit::{Context, Error, Result, Sql, Today};

use crate::{
    errors,
    model::{
        Listing, Show,
        film::Film,
        titles::{self, TitleMatch},
        when::{DAY, HouseTime},
    },
    reasons::{self, Day},
    state::CounterState,
    store::{self, Filter, Showing},
};

/// More screenings than any cinema has in a day.
const MOST: usize = 1_000;

/// The film that an id or a title names.
pub fn film(sql: &mut dyn Sql, wanted: &str) -> Result<Film> {
    let films = store::films(sql, &Showing::Ever)?;
    match titles::find(wanted, &films) {
        TitleMatch::One(film) => Ok(film.clone()),
        TitleMatch::Several(found) => Err(errors::movie_ambiguous(found)),
        TitleMatch::None(nearest) => Err(explained(sql, errors::movie_not_found(nearest))?),
    }
}

/// The error, with advice for the operator if the cinema has no films at all.
fn explained(sql: &mut dyn Sql, error: Error) -> Result<Error> {
    Ok(match store::has_films(sql)? {
        true => error,
        false => error.next(reasons::NO_FILMS),
    })
}

/// What the arguments say about a screening.
#[derive(Debug, Default)]
pub struct ScreeningQuery<'a> {
    pub schedule_id: Option<&'a str>,
    pub movie_title: Option<&'a str>,
    pub date: Option<&'a str>,
    pub start_time: Option<&'a str>,
}

pub fn screening(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &ScreeningQuery<'_>,
) -> Result<Show> {
    let date = given(query.date)
        .map(|text| state.read_date(text))
        .transpose()
        .map_err(|error| error.next(format!("Today is {}.", Today::of(context).sentence())))?;
    let time = given(query.start_time)
        .map(|text| HouseTime::parse(text).ok_or_else(|| errors::invalid_time("start_time")))
        .transpose()?;
    let now = state.now(context);
    if let Some(id) = given(query.schedule_id) {
        let Some(show) = store::show(sql, id)? else {
            let coming = store::listings(sql, &coming(&[], now), now, MOST)?;
            return Err(explained(sql, errors::schedule_not_found(None, &coming))?);
        };
        return agreeing(state, sql, show, query, date, time);
    }

    let films = film_ids(sql, query.movie_title)?;
    let films: Vec<&str> = films.iter().map(String::as_str).collect();
    let found = match (date, time) {
        (Some(date), None) => of_the_day(sql, &films, date, now)?,
        (date, time) => {
            let mut filter = coming(&films, now);
            match (date, time) {
                (Some(date), Some(time)) => {
                    filter.from = None;
                    filter.at = Some(state.instant(date, time)?);
                }
                (_, Some(time)) => {
                    filter.times = std::iter::once(time).chain(time.other_name()).collect();
                }
                _ => {}
            }
            store::listings(sql, &filter, now, MOST)?
        }
    };
    let nothing_given = films.is_empty() && date.is_none() && time.is_none();
    match found.as_slice() {
        [one] if !nothing_given => Ok(one.show.clone()),
        [] => {
            let wanted = WantedTime {
                films: &films,
                date,
                time,
            };
            let error = not_found(state, context, sql, &wanted)?;
            Err(explained(sql, error)?)
        }
        _ => {
            let message = match nothing_given {
                true => "No screening was named.",
                false => "Several screenings match.",
            };
            Err(errors::schedule_ambiguous(message, &found))
        }
    }
}

struct WantedTime<'a> {
    films: &'a [&'a str],
    date: Option<Date>,
    time: Option<HouseTime>,
}

/// Proposes the rest of the day, the nearest time first, or else the next screenings.
fn not_found(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    wanted: &WantedTime<'_>,
) -> Result<Error> {
    let now = state.now(context);
    let mut near = match wanted.date {
        Some(date) => of_the_day(sql, wanted.films, date, now)?,
        None => Vec::new(),
    };
    let mut reason = None;
    if near.is_empty() {
        near = store::listings(sql, &coming(wanted.films, now), now, MOST)?;
        if let Some(date) = wanted.date {
            let day = Day::new(state, context, sql, date)?;
            let title = near.first().map(|listing| listing.show.film_title.as_str());
            reason = Some(day.no_screening(title.filter(|_| wanted.films.len() == 1)));
        }
    }
    // On other days, the next ones are nearer than those at the same hour.
    if let (Some(time), None) = (wanted.time, &reason) {
        near.sort_by_key(|listing| (listing.show.start.minutes() - time.minutes()).abs());
    }
    let why = reason.as_ref().map(|reason| reason.message.as_str());
    Ok(errors::schedule_not_found(why, &near))
}

/// The films that a title may mean; none where there is no title.
fn film_ids(sql: &mut dyn Sql, title: Option<&str>) -> Result<Vec<String>> {
    let Some(title) = given(title) else {
        return Ok(Vec::new());
    };
    let films = store::films(sql, &Showing::Ever)?;
    match titles::find(title, &films) {
        TitleMatch::One(film) => Ok(vec![film.id.clone()]),
        TitleMatch::Several(films) => Ok(films.iter().map(|film| film.id.clone()).collect()),
        TitleMatch::None(nearest) => Err(explained(sql, errors::movie_not_found(nearest))?),
    }
}

/// Screenings that have not begun.
fn coming<'a>(films: &[&'a str], now: i64) -> Filter<'a> {
    Filter {
        films: films.to_vec(),
        from: Some(now),
        ..Filter::default()
    }
}

/// The day's screenings. Those that have begun are left out while others are
/// still to come. A day without any has the late shows of the night before.
fn of_the_day(sql: &mut dyn Sql, films: &[&str], date: Date, now: i64) -> Result<Vec<Listing>> {
    let on = |date: Date| Filter {
        films: films.to_vec(),
        dates: vec![date.to_string()],
        ..Filter::default()
    };
    let mut found = store::listings(sql, &on(date), now, MOST)?;
    if found.is_empty()
        && let Ok(before) = date.yesterday()
    {
        found = store::listings(sql, &on(before), now, MOST)?;
        found.retain(|listing| listing.show.start.minutes() >= DAY);
    }
    if found.iter().any(|listing| !listing.show.has_begun(now)) {
        found.retain(|listing| !listing.show.has_begun(now));
    }
    Ok(found)
}

/// The screening that a schedule id names, unless title, date or time contradict it.
fn agreeing(
    state: &CounterState,
    sql: &mut dyn Sql,
    show: Show,
    query: &ScreeningQuery<'_>,
    date: Option<Date>,
    time: Option<HouseTime>,
) -> Result<Show> {
    let title_fits = match given(query.movie_title) {
        Some(title) => {
            let films = store::films(sql, &Showing::Ever)?;
            let mut films = films.iter().filter(|film| film.id == show.film_id);
            films.any(|film| titles::names(title, film))
        }
        None => true,
    };
    let time_fits = match (date, time) {
        (Some(date), Some(time)) => state.instant(date, time)? == show.starts_at,
        (Some(date), None) => {
            let night_before = date.yesterday().unwrap_or(date).to_string();
            let late = show.start.minutes() >= DAY;
            show.date == date.to_string() || (late && show.date == night_before)
        }
        (None, Some(time)) => show.start == time || Some(show.start) == time.other_name(),
        (None, None) => true,
    };
    if title_fits && time_fits {
        Ok(show)
    } else {
        Err(errors::schedule_mismatch(&show))
    }
}

/// The text, unless it is empty: models send `""` for what they do not know.
pub fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}
