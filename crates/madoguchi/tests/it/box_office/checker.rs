//! Reads a history and the rows that are left, and says what must not be.
//!
//! A customer certainly owns a seat from the moment the answer came until the moment
//! something was requested that may give it up. Answers may be in any order that fits
//! those times, so the checker only counts what is certain.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    history::{Event, History},
    rows::Stored,
};

/// A seat of a screening.
type Seat = (String, String);

/// What is known of one reservation or hold.
#[derive(Debug, Default)]
struct Reservation {
    /// Each change of its seats that was answered, in order.
    states: Vec<State>,
    /// When something was first requested that may change its seats, with the moment of
    /// the answer.
    changes: Vec<(u64, u64)>,
}

#[derive(Debug, Clone)]
struct State {
    from: u64,
    seats: BTreeSet<Seat>,
    status: String,
    /// Of a hold.
    expires_at: Option<i64>,
}

/// A time in which a seat certainly has this owner.
#[derive(Debug)]
struct Ownership<'a> {
    reservation: &'a str,
    from: u64,
    until: u64,
    /// Of a hold: it may be free once the desks' clock has reached this.
    expires_at: Option<i64>,
}

pub fn check(history: &History, stored: &Stored) -> Vec<String> {
    let mut problems = Vec::new();
    let reservations = reservations(history);
    let owners = ownerships(&reservations);
    two_owners(history, &owners, &mut problems);
    reads(history, &owners, &mut problems);
    all_or_nothing(history, &mut problems);
    rows(&reservations, stored, &mut problems);
    problems
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn seats(answer: &Value) -> BTreeSet<Seat> {
    let show = text(&answer["reservation"]["schedule_id"]);
    let seats = answer["reservation"]["seat_ids"].as_array();
    let seats = seats.into_iter().flatten();
    seats.map(|seat| (show.clone(), text(seat))).collect()
}

fn milliseconds(time: &Value) -> Option<i64> {
    let time: jiff::Timestamp = time.as_str()?.parse().ok()?;
    Some(time.as_millisecond())
}

/// The reservation that a call is about, if it names one.
fn subject(event: &Event) -> Option<String> {
    let arguments = &event.arguments;
    let id = arguments["reservation_id"].as_str();
    id.or(arguments["hold_id"].as_str()).map(str::to_owned)
}

fn reservations(history: &History) -> BTreeMap<String, Reservation> {
    let mut found: BTreeMap<String, Reservation> = BTreeMap::new();
    for event in &history.events {
        if event.tool == "get_seat_availability" {
            continue;
        }
        // A refused call changes nothing, but nobody can tell when it was refused, so it
        // counts as a change that may have happened and been undone: only for its time.
        if let Some(id) = subject(event) {
            let known = found.entry(id).or_default();
            known.changes.push((event.invoked, event.answered));
        }
        let Ok(answer) = &event.outcome else { continue };
        let offered = &answer["waiting"];
        if offered["status"] == "offered" {
            let show = text(&answer["schedule_info"]["schedule_id"]);
            let names = offered["seat_ids"].as_array().into_iter().flatten();
            let state = State {
                from: event.answered,
                seats: names.map(|seat| (show.clone(), text(seat))).collect(),
                status: "held".to_owned(),
                expires_at: milliseconds(&offered["expires_at"]),
            };
            found
                .entry(text(&offered["hold_id"]))
                .or_default()
                .states
                .push(state);
        }
        let id = text(&answer["reservation"]["reservation_id"]);
        if !id.is_empty() {
            let state = State {
                from: event.answered,
                seats: seats(answer),
                status: text(&answer["reservation"]["status"]),
                expires_at: milliseconds(&answer["reservation"]["expires_at"]),
            };
            found.entry(id).or_default().states.push(state);
        }
    }
    found
}

/// When each seat certainly has an owner.
fn ownerships(reservations: &BTreeMap<String, Reservation>) -> BTreeMap<&Seat, Vec<Ownership<'_>>> {
    let mut owners: BTreeMap<&Seat, Vec<Ownership<'_>>> = BTreeMap::new();
    for (id, reservation) in reservations {
        for state in &reservation.states {
            if !["held", "confirmed"].contains(&state.status.as_str()) {
                continue;
            }
            // Until the next request that may change it. Requests that were under way when
            // this answer came are part of the same uncertainty.
            let changes = reservation.changes.iter();
            let overlapping = changes
                .clone()
                .any(|(invoked, answered)| *invoked < state.from && *answered > state.from);
            if overlapping {
                continue;
            }
            let next = changes
                .map(|(invoked, _)| *invoked)
                .filter(|at| *at > state.from);
            let until = next.min().unwrap_or(u64::MAX);
            for seat in &state.seats {
                owners.entry(seat).or_default().push(Ownership {
                    reservation: id,
                    from: state.from,
                    until,
                    expires_at: state.expires_at.filter(|_| state.status == "held"),
                });
            }
        }
    }
    owners
}

/// The latest that the desks' clock can have been at each moment of the history.
struct LatestTimes(Vec<(u64, i64)>);

impl LatestTimes {
    fn of(history: &History) -> Self {
        let mut latest = i64::MIN;
        let times = history.events.iter().map(|event| {
            latest = latest.max(event.latest_time);
            (event.answered, latest)
        });
        Self(times.collect())
    }

