//! Which film or screening a caller means. An id, or words that fit exactly
//! one; anything else is answered with candidates. Never a guess, and never
//! what was looked at last.

use jiff::civil::Date;
use kit::{Context, Error, Result, Sql};

use crate::{
    errors,
    model::{
        Listing, Show,
        titles::{self, FilmName, TitleMatch},
        when::{DAY, HouseTime},
    },
    state::CounterState,
    store::{self, Filter},
};

/// How many screenings an error proposes at most.
const CANDIDATES: usize = 20;
/// More screenings than any cinema has in a day.
const MOST_PER_DAY: usize = 1_000;

/// The film that an id or a title names.
pub fn film(sql: &mut dyn Sql, wanted: &str) -> Result<FilmName> {
    let films = store::film_names(sql)?;
    match titles::find(wanted, &films) {
        TitleMatch::One(film) => Ok(film.clone()),
        TitleMatch::Several(found) => Err(errors::movie_ambiguous(&found)),
        TitleMatch::None(nearest) => Err(explained(sql, errors::movie_not_found(&nearest))?),
    }
}

/// Where there are no films at all, the error says what helps.
fn explained(sql: &mut dyn Sql, error: Error) -> Result<Error> {
    Ok(match store::has_films(sql)? {
        true => error,
        false => error.next(errors::NO_FILMS),
    })
}

/// What arguments say about a screening.
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
    wanted: &ScreeningQuery<'_>,
) -> Result<Show> {
    let date = given(wanted.date)
        .map(|text| state.read_date(text))
        .transpose()?;
    let time = given(wanted.start_time)
        .map(|text| HouseTime::parse(text).ok_or_else(errors::invalid_time))
        .transpose()?;
    let now = state.now(context);
    if let Some(id) = given(wanted.schedule_id) {
        let Some(show) = store::show(sql, id)? else {
            let coming = Filter {
                from: Some(now),
                ..Filter::default()
            };
            let candidates = store::listings(sql, &coming, now, CANDIDATES)?;
            return Err(explained(sql, errors::schedule_not_found(&candidates))?);
        };
        return agreeing(state, show, wanted, date, time);
    }

    let names = match given(wanted.movie_title) {
        Some(_) => store::film_names(sql)?,
        None => Vec::new(),
    };
    let films: Vec<&str> = match given(wanted.movie_title).map(|t| titles::find(t, &names)) {
        None => Vec::new(),
        Some(TitleMatch::One(film)) => vec![film.id.as_str()],
        Some(TitleMatch::Several(films)) => films.iter().map(|film| film.id.as_str()).collect(),
        Some(TitleMatch::None(nearest)) => {
            return Err(explained(sql, errors::movie_not_found(&nearest))?);
        }
    };
    let coming = Filter {
        films: films.clone(),
        from: Some(now),
        ..Filter::default()
    };
    let found = match (date, time) {
        (Some(date), Some(time)) => {
            let filter = Filter {
                films: films.clone(),
                at: Some(state.instant(date, time)?),
                ..Filter::default()
            };
            store::listings(sql, &filter, now, CANDIDATES)?
        }
        (Some(date), None) => of_the_day(sql, &films, date, now)?,
        (None, Some(time)) => {
            let filter = Filter {
                times: std::iter::once(time).chain(time.other_name()).collect(),
                ..coming.clone()
            };
            store::listings(sql, &filter, now, CANDIDATES)?
        }
        (None, None) => store::listings(sql, &coming, now, CANDIDATES)?,
    };
    let nothing_given = films.is_empty() && date.is_none() && time.is_none();
    match found.as_slice() {
        [one] if !nothing_given => Ok(one.show.clone()),
        [] => {
            // Something near: the rest of that day, else whatever comes next.
            let mut near = match date {
                Some(date) => of_the_day(sql, &films, date, now)?,
                None => Vec::new(),
            };
            if near.is_empty() {
                near = store::listings(sql, &coming, now, CANDIDATES)?;
            }
            Err(explained(sql, errors::schedule_not_found(&near))?)
        }
        _ if nothing_given => Err(errors::schedule_ambiguous(
            "No screening was named.",
            &found,
        )),
        _ => Err(errors::schedule_ambiguous(
            "Several screenings match.",
            &found,
        )),
    }
}

/// The day's screenings. Those that have begun are left out while others are
/// still to come, and those of the night before count when the day itself has none.
fn of_the_day(sql: &mut dyn Sql, films: &[&str], date: Date, now: i64) -> Result<Vec<Listing>> {
    let on = |date: Date| Filter {
        films: films.to_vec(),
        dates: vec![date.to_string()],
        ..Filter::default()
    };
    let mut found = store::listings(sql, &on(date), now, MOST_PER_DAY)?;
    if found.is_empty()
        && let Ok(before) = date.yesterday()
    {
        found = store::listings(sql, &on(before), now, MOST_PER_DAY)?;
        found.retain(|listing| listing.show.start.minutes() >= DAY);
    }
    if found.iter().any(|listing| !listing.show.has_begun(now)) {
        found.retain(|listing| !listing.show.has_begun(now));
    }
    found.truncate(CANDIDATES);
    Ok(found)
}

/// A schedule id decides; but title, date and time, where they are given too,
/// must not speak of something else.
fn agreeing(
    state: &CounterState,
    show: Show,
    wanted: &ScreeningQuery<'_>,
    date: Option<Date>,
    time: Option<HouseTime>,
) -> Result<Show> {
    let title_fits = given(wanted.movie_title).is_none_or(|title| {
        title == show.film_id || kit::text::fold(&show.film_title).contains(&kit::text::fold(title))
    });
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

/// Models send `""` for what they do not know.
pub fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}
