//! Films.

use jiff::civil::Date;
use kit::{Param, Result, Row, Sql};

use crate::model::{titles::FilmName, when::DAY};

#[derive(Debug, Clone)]
pub struct Film {
    pub name: FilmName,
    pub genre: String,
    pub duration_minutes: i64,
    pub rating: f64,
    pub age_class: String,
    pub popularity: i64,
    pub description: String,
    pub release_date: String,
}

/// Which films count as showing.
pub enum Showing {
    /// With a screening on this day, or a late show of the day before.
    On(Date),
    /// With a screening on this day or later, or with no screening at all.
    From(Date),
}

const COLUMNS: &str = "f.id, f.title, f.title_folded, f.genre, f.duration_minutes, f.rating, \
     f.age_class, f.popularity, f.description, f.release_date";

/// The best rated first, then the most popular.
pub fn films(sql: &mut dyn Sql, showing: &Showing) -> Result<Vec<Film>> {
    let order = "ORDER BY f.rating DESC, f.popularity DESC, f.title, f.id";
    let rows = match showing {
        Showing::On(date) => {
            let before = date.yesterday().unwrap_or(*date).to_string();
            sql.query(
                &format!(
                    "SELECT {COLUMNS} FROM cinema_films f WHERE EXISTS \
                     (SELECT 1 FROM cinema_shows s WHERE s.film_id = f.id AND (s.show_date = $1 \
                     OR (s.show_date = $2 AND s.start_minute >= $3))) {order}"
                ),
                &[
                    Param::Text(&date.to_string()),
                    Param::Text(&before),
                    Param::Int(DAY),
                ],
            )?
        }
        Showing::From(date) => sql.query(
            &format!(
                "SELECT {COLUMNS} FROM cinema_films f WHERE \
                 EXISTS (SELECT 1 FROM cinema_shows s WHERE s.film_id = f.id AND s.show_date >= $1) \
                 OR NOT EXISTS (SELECT 1 FROM cinema_shows s WHERE s.film_id = f.id) {order}"
            ),
            &[Param::Text(&date.to_string())],
        )?,
    };
    rows.iter().map(film).collect()
}

pub fn has_films(sql: &mut dyn Sql) -> Result<bool> {
    let any = sql.query_one("SELECT 1 FROM cinema_films LIMIT 1", &[])?;
    Ok(any.is_some())
}

/// What is needed to find a film by its name.
pub fn film_names(sql: &mut dyn Sql) -> Result<Vec<FilmName>> {
    sql.query(
        "SELECT id, title, title_folded FROM cinema_films ORDER BY id",
        &[],
    )?
    .iter()
    .map(name)
    .collect()
}

fn name(row: &Row) -> Result<FilmName> {
    Ok(FilmName {
        id: row.text(0)?,
        title: row.text(1)?,
        folded: row.text(2)?,
    })
}

fn film(row: &Row) -> Result<Film> {
    Ok(Film {
        name: name(row)?,
        genre: row.text(3)?,
        duration_minutes: row.int(4)?,
        rating: row.real(5)?,
        age_class: row.text(6)?,
        popularity: row.int(7)?,
        description: row.text(8)?,
        release_date: row.text(9)?,
    })
}
