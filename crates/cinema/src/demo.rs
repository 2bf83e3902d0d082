//! Sample data: a cinema with a programme for today and the coming days.
//!
//! What it shows is in [`data`], when and where in [`timetable`]; this file
//! keeps it in the store. Every row is marked as demo data, so that it can be
//! removed completely.

mod data;
mod past;
mod timetable;

use std::sync::Arc;

use jiff::{ToSpan, civil::Date};
use kit::{
    BoxFuture, Context, Error, Param, Result, Sql, Store,
    context::Change,
    counter::Demo,
    sql::{Budget, values},
    text::fold,
};

use crate::{
    ids,
    model::{
        Status,
        hall::Hall,
        seat::{Seat, join},
    },
    state::CounterState,
    store::{insert_rows, save_document, save_hall},
};
use timetable::PlannedShow;

/// How many days past today the programme reaches: one more than a week, so that
/// the week ahead is complete at any hour.
const DAYS_AHEAD: i64 = 8;
/// The caller of the sample reservations.
const CALLER: &str = "demo";

pub struct DemoData {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
}

impl DemoData {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
        }
    }

    /// Writes the programme from `from` to its last day.
    async fn fill(&self, context: &Context, from: Date, is_new: bool) -> Result<NewScreenings> {
        let state = Arc::clone(&self.state);
        let until = last_day(self.state.today(context))?;
        let now = self.state.now(context);
        let filled = self
            .store
            .transaction(Budget::default(), move |sql| {
                if is_new {
                    refuse_used_ids(sql)?;
                    write_halls(sql)?;
                }
                write_films(sql)?;
                save_document(sql, &*data::PRICES, true)?;
                save_document(sql, &*data::PLACE, true)?;
                let mut count = 0;
                for date in from.series(1.day()).take_while(|date| *date <= until) {
                    count += write_day(&state, sql, date, now)?;
                }
                Ok(NewScreenings { count, until })
            })
            .await?;
        context.changed(Change::ResourceList);
        Ok(filled)
    }
}

struct NewScreenings {
    count: usize,
    until: Date,
}

impl Demo for DemoData {
    fn load<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let today = self.state.today(context);
            let NewScreenings { count, until } = self.fill(context, today, true).await?;
            Ok(format!(
                "Loaded {} films, {} halls and {count} screenings from {today} to {until}.",
                data::FILMS.len(),
                data::HALLS.len(),
            ))
        })
    }

    fn remove<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let real = self.store.transaction(Budget::default(), remove).await?;
            context.changed(Change::ResourceList);
            Ok(match real {
                0 => "Removed the demo films, halls, screenings and reservations.".to_owned(),
                count => format!(
                    "Removed the demo films, halls, screenings and reservations, and {count} \
                     real reservation(s) for those screenings."
                ),
            })
        })
    }

    fn is_empty<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            self.store
                .query(Budget::default(), |sql| {
                    let found = sql.query(
                        "SELECT 1 WHERE EXISTS (SELECT 1 FROM cinema_films) \
                         OR EXISTS (SELECT 1 FROM cinema_theaters)",
                        &[],
                    )?;
                    Ok(found.is_empty())
                })
                .await
        })
    }

    fn refresh<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let last = self
                .store
                .query(Budget::default(), |sql| {
                    let newest = "SELECT MAX(show_date) FROM cinema_shows WHERE is_demo = 1";
                    match sql.query_one(newest, &[])? {
                        Some(row) => row.opt_text(0),
                        None => Ok(None),
                    }
                })
                .await?;
            let Some(last) = last else {
                return Ok(());
            };
            let last: Date = last.parse().map_err(Error::internal)?;
            let today = self.state.today(context);
            if last < last_day(today)? {
                let from = last.tomorrow().map_err(Error::internal)?.max(today);
                self.fill(context, from, false).await?;
                past::forget(&self.store, today).await?;
            }
            Ok(())
        })
    }
}

