//! `get_movie_list`: what is showing.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool, page};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, arguments};
use crate::{
    answers::without_required,
    errors,
    find::given,
    model::{
        film::{Film, is_genre},
        recommend::{self, Order},
        titles::{self, SearchHits},
    },
    reasons::{self, Day, Explanation},
    state::CounterState,
    store::{self, Showing},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    /// Screening date in YYYY-MM-DD format. If not specified, returns all currently showing movies; today, 明日, Saturday work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: Option<String>,
    /// Keyword for partial movie title search; romaji, English and words of the description work too
    search_query: Option<String>,
    /// Filter by genre, in Japanese or English
    genre: Option<String>,
    sort: Option<Order>,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    cursor: Option<String>,
}

fn default_limit() -> usize {
    50
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    /// Best first
    movies: Vec<Movie>,
    /// No title has it: ask which is meant
    #[serde(skip_serializing_if = "Option::is_none")]
    approximate: Option<bool>,
    #[serde(flatten)]
    explanation: Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    today: Today,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Movie {
    movie_id: String,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reading: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    english_title: String,
    genre: String,
    /// Minutes
    duration: i64,
    /// 1 to 5
    rating: f64,
    age_class: String,
    popularity: i64,
    description: String,
    release_date: String,
}

impl From<Film> for Movie {
    fn from(film: Film) -> Self {
        Self {
            movie_id: film.id,
            title: film.title,
            reading: film.reading,
            english_title: film.english_title,
            genre: film.genre,
            duration: film.duration_minutes,
            rating: film.rating,
            age_class: film.age_class,
            popularity: film.popularity,
            description: film.description,
            release_date: film.release_date,
        }
    }
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_movie_list",
            title: "Movies now showing",
            description: "Get a list of currently showing movies. Supports filtering by date and \
                partial search by movie title.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("上映中の映画")
    .rules(&[errors::DATE_PATTERN, errors::DATE_TYPE])
    .normalise(|context, arguments| {
        arguments::date(context, arguments, "date");
        arguments::text(arguments, "search_query");
        arguments::text(arguments, "genre");
        arguments::text(arguments, "sort");
        arguments::integer(arguments, "limit");
    })
    .personal(&["search_query"])
    // Screenings begin on the minute.
    .caches_answers()
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let date = input.date.map(|date| state.read_date(&date)).transpose()?;
    let today = state.programme_day(context);
    let showing = match date {
        Some(date) => Showing::On(date),
        None => Showing::From(today),
    };
    let mut films = store::films(sql, &showing)?;
    input.sort.unwrap_or_default().sort(&mut films);
    let mut reason = None;
    if films.is_empty() {
        let day = Day::new(state, context, sql, date.unwrap_or(today))?;
        reason = Some(day.no_screening(None));
    }
    if let (None, Some(wanted)) = (&reason, given(input.genre.as_deref())) {
        let mut genres: Vec<String> = films.iter().map(|film| film.genre.clone()).collect();
        films.retain(|film| is_genre(&film.genre, wanted));
        if films.is_empty() {
            genres.sort();
            genres.dedup();
            reason = Some(reasons::no_genre(context.language, wanted, genres));
        }
    }
    let mut approximate = None;
    if let (None, Some(query)) = (&reason, given(input.search_query.as_deref())) {
        let hits = search(query, &films);
        if hits.films.is_empty() {
            let all = store::films(sql, &Showing::From(today))?;
            let otherwise = titles::search(query, &all).films;
            reason = Some(match otherwise.is_empty() {
                true => reasons::no_title(context.language, query, &films),
                false => reasons::only_otherwise(context.language, query, &otherwise),
            });
        }
        approximate = (hits.are_approximate && !hits.films.is_empty()).then_some(true);
        films = hits.films.into_iter().cloned().collect();
    }
    let page = page::take(films, given(input.cursor.as_deref()), input.limit)?;
    Ok(Output {
        movies: page.items.into_iter().map(Movie::from).collect(),
        approximate,
        explanation: reason.into(),
        next_cursor: page.next_cursor,
        today: Today::of(context),
    })
}

/// The films that a query names or describes, or that it wants to be recommended.
fn search<'a>(query: &str, films: &'a [Film]) -> SearchHits<'a> {
    let hits = titles::search(query, films);
    match recommended(query, films) {
        Some(recommended) if hits.are_approximate => SearchHits {
            films: recommended,
            are_approximate: false,
        },
        _ => hits,
    }
}

/// The films to recommend, if the query asks for that. What else it says is a genre, or
/// describes the film.
fn recommended<'a>(query: &str, films: &'a [Film]) -> Option<Vec<&'a Film>> {
    let (order, rest) = recommend::wish(query)?;
    let mut fitting: Vec<&Film> = match films.iter().any(|film| is_genre(&film.genre, &rest)) {
        true => {
            let of_genre = films.iter().filter(|film| is_genre(&film.genre, &rest));
            of_genre.collect()
        }
        false => titles::search(&rest, films).films,
    };
    order.sort(&mut fitting);
    (!fitting.is_empty()).then_some(fitting)
}

/// All films that are showing, for the films resource.
pub fn all(state: &CounterState, context: &Context, sql: &mut dyn Sql) -> Result<Output> {
    let films = store::films(sql, &Showing::From(state.programme_day(context)))?;
    Ok(Output {
        movies: films.into_iter().map(Movie::from).collect(),
        approximate: None,
        explanation: Explanation::default(),
        next_cursor: None,
        today: Today::of(context),
    })
}
