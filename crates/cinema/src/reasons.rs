//! Why an answer is empty or has nothing to book: a sentence, and the facts that say
//! what would not be empty.

use jiff::civil::Date;
use kit::{Context, Result, Sql, context::Language};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    answers::{AnyObject, without_required},
    model::{Listing, Show, film::Film, when::HouseTime},
    state::CounterState,
    store,
};

/// How much of an argument is repeated.
const LONGEST_QUOTE: usize = 40;

#[derive(Debug, Clone)]
pub struct Reason {
    pub message: String,
    pub details: Map<String, Value>,
}

impl Reason {
    fn new(language: Language, english: impl Into<String>, japanese: impl Into<String>) -> Self {
        Self {
            message: match language {
                Language::English => english.into(),
                Language::Japanese => japanese.into(),
            },
            details: Map::new(),
        }
    }

    fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// Adds a screening that can be booked instead.
    pub fn and_next(mut self, language: Language, next: Option<&Listing>) -> Self {
        if let Some(Show {
            id,
            date,
            start,
            film_title,
            ..
        }) = next.map(|it| &it.show)
        {
            self.message += &match language {
                Language::English => format!(" The next one: {date} {start} {film_title} ({id})."),
                Language::Japanese => {
                    format!("次の回は{date} {start}「{film_title}」（{id}）です。")
                }
            };
        }
        self
    }
}

/// The part of an answer that gives the reason, if there is one.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Explanation {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "Option<AnyObject>")]
    details: Map<String, Value>,
}

impl From<Option<Reason>> for Explanation {
    fn from(reason: Option<Reason>) -> Self {
        match reason {
            Some(Reason { message, details }) => Self {
                message: Some(message),
                details,
            },
            None => Self::default(),
        }
    }
}

/// Advice for a cinema without any films.
pub const NO_FILMS: &str = "The cinema has no films yet. `madoguchi import cinema FILE` imports \
     yours, and `madoguchi demo load cinema` loads sample films into the same data directory \
     (`--data`).";

const NO_FILMS_IN_JAPANESE: &str = "映画がまだ登録されていません。\
     `madoguchi import cinema FILE`で登録するか、`madoguchi demo load cinema`でサンプルを読み込めます\
     （`--data`は同じものを指定）。";

/// The same advice in the language of the caller.
pub fn no_films(language: Language) -> &'static str {
    match language {
        Language::English => NO_FILMS,
        Language::Japanese => NO_FILMS_IN_JAPANESE,
    }
}

/// A day that was asked about, beside today and the programme.
#[derive(Debug)]
pub struct Day {
    language: Language,
    date: Date,
    today: Date,
    is_past: bool,
    has_films: bool,
    /// The first and the last day with screenings that are still to come.
    coming: Option<(String, String)>,
}

impl Day {
    pub fn new(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        date: Date,
    ) -> Result<Self> {
        Ok(Self {
            language: context.language,
            date,
            today: state.today(context),
            is_past: date < state.programme_day(context),
            has_films: store::has_films(sql)?,
            coming: store::coming_days(sql, state.now(context))?,
        })
    }

    /// Why the day has no screening, or none of the film.
    pub fn no_screening(&self, film: Option<&str>) -> Reason {
        let date = self.date;
        let days = &self.coming;
        let reason = match (self.past(), days, film) {
            _ if !self.has_films => self.no_films(),
            (Some(past), _, _) => past,
            (None, None, _) => self.programme_over(),
            (None, Some((_, last)), _) if date.to_string() > *last => Reason::new(
                self.language,
                format!("No screenings on {date} yet: the programme ends on {last}."),
                format!("{date}の上映はまだ決まっていません。発表済みの上映は{last}までです。"),
            ),
            (None, Some(_), Some(film)) => Reason::new(
                self.language,
                format!("{film} is not shown on {date}."),
                format!("{date}に「{film}」の上映はありません。"),
            ),
            (None, Some((first, last)), None) => Reason::new(
                self.language,
                format!("No screenings on {date}; the programme runs from {first} to {last}."),
                format!("{date}の上映はありません。上映期間は{first}から{last}までです。"),
            ),
        };
        self.with_programme(reason)
    }

    /// Why none of the day's screenings can be booked, if that is so.
    pub fn nothing_to_book(&self, listings: &[Listing], now: i64) -> Option<Reason> {
        if listings.iter().any(|listing| listing.can_be_booked(now)) {
            return None;
        }
        let date = self.date;
        let all_begun = listings.iter().all(|listing| listing.show.has_begun(now));
        let reason = self.past().unwrap_or_else(|| match all_begun {
            true => Reason::new(
                self.language,
                format!("All these screenings of {date} have begun."),
                format!("{date}の上映はすべて始まっています。"),
            ),
            false => Reason::new(
                self.language,
                format!("All these screenings of {date} that have not begun are full."),
                format!("{date}のこれからの回はすべて満席です。"),
            ),
        });
        Some(self.with_programme(reason))
    }

