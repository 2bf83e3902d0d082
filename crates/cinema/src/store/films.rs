//! Films.

use jiff::civil::Date;
use kit::{Param, Result, Row, Sql};

use crate::model::{film::Film, when::DAY};

/// Which films count as showing.
pub enum Showing {
    /// With a screening on this day, or a late show of the day before.
    On(Date),
    /// With a screening on this day or later, or with no screening at all.
    From(Date),
    /// All that there are.
    Ever,
}

pub(super) const COLUMNS: &str = "f.id, f.title, f.reading, f.english_title, f.genre, f.duration_minutes, \
     f.rating, f.age_class, f.popularity, f.description, f.english_description, f.release_date";

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
        Showing::Ever => sql.query(
            &format!("SELECT {COLUMNS} FROM cinema_films f {order}"),
            &[],
        )?,
    };
    rows.iter().map(film).collect()
}

pub fn has_films(sql: &mut dyn Sql) -> Result<bool> {
    let any = sql.query_one("SELECT 1 FROM cinema_films LIMIT 1", &[])?;
    Ok(any.is_some())
}

pub(super) fn film(row: &Row) -> Result<Film> {
    Ok(Film {
        id: row.text(0)?,
        title: row.text(1)?,
        reading: row.text(2)?,
        english_title: row.text(3)?,
        genre: row.text(4)?,
        duration_minutes: row.int(5)?,
        rating: row.real(6)?,
        age_class: row.text(7)?,
        popularity: row.int(8)?,
        description: row.text(9)?,
        english_description: row.text(10)?,
        release_date: row.text(11)?,
    })
}
