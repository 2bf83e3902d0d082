//! `get_movie_list`: what is showing.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool, context::Language, page,
    text::fold,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, arguments};
use crate::{
    errors,
    find::given,
    model::titles::is_near,
    state::CounterState,
    store::{self, Film, Showing},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    /// Screening date in YYYY-MM-DD format. If not specified, returns all currently showing movies; today, tomorrow and 2026/11/15 work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: Option<String>,
    /// Keyword for partial movie title search
    search_query: Option<String>,
    /// Filter by genre
    genre: Option<String>,
    /// How many movies to return at most
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: usize,
    /// next_cursor of the answer before, to go on from there
    cursor: Option<String>,
}

const MAX_LIMIT: usize = 200;

fn default_limit() -> usize {
    50
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Best rated first, then most popular.
    pub movies: Vec<Movie>,
    /// True when no title has the keyword and these come near to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximate: Option<bool>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'static str>,
    /// There is more: pass it as cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub struct Movie {
    movie_id: String,
    title: String,
    genre: String,
    /// Minutes.
    duration: i64,
    /// A score from 1 to 5.
    rating: f64,
    /// G, PG12, R15+ or R18+.
    age_class: String,
    /// How much it is asked for, 0 to 100.
    popularity: i64,
    description: String,
    release_date: String,
}

impl From<Film> for Movie {
    fn from(film: Film) -> Self {
        Self {
            movie_id: film.name.id,
            title: film.name.title,
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
    .rules(&[errors::DATE_PATTERN, errors::DATE_TYPE])
    .normalise(|context, arguments| {
        arguments::date(context, arguments, "date");
        arguments::text(arguments, "search_query");
        arguments::text(arguments, "genre");
        arguments::integer(arguments, "limit");
    })
    .personal(&["search_query"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let has_date = input.date.is_some();
    let showing = match input.date {
        Some(date) => Showing::On(state.read_date(&date)?),
        None => Showing::From(state.programme_day(context)),
    };
    let mut films = store::films(sql, &showing)?;
    if let Some(genre) = given(input.genre.as_deref()).map(fold) {
        films.retain(|film| fold(&film.genre).contains(&genre));
    }
    let (films, approximate) = match given(input.search_query.as_deref()).map(fold) {
        Some(query) => search(films, &query),
        None => (films, None),
    };
    let is_filtered = has_date
        || given(input.genre.as_deref()).is_some()
        || given(input.search_query.as_deref()).is_some();
    let movies: Vec<Movie> = films.into_iter().map(Movie::from).collect();
    let message = match movies.is_empty() {
        true => Some(why_empty(sql, is_filtered, context.language)?),
        false => None,
    };
    let page = page::slice(&movies, given(input.cursor.as_deref()), input.limit)?;
    Ok(Output {
        movies: page.items,
        approximate,
        message,
        next_cursor: page.next_cursor,
    })
}

fn why_empty(sql: &mut dyn Sql, is_filtered: bool, language: Language) -> Result<&'static str> {
    Ok(match (store::has_films(sql)?, is_filtered, language) {
        (false, _, Language::English) => errors::NO_FILMS,
        (false, _, Language::Japanese) => {
            "映画がまだ登録されていません。`madoguchi demo load cinema`でサンプルを読み込めます\
             （`--data`は同じものを指定）。"
        }
        (true, true, Language::English) => {
            "No film matches. Without date, genre and search_query all films that are showing \
             are listed."
        }
        (true, true, Language::Japanese) => {
            "該当する映画がありません。date、genre、search_queryを外すと上映中の全作品を表示します。"
        }
        (true, false, Language::English) => {
            "Nothing is showing: all screenings are over. `madoguchi demo load cinema` loads new \
             sample screenings."
        }
        (true, false, Language::Japanese) => {
            "上映中の映画がありません。すべての上映が終了しました。\
             `madoguchi demo load cinema`で新しいサンプルの上映を読み込めます。"
        }
    })
}

/// Titles that contain the folded query, else those it may be a misspelling of.
fn search(films: Vec<Film>, query: &str) -> (Vec<Film>, Option<bool>) {
    let contains = |film: &Film| film.name.folded.contains(query);
    if films.iter().any(contains) {
        return (films.into_iter().filter(contains).collect(), None);
    }
    let near: Vec<Film> = films
        .into_iter()
        .filter(|film| is_near(query, &film.name.folded))
        .collect();
    let approximate = (!near.is_empty()).then_some(true);
    (near, approximate)
}

/// All films that are showing, for the films resource.
pub fn all(state: &CounterState, context: &Context, sql: &mut dyn Sql) -> Result<Output> {
    let films = store::films(sql, &Showing::From(state.programme_day(context)))?;
    Ok(Output {
        movies: films.into_iter().map(Movie::from).collect(),
        approximate: None,
        message: None,
        next_cursor: None,
    })
}