    fn past(&self) -> Option<Reason> {
        let (date, today) = (self.date, self.today);
        let past = || {
            Reason::new(
                self.language,
                format!("{date} is in the past; today is {today}."),
                format!("{date}は過去の日付です。今日は{today}です。"),
            )
        };
        self.is_past.then(past)
    }

    fn no_films(&self) -> Reason {
        Reason::new(self.language, NO_FILMS, NO_FILMS_IN_JAPANESE)
    }

    fn programme_over(&self) -> Reason {
        Reason::new(
            self.language,
            "Nothing is showing: all screenings are over. `madoguchi demo load cinema` loads new \
             sample screenings.",
            "すべての上映が終了しました。`madoguchi demo load cinema`で新しいサンプルの上映を\
             読み込めます。",
        )
    }

    fn with_programme(&self, reason: Reason) -> Reason {
        match &self.coming {
            Some((first, last)) => reason.detail(
                "programme",
                json!({ "first_date": first, "last_date": last }),
            ),
            None => reason,
        }
    }
}

pub fn no_genre(language: Language, wanted: &str, genres: Vec<String>) -> Reason {
    let list = genres.join(", ");
    let (wanted, _) = kit::text::cut(wanted, LONGEST_QUOTE);
    Reason::new(
        language,
        format!("No film of the genre {wanted}. Genres then: {list}."),
        format!("ジャンル「{wanted}」の作品はありません。上映中のジャンルは {list} です。"),
    )
    .detail("excluded_by", "genre")
    .detail("genres", genres)
}

pub fn no_age_class(language: Language, most: &str, classes: Vec<String>) -> Reason {
    let list = classes.join(", ");
    Reason::new(
        language,
        format!("No film with age class {most} or milder. Age classes then: {list}."),
        format!("年齢区分が{most}以下の作品はありません。上映作品の年齢区分は {list} です。"),
    )
    .detail("excluded_by", "max_age_class")
    .detail("age_classes", classes)
}

/// `first` and `last` are the starts there are.
pub fn no_start(language: Language, first: HouseTime, last: HouseTime) -> Reason {
    Reason::new(
        language,
        format!("No screening starts then. Starts are from {first} to {last}."),
        format!("その時間帯に始まる回はありません。開始は{first}から{last}までです。"),
    )
    .detail("excluded_by", "from_time, to_time")
    .detail("first_start", first.to_string())
    .detail("last_start", last.to_string())
}

/// `most` is the largest number of free seats side by side, and `show` has it.
pub fn not_together(language: Language, wanted: usize, most: usize, show: &Show) -> Reason {
    let Show {
        id,
        start,
        film_title,
        ..
    } = show;
    Reason::new(
        language,
        format!(
            "No screening has {wanted} free seats side by side. The most is {most}: {start} \
             {film_title} ({id})."
        ),
        format!(
            "{wanted}席並んで空いている回はありません。最大は{start}「{film_title}」（{id}）の\
             {most}席です。"
        ),
    )
    .detail("excluded_by", "min_seats_together")
    .detail("most_together", most)
    .detail("schedule_id", id.as_str())
}

/// `films` are all that could be found.
pub fn no_title(language: Language, query: &str, films: &[Film]) -> Reason {
    let titles = kit::shortlist(films.iter().map(|film| film.title.clone()));
    let (query, _) = kit::text::cut(query, LONGEST_QUOTE);
    Reason::new(
        language,
        format!("No film matches `{query}`. Showing: {}.", titles.sentence()),
        format!(
            "「{query}」に合う作品はありません。上映中: {}。",
            titles.japanese()
        ),
    )
    .detail("excluded_by", "search_query")
    .detail("titles", titles.shown)
    .detail("more", titles.more)
}

/// `films` match the query, but not the date or the genre.
pub fn only_otherwise(language: Language, query: &str, films: &[&Film]) -> Reason {
    let found = films
        .iter()
        .map(|film| format!("{} ({})", film.title, film.genre));
    let found = kit::shortlist(found);
    let (query, _) = kit::text::cut(query, LONGEST_QUOTE);
    let (english, japanese) = (found.sentence(), found.japanese());
    Reason::new(
        language,
        format!("`{query}` matches only without this date or genre: {english}."),
        format!("「{query}」に合うのは、この日付やジャンル以外の作品です: {japanese}。"),
    )
    .detail("excluded_by", "date, genre")
    .detail("titles", found.shown)
    .detail("more", found.more)
}
