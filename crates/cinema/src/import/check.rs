//! Checks the rows of an import against each other and against the store. What is left
//! can be written.

use std::collections::{BTreeMap, HashMap, HashSet};

use kit::{Result, Sql, counter::Problem, text::fold};

use super::{
    batch::Batch,
    fields::short,
    halls::HallRecord,
    owners::Owners,
    records::{AvailabilityRecord, ShowRecord},
    source::Origin,
};
use crate::{
    model::{
        Status,
        film::Film,
        hall::{GENERAL, Hall, HallSeat},
        place::Place,
        prices::PriceRule,
        seat::{Seat, join},
        when::{HouseTime, read_date},
    },
    state::CounterState,
    store::{self, KnownFilm, KnownShow, NewShow, ReservationRow},
};

/// The caller of seats that were sold before the import.
const IMPORTED: &str = "import";
const ID_LENGTH: usize = 26;

/// What can be written, and what is wrong with the rest.
#[derive(Default)]
pub struct Checked {
    pub films: Vec<Film>,
    pub halls: Vec<HallRecord>,
    pub shows: Vec<NewShow>,
    pub prices: Vec<PriceRule>,
    pub place: Option<Place>,
    pub reservations: Vec<ReservationRow>,
    /// Reservations that exist already; they stay as they are.
    pub already_there: u64,
    pub problems: Vec<Problem>,
}

pub fn check(state: &CounterState, sql: &mut dyn Sql, batch: &Batch, now: i64) -> Result<Checked> {
    let mut checker = Checker {
        state,
        batch,
        now,
        films: store::known_films(sql)?,
        halls: store::known_halls(sql)?,
        shows: store::known_shows(sql)?,
        plans: HashMap::new(),
        checked: Checked {
            problems: batch.problems.clone(),
            prices: batch.prices.iter().map(|(_, rule)| rule.clone()).collect(),
            place: batch.place.first().map(|(_, place)| place.clone()),
            ..Checked::default()
        },
    };
    checker.films();
    checker.halls(sql)?;
    checker.shows(sql)?;
    checker.reservations(sql)?;
    Ok(checker.checked)
}

struct Checker<'a> {
    state: &'a CounterState,
    batch: &'a Batch,
    now: i64,
    /// What the store has, and what was found valid so far.
    films: HashMap<String, KnownFilm>,
    halls: HashMap<String, bool>,
    shows: HashMap<String, KnownShow>,
    plans: HashMap<String, Hall>,
    checked: Checked,
}

