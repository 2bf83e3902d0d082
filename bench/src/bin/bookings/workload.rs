//! What is booked: four seats side by side, all over the programme; every fifth
//! request wants seats that an earlier one already asked for.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bench::{
    load::Limit,
    wire::{Verdict, Work, check_booking},
};
use serde_json::Value;

use crate::cinema_on_disk::CinemaOnDisk;

const SEATS: i64 = 4;
const EVERY: usize = 5;

pub struct Workload {
    /// The arguments of each request, as JSON.
    requests: Vec<String>,
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
        Ok(Self { requests })
    }

    pub fn limit(&self, time: Duration) -> Limit {
        let calls = self.requests.len() as u64;
        Limit { calls, time }
    }

    pub fn value(&self, number: u64) -> Result<Value> {
        Ok(serde_json::from_str(self.get(number)?)?)
    }

    fn get(&self, number: u64) -> Result<&str> {
        let request = self.requests.get(usize::try_from(number)?);
        Ok(request.context("more bookings than were planned")?)
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
        self.get(number).unwrap_or("{}").to_owned()
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        check_booking(number, body)
    }
}