    fn at(&self, moment: u64) -> i64 {
        let until = self.0.partition_point(|(answered, _)| *answered <= moment);
        let last = until.checked_sub(1).map(|index| self.0[index]);
        last.map_or(i64::MIN, |(_, latest)| latest)
    }
}

fn two_owners(
    history: &History,
    owners: &BTreeMap<&Seat, Vec<Ownership<'_>>>,
    problems: &mut Vec<String>,
) {
    let times = LatestTimes::of(history);
    for (seat, owned) in owners {
        for (index, one) in owned.iter().enumerate() {
            for other in &owned[index + 1..] {
                if one.reservation == other.reservation {
                    continue;
                }
                let from = one.from.max(other.from);
                if from >= one.until.min(other.until) {
                    continue;
                }
                let time = times.at(from);
                let lasts = |it: &Ownership<'_>| it.expires_at.is_none_or(|at| time < at);
                if lasts(one) && lasts(other) {
                    problems.push(format!(
                        "{seat:?} has two owners at {from}: {one:?} and {other:?}"
                    ));
                }
            }
        }
    }
}

/// Free, held and sold seats make up the hall, and nobody sees a seat as free that
/// certainly has an owner.
fn reads(
    history: &History,
    owners: &BTreeMap<&Seat, Vec<Ownership<'_>>>,
    problems: &mut Vec<String>,
) {
    for event in &history.events {
        let (true, Ok(answer)) = (event.tool == "get_seat_availability", &event.outcome) else {
            continue;
        };
        let count = |name: &str| answer[format!("{name}_seats_count")].as_i64().unwrap();
        if count("available") + count("held") + count("sold") != count("total") {
            problems.push(format!("the counts do not add up: {answer}"));
        }
        let show = text(&answer["schedule_info"]["schedule_id"]);
        for row in answer["available_seats"].as_array().unwrap() {
            for number in row["available_numbers"].as_array().unwrap() {
                let seat = (show.clone(), format!("{}{number}", text(&row["row"])));
                let owned = owners.get(&seat).into_iter().flatten().find(|it| {
                    let covers = it.from < event.invoked && event.answered < it.until;
                    covers && it.expires_at.is_none_or(|at| event.latest_time < at)
                });
                if let Some(owned) = owned {
                    problems.push(format!("{seat:?} was shown as free, but {owned:?}"));
                }
            }
        }
    }
}

/// A call that took seats got exactly those it named.
fn all_or_nothing(history: &History, problems: &mut Vec<String>) {
    for event in &history.events {
        let takes = ["hold_seats", "reserve_seats", "exchange_seats"].contains(&event.tool);
        let (Some(wanted), Ok(answer)) = (event.arguments["seat_ids"].as_array(), &event.outcome)
        else {
            continue;
        };
        let wanted: BTreeSet<String> = wanted.iter().map(text).collect();
        let got: BTreeSet<String> = seats(answer).into_iter().map(|(_, seat)| seat).collect();
        if takes && !wanted.contains("*") && wanted != got {
            let tool = event.tool;
            problems.push(format!("{tool} for {wanted:?} got {got:?}"));
        }
    }
}

/// What is stored in the end is what the customers were told.
fn rows(reservations: &BTreeMap<String, Reservation>, stored: &Stored, problems: &mut Vec<String>) {
    for (id, reservation) in reservations {
        let Some(last) = reservation.states.iter().max_by_key(|state| state.from) else {
            continue;
        };
        let Some(row) = stored.reservations.get(id) else {
            // Holds that expired are deleted after a day.
            if ["held", "expired"].contains(&last.status.as_str()) {
                continue;
            }
            problems.push(format!("{id} was acknowledged and is gone: {last:?}"));
            continue;
        };
        let told: BTreeSet<String> = last.seats.iter().map(|(_, seat)| seat.clone()).collect();
        // The rows do not say that a hold has expired.
        let status = last.status.replace("expired", "held");
        let is_same = status == row.status && told == row.seats;
        let show_is_same = last.seats.iter().all(|(show, _)| *show == row.show);
        if !is_same || !show_is_same {
            problems.push(format!(
                "{id} was told as {last:?} and is stored as {row:?}"
            ));
        }
    }
    for (id, row) in &stored.reservations {
        if row.status == "confirmed" && !reservations.contains_key(id) {
            problems.push(format!("{id} was booked, and nobody was told: {row:?}"));
        }
        if row.status == "confirmed" {
            for seat in &row.seats {
                let owner = stored.owners.get(&(row.show.clone(), seat.clone()));
                if owner != Some(&(id.clone(), true)) {
                    problems.push(format!("{id} booked {seat}, whose owner is {owner:?}"));
                }
            }
        }
    }
    for ((show, seat), (owner, for_good)) in &stored.owners {
        let Some(row) = stored.reservations.get(owner) else {
            let is_ours = owner.starts_with("rsv_") && !stored.of_the_demo.contains(owner);
            if is_ours {
                problems.push(format!("{show} {seat} belongs to {owner}, which is gone"));
            }
            continue;
        };
        let owns = row.show == *show && row.seats.contains(seat);
        if !owns || row.status == "cancelled" || *for_good != (row.status == "confirmed") {
            problems.push(format!(
                "{show} {seat} belongs to {owner}, which is {row:?}"
            ));
        }
    }
}