fn last_day(today: Date) -> Result<Date> {
    today
        .checked_add(DAYS_AHEAD.days())
        .map_err(Error::internal)
}

/// Refuses to load the demo where real films or halls have its ids.
fn refuse_used_ids(sql: &mut dyn Sql) -> Result<()> {
    let films = data::FILMS.iter().map(|film| Param::Text(film.id));
    let halls = data::HALLS.iter().map(|hall| Param::Text(hall.id));
    for (table, ids) in [
        ("cinema_films", films.collect::<Vec<_>>()),
        ("cinema_theaters", halls.collect()),
    ] {
        let marks = values(1, ids.len());
        let foreign = sql.query(
            &format!("SELECT id FROM {table} WHERE is_demo = 0 AND id IN {marks}"),
            &ids,
        )?;
        if let Some(row) = foreign.first() {
            let message = format!("Your own data already uses the id {}.", row.text(0)?);
            let error = Error::new("DEMO_CONFLICT", message);
            return Err(error.next("Load the demo into an empty store."));
        }
    }
    Ok(())
}

/// Writes the halls that are missing. A hall stays when the demo is removed if real
/// screenings use it.
fn write_halls(sql: &mut dyn Sql) -> Result<()> {
    let there = sql.query("SELECT id FROM cinema_theaters", &[])?;
    let there: Vec<String> = there.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
    for hall in &*data::HALLS {
        if !there.iter().any(|id| id == hall.id) {
            save_hall(sql, hall.id, hall.name, &hall.plan(), true)?;
        }
    }
    Ok(())
}

/// Writes the films, and what a later version of the demo knows about those it finds.
fn write_films(sql: &mut dyn Sql) -> Result<()> {
    // A desk of the version before reads `title_folded` in the same database.
    let folded: Vec<String> = data::FILMS.iter().map(|film| fold(film.title)).collect();
    let films = data::FILMS.iter().zip(&folded).flat_map(|(film, folded)| {
        [
            Param::Text(film.id),
            Param::Text(film.title),
            Param::Text(folded),
            Param::Text(film.reading),
            Param::Text(film.english_title),
            Param::Text(film.genre),
            Param::Int(film.minutes),
            Param::Real(film.rating),
            Param::Text(film.age_class),
            Param::Int(film.popularity),
            Param::Text(film.description),
            Param::Text(film.english_description),
            Param::Text(film.release_date),
            Param::Int(1),
        ]
    });
    sql.execute(
        &format!(
            "INSERT INTO cinema_films (id, title, title_folded, reading, english_title, genre, \
             duration_minutes, rating, age_class, popularity, description, english_description, \
             release_date, is_demo) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             reading = excluded.reading, english_title = excluded.english_title, \
             english_description = excluded.english_description \
             WHERE cinema_films.is_demo = 1",
            values(data::FILMS.len(), 14)
        ),
        &films.collect::<Vec<_>>(),
    )?;
    Ok(())
}

/// Writes one day and returns how many screenings are new. Another process may
/// do the same: only the one that wrote a screening adds its reservations.
fn write_day(state: &CounterState, sql: &mut dyn Sql, date: Date, now: i64) -> Result<usize> {
    let day = date.to_string();
    let programme = timetable::programme(date);
    let mut params = Vec::new();
    for planned in &programme {
        params.extend([
            Param::Text(&planned.id),
            Param::Text(planned.film.id),
            Param::Text(planned.hall.id),
            Param::Text(&day),
            Param::Int(planned.start.minutes()),
            Param::Int(planned.end.minutes()),
            Param::Int(state.instant(date, planned.start)?),
            Param::Int(1),
        ]);
    }
    let rows = sql.query(
        &format!(
            "INSERT INTO cinema_shows (id, film_id, theater_id, show_date, start_minute, \
             end_minute, starts_at, is_demo) VALUES {} ON CONFLICT (id) DO NOTHING RETURNING id",
            values(programme.len(), 8)
        ),
        &params,
    )?;
    let new: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
    let parties: Vec<Party<'_>> = programme
        .iter()
        .filter(|planned| new.contains(&planned.id))
        .flat_map(|planned| parties(planned, &planned.hall.plan()))
        .collect();
    write_parties(sql, &parties, now)?;
    Ok(new.len())
}

