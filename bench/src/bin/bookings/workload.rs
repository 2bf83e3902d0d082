//! What is booked and read: four seats side by side, all over the programme; every
//! fifth request wants seats that an earlier one already asked for.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bench::{
    load::Limit,
    wire::{self, Verdict, Work, check_booking},
};
use serde::Deserialize;

use crate::cinema_on_disk::CinemaOnDisk;

const SEATS: i64 = 4;
const EVERY: usize = 5;

pub struct Workload {
    /// The arguments of each request, as JSON.
    requests: Vec<String>,
    shows: Vec<String>,
}

impl Workload {
    pub async fn plan(cinema: &CinemaOnDisk) -> Result<Self> {
        let (shows, rows) = (cinema.shows().await?, cinema.rows().await?);
        // Block by block over all screenings, so that neighbours in time are
        // rarely neighbours in the hall.
        let mut requests: Vec<String> = Vec::new();
        let most = rows.len();
        for block in 0..most {
            for (show, hall) in &shows {
                let Some(seats) = nth_block(&rows, hall, block) else {
                    continue;
                };
                if requests.len() % EVERY == EVERY - 1
                    && let Some(earlier) = requests.get(requests.len() / 2)
                {
                    requests.push(earlier.clone());
                }
                requests.push(format!(
                    r#"{{"schedule_id":"{show}","seat_ids":[{seats}]}}"#
                ));
            }
        }
        ensure!(!requests.is_empty(), "nothing to book");
        let shows = shows.into_iter().map(|(show, _)| show).collect();
        Ok(Self { requests, shows })
    }

    pub fn limit(&self, time: Duration) -> Limit {
        let calls = self.requests.len() as u64;
        Limit { calls, time }
    }

    /// The arguments of a booking, as JSON.
    pub fn booking(&self, number: u64) -> Result<&str> {
        let request = self.requests.get(usize::try_from(number)?);
        Ok(request.context("more bookings than were planned")?)
    }

    pub fn reads(&self) -> SeatReads {
        SeatReads(self.shows.clone())
    }
}

/// The hall's blocks, front to back; `None` past the last.
fn nth_block(rows: &[(String, String, i64)], hall: &str, block: usize) -> Option<String> {
    let of_hall = rows.iter().filter(|(of, _, _)| of == hall);
    let mut blocks = of_hall.flat_map(|(_, row, last)| {
        (0..last / SEATS).map(move |index| {
            let seats = (1..=SEATS).map(|seat| format!("\"{row}{}\"", index * SEATS + seat));
            seats.collect::<Vec<_>>().join(",")
        })
    });
    blocks.nth(block)
}

impl Work for Workload {
    fn arguments(&self, number: u64) -> String {
        self.booking(number).unwrap_or("{}").to_owned()
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        check_booking(number, body)
    }
}

/// `get_seat_availability` of one screening after the other.
pub struct SeatReads(Vec<String>);

#[derive(Deserialize)]
pub struct SeatCounts {
    available_seats_count: u64,
    held_seats_count: u64,
    sold_seats_count: u64,
    total_seats_count: u64,
}

impl SeatCounts {
    pub fn check(&self) -> Result<Verdict> {
        let sum = self.available_seats_count + self.held_seats_count + self.sold_seats_count;
        let total = self.total_seats_count;
        ensure!(sum == total && total > 0, "{sum} seats of {total}");
        Ok(Verdict::Done)
    }
}

impl Work for SeatReads {
    fn arguments(&self, number: u64) -> String {
        let index = number as usize % self.0.len().max(1);
        let show = self.0.get(index).map_or("", String::as_str);
        format!(r#"{{"schedule_id":"{show}"}}"#)
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        wire::result::<SeatCounts>(number, body)?.check()
    }
}
