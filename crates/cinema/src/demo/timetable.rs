//! The timetable of the sample cinema, and its sold seats. The same day always
//! gives the same result.

use jiff::civil::{Date, date};

use super::data::{DemoFilm, DemoHall, FILMS, HALLS};
use crate::model::{
    hall::{GENERAL, Hall, SeatMap},
    seat::Seat,
    when::HouseTime,
};

const OPENING: i64 = 9 * 60;
/// Minutes between two screenings in one hall.
const CLEANING: i64 = 20;
/// How often each film runs on a day, without the late show.
const ROUNDS: usize = 3;
const LATE_SHOW: i64 = 25 * 60 + 10;

#[derive(Debug)]
pub struct PlannedShow {
    pub id: String,
    pub film: &'static DemoFilm,
    pub hall: &'static DemoHall,
    /// Its number in the hall's day, from 1.
    pub slot: usize,
    pub start: HouseTime,
    pub end: HouseTime,
}

/// A day's screenings. Each hall shows two films in turn. The pairs move on by one
/// hall every day, and the hall of the first pair has a late show.
pub fn programme(day: Date) -> Vec<PlannedShow> {
    let days = usize::try_from(day.duration_since(date(2026, 1, 1)).as_hours() / 24).unwrap_or(0);
    let mut planned = Vec::new();
    for (index, hall) in HALLS.iter().enumerate() {
        let pair = (index + days) % HALLS.len();
        let Some([first, second]) = FILMS.chunks_exact(2).nth(pair) else {
            continue;
        };
        // Halls start at different times.
        let mut start = OPENING + 10 * i64::try_from(index).unwrap_or(0);
        let turns = [first, second].into_iter().cycle().take(2 * ROUNDS);
        for (slot, film) in (1..).zip(turns) {
            planned.push(plan(day, film, hall, slot, start));
            start = next_five(start + film.minutes + CLEANING);
        }
        if pair == 0 {
            let film = if days % 2 == 0 { first } else { second };
            planned.push(plan(day, film, hall, 2 * ROUNDS + 1, LATE_SHOW));
        }
    }
    planned
}

fn plan(
    day: Date,
    film: &'static DemoFilm,
    hall: &'static DemoHall,
    slot: usize,
    start: i64,
) -> PlannedShow {
    PlannedShow {
        id: format!("S{}-{}-{slot}", day.strftime("%Y%m%d"), hall.id),
        film,
        hall,
        slot,
        start: HouseTime::from_minutes(start),
        end: HouseTime::from_minutes(start + film.minutes),
    }
}

fn next_five(minutes: i64) -> i64 {
    (minutes + 4) / 5 * 5
}

/// The sold seats of a screening, party by party. The third screening in the
/// smallest hall is always sold out, as an example.
pub fn parties(planned: &PlannedShow, hall: &Hall) -> Vec<Vec<Seat>> {
    let all: Vec<Seat> = hall.seats().map(|place| place.seat.clone()).collect();
    let smallest = HALLS.last().is_some_and(|last| last.id == planned.hall.id);
    if smallest && planned.slot == ROUNDS {
        return all
            .chunk_by(|a, b| a.row == b.row)
            .flat_map(|row| row.chunks(4))
            .map(<[Seat]>::to_vec)
            .collect();
    }
    let mut dice = Dice::seeded(&planned.id);
    let mut taken: Vec<Seat> = Vec::new();
    let mut parties = Vec::new();
    for _ in 0..dice.roll(8) {
        let size = 1 + dice.roll(4);
        // In the back two thirds, where people like to sit.
        let at = all.len() / 3 + dice.roll(all.len() * 2 / 3);
        let Some(party) = all.get(at..at + size) else {
            continue;
        };
        let one_row = party
            .iter()
            .all(|seat| Some(&seat.row) == party.first().map(|s| &s.row));
        let map = SeatMap::new(hall, taken.iter().cloned());
        let free = party.iter().all(|seat| {
            map.is_free(seat)
                && hall
                    .seat(seat)
                    .is_some_and(|place| place.seat_type == GENERAL)
        });
        if one_row && free {
            taken.extend_from_slice(party);
            parties.push(party.to_vec());
        }
    }
    parties
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn seeded(seed: &str) -> Self {
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn days() -> impl Iterator<Item = Date> {
        date(2026, 11, 15).series(jiff::ToSpan::day(1)).take(14)
    }

    #[test]
    fn the_sample_cinema_is_large_enough() {
        assert!(FILMS.len() >= 12);
        assert!(HALLS.len() >= 4);
        let unique: HashSet<&str> = FILMS.iter().map(|film| film.id).collect();
        assert_eq!(unique.len(), FILMS.len());
        for film in &*FILMS {
            assert!((1.0..=5.0).contains(&film.rating), "{film:?}");
            assert!(["G", "PG12", "R15+", "R18+"].contains(&film.age_class));
            assert!((0..=100).contains(&film.popularity));
        }
        for hall in &*HALLS {
            let plan = hall.plan();
            assert!(
                (50..=150).contains(&plan.seat_count()),
                "{} {}",
                hall.id,
                plan.seat_count()
            );
            for seat_type in ["カップル", "車椅子", GENERAL] {
                assert!(plan.seats().any(|place| place.seat_type == seat_type));
            }
            let couple = plan.seats().filter(|place| place.seat_type == "カップル");
            assert_eq!(couple.count() % 2, 0, "couples come in pairs");
        }
    }

    #[test]
    fn every_film_runs_at_least_three_times_a_day() {
        for day in days() {
            let mut runs: HashMap<&str, usize> = HashMap::new();
            let programme = programme(day);
            for planned in &programme {
                *runs.entry(planned.film.id).or_default() += 1;
            }
            assert_eq!(runs.len(), FILMS.len());
            assert!(runs.values().all(|count| *count >= 3), "{runs:?}");
            let late = programme
                .iter()
                .filter(|planned| planned.start.minutes() >= 24 * 60);
            assert_eq!(late.count(), 1);
            let ids: HashSet<&str> = programme
                .iter()
                .map(|planned| planned.id.as_str())
                .collect();
            assert_eq!(ids.len(), programme.len());
        }
    }

    #[test]
    fn screenings_in_a_hall_do_not_overlap() {
        for day in days() {
            let mut by_hall: HashMap<&str, Vec<(i64, i64)>> = HashMap::new();
            for planned in programme(day) {
                by_hall
                    .entry(planned.hall.id)
                    .or_default()
                    .push((planned.start.minutes(), planned.end.minutes()));
            }
            for (hall, mut times) in by_hall {
                times.sort_unstable();
                assert!(
                    times.windows(2).all(|two| two[0].1 + CLEANING <= two[1].0),
                    "{hall} {times:?}"
                );
                assert!(times.last().unwrap().1 < 24 * 60 + OPENING);
            }
        }
    }

    #[test]
    fn sold_seats_are_sold_once_and_the_same_every_time() {
        for planned in programme(date(2026, 11, 15)) {
            let hall = planned.hall.plan();
            let sold: Vec<Seat> = parties(&planned, &hall).concat();
            let unique: HashSet<&Seat> = sold.iter().collect();
            assert_eq!(unique.len(), sold.len(), "{}", planned.id);
            assert!(sold.iter().all(|seat| hall.seat(seat).is_some()));
            assert_eq!(sold, parties(&planned, &hall).concat());
            assert_eq!(
                sold.len() == hall.seat_count(),
                planned.id == "S20261115-T6-3"
            );
        }
    }
}