/// People who booked together.
struct Party<'a> {
    reservation_id: String,
    show_id: &'a str,
    seats: Vec<Seat>,
}

fn parties<'a>(planned: &'a PlannedShow, hall: &Hall) -> Vec<Party<'a>> {
    timetable::parties(planned, hall)
        .into_iter()
        .map(|seats| Party {
            reservation_id: ids::reservation(),
            show_id: &planned.id,
            seats,
        })
        .collect()
}

fn write_parties(sql: &mut dyn Sql, parties: &[Party<'_>], now: i64) -> Result<()> {
    let names: Vec<String> = parties.iter().map(|party| join(&party.seats)).collect();
    let reservations: Vec<[Param<'_>; 7]> = parties
        .iter()
        .zip(&names)
        .map(|(party, names)| {
            [
                Param::Text(&party.reservation_id),
                Param::Text(party.show_id),
                Param::Text(names),
                Param::Text(Status::Confirmed.as_str()),
                Param::Text(CALLER),
                Param::Int(now),
                Param::Int(1),
            ]
        })
        .collect();
    let columns = "id, show_id, seats, status, caller, created_at, is_demo";
    let table = format!("cinema_reservations ({columns})");
    insert_rows(sql, &table, &reservations)?;
    let taken: Vec<[Param<'_>; 4]> = parties
        .iter()
        .flat_map(|party| party.seats.iter().map(move |seat| (party, seat)))
        .map(|(party, seat)| {
            [
                Param::Text(party.show_id),
                Param::Text(&seat.row),
                Param::Int(i64::from(seat.number)),
                Param::Text(&party.reservation_id),
            ]
        })
        .collect();
    let table = "cinema_taken_seats (show_id, seat_row, seat_number, reservation_id)";
    insert_rows(sql, table, &taken)
}

/// Removes the demo data. Returns how many real reservations of demo screenings
/// were removed with them. Films and halls that real screenings use stay.
fn remove(sql: &mut dyn Sql) -> Result<i64> {
    let of_demo_shows = "show_id IN (SELECT id FROM cinema_shows WHERE is_demo = 1)";
    let real = sql.query_one(
        &format!("SELECT COUNT(*) FROM cinema_reservations WHERE is_demo = 0 AND {of_demo_shows}"),
        &[],
    )?;
    let unused_halls = "SELECT t.id FROM cinema_theaters t WHERE t.is_demo = 1 AND NOT EXISTS \
         (SELECT 1 FROM cinema_shows s WHERE s.theater_id = t.id)";
    for statement in [
        format!("DELETE FROM cinema_taken_seats WHERE {of_demo_shows}"),
        format!("DELETE FROM cinema_waiting WHERE {of_demo_shows}"),
        format!("DELETE FROM cinema_reservations WHERE {of_demo_shows}"),
        "DELETE FROM cinema_shows WHERE is_demo = 1".to_owned(),
        format!("DELETE FROM cinema_seats WHERE theater_id IN ({unused_halls})"),
        format!("DELETE FROM cinema_theaters WHERE id IN ({unused_halls})"),
        "DELETE FROM cinema_films WHERE is_demo = 1 AND NOT EXISTS \
         (SELECT 1 FROM cinema_shows s WHERE s.film_id = cinema_films.id)"
            .to_owned(),
        "DELETE FROM cinema_documents WHERE is_demo = 1".to_owned(),
    ] {
        sql.execute(&statement, &[])?;
    }
    real.map_or(Ok(0), |row| row.int(0))
}