impl Checker<'_> {
    fn wrong(&mut self, at: &Origin, problem: impl Into<String>) {
        self.checked.problems.push(at.problem(problem));
    }

    fn films(&mut self) {
        for (at, film) in &self.batch.films {
            if self.films.get(&film.id).is_some_and(|known| known.is_demo) {
                self.wrong(at, of_demo("film", &film.id));
                continue;
            }
            let known = KnownFilm {
                title_folded: fold(&film.title),
                minutes: film.duration_minutes,
                is_demo: false,
            };
            self.films.insert(film.id.clone(), known);
            self.checked.films.push(film.clone());
        }
    }

    fn halls(&mut self, sql: &mut dyn Sql) -> Result<()> {
        let derived = self.derived_halls();
        for hall in self.batch.halls.iter().chain(&derived) {
            if self.halls.get(&hall.id) == Some(&true) {
                self.wrong(&hall.origin, of_demo("hall", &hall.id));
                continue;
            }
            let plan = hall.plan();
            if let Some(problem) = self.lost_seats(sql, &hall.id, &plan)? {
                self.wrong(&hall.origin, problem);
                continue;
            }
            self.halls.insert(hall.id.clone(), false);
            self.plans.insert(hall.id.clone(), plan);
            self.checked.halls.push(hall.clone());
        }
        Ok(())
    }

    /// The earlier box office had no seat plans: a hall has the seats of its screenings.
    fn derived_halls(&self) -> Vec<HallRecord> {
        let seats: HashMap<&str, (&Origin, &AvailabilityRecord)> = self
            .batch
            .availability
            .iter()
            .map(|(at, seats)| (seats.show_id.as_str(), (at, seats)))
            .collect();
        let mut halls: Vec<HallRecord> = Vec::new();
        for (_, show) in &self.batch.shows {
            let id = &show.theater_id;
            let is_known =
                self.halls.contains_key(id) || self.batch.halls.iter().any(|hall| hall.id == *id);
            let Some((at, seats)) = seats.get(show.id.as_str()).filter(|_| !is_known) else {
                continue;
            };
            let index = halls.iter().position(|hall| hall.id == *id);
            let index = index.unwrap_or_else(|| {
                halls.push(HallRecord::new(id, &show.theater_name, Vec::new(), at));
                halls.len() - 1
            });
            let Some(hall) = halls.get_mut(index) else {
                continue;
            };
            for seat in seats.free.iter().chain(&seats.taken) {
                if !hall.seats.iter().any(|known| known.seat == *seat) {
                    hall.seats.push(HallSeat {
                        seat: seat.clone(),
                        seat_type: GENERAL.to_owned(),
                    });
                }
            }
        }
        halls
    }

    /// Sold seats that a new plan of a hall does not have.
    fn lost_seats(&mut self, sql: &mut dyn Sql, hall: &str, plan: &Hall) -> Result<Option<String>> {
        if !self.halls.contains_key(hall) {
            return Ok(None);
        }
        let before = store::hall(sql, hall)?;
        if before.seats().all(|place| plan.seat(&place.seat).is_some()) {
            return Ok(None);
        }
        let moved: HashSet<&str> = self
            .batch
            .shows
            .iter()
            .filter(|(_, show)| show.theater_id != hall)
            .map(|(_, show)| show.id.as_str())
            .collect();
        let shows: Vec<&str> = self
            .shows
            .iter()
            .filter(|(id, show)| show.theater_id == hall && !moved.contains(id.as_str()))
            .map(|(id, _)| id.as_str())
            .collect();
        Ok(store::seat_owners(sql, &shows, self.now)?
            .iter()
            .find_map(|(show, seats)| missing(plan, seats.keys(), show))
            .map(|lost| format!("the new plan of hall {hall} drops sold seats: {lost}")))
    }

    fn plan(&mut self, sql: &mut dyn Sql, hall: &str) -> Result<&Hall> {
        if !self.plans.contains_key(hall) {
            let plan = store::hall(sql, hall)?;
            self.plans.insert(hall.to_owned(), plan);
        }
        Ok(self.plans.entry(hall.to_owned()).or_default())
    }

    fn shows(&mut self, sql: &mut dyn Sql) -> Result<()> {
        let in_file: HashSet<&str> = self
            .batch
            .shows
            .iter()
            .map(|(_, show)| show.id.as_str())
            .collect();
        let mut hours = HallHours::default();
        for (id, show) in &self.shows {
            if !in_file.contains(id.as_str()) && !show.is_demo {
                let _ = hours.take(show, id);
            }
        }
        let ids: Vec<&str> = in_file.iter().copied().collect();
        let sold = store::seat_owners(sql, &ids, self.now)?;
        for (at, record) in &self.batch.shows {
            let (new, known) = match self.show(record) {
                Ok(show) => show,
                Err(problem) => {
                    self.wrong(at, problem);
                    continue;
                }
            };
            let plan = self.plan(sql, &record.theater_id)?;
            let sold = sold.get(&record.id).into_iter().flat_map(HashMap::keys);
            if let Some(lost) = missing(plan, sold, &record.id) {
                let problem = format!("hall {} lacks sold seats: {lost}", record.theater_id);
                self.wrong(at, problem);
                continue;
            }
            let label = format!("{} ({})", record.id, at.in_words());
            if let Err(other) = hours.take(&known, &label) {
                let hall = &record.theater_id;
                self.wrong(at, format!("the show overlaps {other} in hall {hall}"));
                continue;
            }
            self.shows.insert(record.id.clone(), known);
            self.checked.shows.push(new);
        }
        Ok(())
    }

    /// A screening whose film and hall exist, with its instants.
    fn show(&self, record: &ShowRecord) -> Result<(NewShow, KnownShow), String> {
        if self.shows.get(&record.id).is_some_and(|show| show.is_demo) {
            return Err(of_demo("show", &record.id));
        }
        let (film_id, minutes) = self.film_of(record)?;
        match self.halls.get(&record.theater_id) {
            None => return Err(format!("unknown hall `{}`", short(&record.theater_id))),
            Some(true) => return Err(of_demo("hall", &record.theater_id)),
            Some(false) => {}
        }
        let by_duration = HouseTime::from_minutes(record.start.minutes() + minutes);
        let end = match record.end {
            Some(end) => end,
            None if minutes > 0 => by_duration,
            None => return Err("there is no end_time, and the film has no duration".into()),
        };
        let day = read_date(&record.date).ok_or("there is no such day")?;
        let starts_at = self.state.instant(day, record.start);
        let starts_at = starts_at.map_err(|error| error.message)?;
        let known = KnownShow {
            theater_id: record.theater_id.clone(),
            starts_at,
            ends_at: starts_at + (end.minutes() - record.start.minutes()) * 60_000,
            is_demo: false,
        };
        let new = NewShow {
            id: record.id.clone(),
            film_id,
            theater_id: record.theater_id.clone(),
            date: record.date.clone(),
            start: record.start,
            end,
            starts_at,
        };
        Ok((new, known))
    }

    /// The id and the duration of a screening's film.
    fn film_of(&self, record: &ShowRecord) -> Result<(String, i64), String> {
        let title = fold(&record.film_title);
        let found = match record.film_id.as_str() {
            "" => {
                let mut films = self.films.iter();
                films.find(|(_, film)| !film.is_demo && film.title_folded == title)
            }
            id => self.films.get_key_value(id),
        };
        match found {
            Some((id, film)) if film.is_demo => Err(of_demo("film", id)),
            Some((id, film)) => Ok((id.clone(), film.minutes)),
            None => {
                let named = [&record.film_id, &record.film_title];
                let named = named.into_iter().find(|name| !name.is_empty());
                Err(format!(
                    "unknown film `{}`",
                    short(named.map_or("", |name| name))
                ))
            }
        }
    }

    /// Reservations, and the seats that were sold without one.
    fn reservations(&mut self, sql: &mut dyn Sql) -> Result<()> {
        let batch = self.batch;
        let reserved = batch.reservations.iter().map(|(_, new)| &new.show_id);
        let listed = batch.availability.iter().map(|(_, seats)| &seats.show_id);
        let shows: HashSet<&str> = reserved.chain(listed).map(String::as_str).collect();
        let shows: Vec<&str> = shows.into_iter().collect();
        let mut owners = Owners::new(store::seat_owners(sql, &shows, self.now)?);
        let ids: Vec<&str> = batch.reservations.iter().map(|(_, new)| &*new.id).collect();
        let existing = store::known_reservations(sql, &ids)?;
        for (at, new) in &batch.reservations {
            match existing.get(&new.id) {
                Some(show) if *show == new.show_id => self.checked.already_there += 1,
                Some(show) => {
                    let problem = format!("reservation {} is for show {show}", new.id);
                    self.wrong(at, problem);
                }
                None => {
                    let seats = match new.owns_seats(self.now) {
                        true => new.seats.as_slice(),
                        false => &[],
                    };
                    let problem = self.seats_exist(sql, &new.show_id, seats)?;
                    let problem = problem.or_else(|| owners.take(&new.show_id, seats, at).err());
                    match problem {
                        Some(problem) => self.wrong(at, problem),
                        None => self.checked.reservations.push(new.clone()),
                    }
                }
            }
        }
        for (at, listed) in &batch.availability {
            self.availability(sql, at, listed, &mut owners)?;
        }
        Ok(())
    }

    /// What is wrong with seats of a screening, if anything is.
    fn seats_exist(
        &mut self,
        sql: &mut dyn Sql,
        show_id: &str,
        seats: &[Seat],
    ) -> Result<Option<String>> {
        let hall = match self.shows.get(show_id) {
            None => return Ok(Some(format!("unknown show `{}`", short(show_id)))),
            Some(show) if show.is_demo => return Ok(Some(of_demo("show", show_id))),
            Some(show) => show.theater_id.clone(),
        };
        let missing = missing(self.plan(sql, &hall)?, seats.iter(), show_id);
        Ok(missing.map(|seats| format!("hall {hall} has no such seats: {seats}")))
    }

    fn availability(
        &mut self,
        sql: &mut dyn Sql,
        at: &Origin,
        listed: &AvailabilityRecord,
        owners: &mut Owners,
    ) -> Result<()> {
        let all: Vec<Seat> = listed.free.iter().chain(&listed.taken).cloned().collect();
        if let Some(problem) = self.seats_exist(sql, &listed.show_id, &all)? {
            self.wrong(at, problem);
            return Ok(());
        }
        let reserved = listed.free.iter().find_map(|seat| {
            let line = owners.in_file(&listed.show_id, seat)?;
            Some(format!("seat {seat} is free here, and reserved in {line}"))
        });
        if let Some(problem) = reserved {
            self.wrong(at, problem);
        }
        let seats = owners.without_owner(&listed.show_id, &listed.taken);
        if !seats.is_empty() {
            self.checked.reservations.push(ReservationRow {
                id: kit::ids::random("rsv_", ID_LENGTH),
                show_id: listed.show_id.clone(),
                seats,
                status: Status::Confirmed,
                caller: IMPORTED.into(),
                created_at: self.now,
                expires_at: None,
                held_since: None,
                changed_at: None,
                version: 1,
                admitted_at: None,
                price: String::new(),
            });
        }
        Ok(())
    }
}

