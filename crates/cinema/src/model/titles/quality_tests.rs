//! How often a search finds the film first that people mean: real titles, as people type
//! them. `known.json` was written beside the code, `blind.json` by somebody who had not
//! seen it.

use serde::Deserialize;

use super::{FilmNames, search_among};
use crate::model::film::Film;

/// The share of queries that must find their film first.
const GOAL: f64 = 0.95;

#[derive(Deserialize)]
struct Titled {
    title: String,
    /// In kana.
    reading: String,
    english_title: String,
    /// What people type when they mean this film.
    queries: Vec<String>,
}

impl Titled {
    fn film(&self) -> Film {
        Film {
            id: self.title.clone(),
            title: self.title.clone(),
            reading: self.reading.clone(),
            english_title: self.english_title.clone(),
            ..Film::default()
        }
    }
}

/// Each query is asked in a cinema that shows all films of both lists.
#[test]
fn the_film_that_people_mean_comes_first() {
    let lists = [
        ("known", include_str!("known.json")),
        ("blind", include_str!("blind.json")),
    ];
    let lists = lists.map(|(name, text)| {
        let films: Vec<Titled> = serde_json::from_str(text).unwrap();
        (name, films)
    });
    let films: Vec<Film> = lists
        .iter()
        .flat_map(|(_, titled)| titled.iter().map(Titled::film))
        .collect();
    let films: Vec<FilmNames> = films.iter().map(FilmNames::of).collect();
    for (name, titled) in &lists {
        let asked: usize = titled.iter().map(|film| film.queries.len()).sum();
        let mut misses = Vec::new();
        for (film, query) in titled
            .iter()
            .flat_map(|film| film.queries.iter().map(move |query| (film, query)))
        {
            let hits = search_among(query, &films).films;
            let first = hits.first().map_or("nothing", |film| &film.title);
            if first != film.title {
                misses.push(format!("{query}: {first} instead of {}", film.title));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        let share = 1.0 - misses.len() as f64 / asked as f64;
        let count = titled.len();
        let percent = share * 100.0;
        let found = format!("{name}: {count} films, {asked} queries, {percent:.1} % found first");
        eprintln!("{found}\n  {}", misses.join("\n  "));
        assert!(share >= GOAL, "{found}");
    }
}