fn of_demo(noun: &str, id: &str) -> String {
    format!("{noun} {id} is the demo's; `madoguchi demo remove cinema` removes it")
}

/// `A1, A2 of S1`: the seats that a plan does not have.
fn missing<'a>(plan: &Hall, seats: impl Iterator<Item = &'a Seat>, show: &str) -> Option<String> {
    let mut missing: Vec<Seat> = seats
        .filter(|seat| plan.seat(seat).is_none())
        .cloned()
        .collect();
    missing.sort();
    missing.truncate(5);
    (!missing.is_empty()).then(|| format!("{} of {show}", join(&missing)))
}

/// When each hall is in use.
#[derive(Default)]
struct HallHours(HashMap<String, BTreeMap<i64, (i64, String)>>);

impl HallHours {
    /// Takes the time of a show, unless another show has it.
    fn take(&mut self, show: &KnownShow, label: &str) -> Result<(), String> {
        let hours = self.0.entry(show.theater_id.clone()).or_default();
        let before = hours.range(..show.ends_at).next_back();
        if let Some((_, (ends_at, other))) = before
            && *ends_at > show.starts_at
        {
            return Err(other.clone());
        }
        hours.insert(show.starts_at, (show.ends_at, label.to_owned()));
        Ok(())
    }
}
