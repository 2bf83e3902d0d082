//! The cinema that is booked: made up, the same on both engines, and large enough
//! for the quickest of machines.

use std::{fs, path::Path};

use anyhow::Result;
use bench::wire::{self, Verdict, Work, check_booking};
use serde::Deserialize;
use serde_json::{Value, json};

const HALLS: usize = 20;
const DAYS: usize = 28;
const ROWS: [char; 20] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S',
    'T',
];
/// Seats of a row, and of a booking.
const SEATS: usize = 20;
const TOGETHER: usize = 4;

/// How many bookings there is room for.
pub const BOOKINGS: u64 = (HALLS * DAYS * ROWS.len() * SEATS / TOGETHER) as u64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Four seats side by side, which nobody else asks for.
    Book,
    /// The seat map of one screening after the other.
    ReadSeats,
}

impl Call {
    pub fn tool(self) -> &'static str {
        match self {
            Self::Book => "reserve_seats",
            Self::ReadSeats => "get_seat_availability",
        }
    }
}

/// The file that `madoguchi import cinema` takes.
pub fn write(file: &Path) -> Result<()> {
    let rows: Vec<Value> = ROWS
        .iter()
        .map(|row| json!({ "row": row.to_string(), "numbers": format!("1-{SEATS}") }))
        .collect();
    let halls: Vec<Value> = (0..HALLS)
        .map(|hall| json!({ "theater_id": format!("H{hall}"), "rows": rows }))
        .collect();
    let shows: Vec<Value> = (0..HALLS * DAYS)
        .map(|show| {
            json!({
                "schedule_id": format!("S{show}"),
                "movie_id": "F1",
                "theater_id": format!("H{}", show % HALLS),
                "date": format!("2036-05-{:02}", show / HALLS + 1),
                "start_time": "19:30",
            })
        })
        .collect();
    let films = json!([{ "movie_id": "F1", "title": "Solaris", "duration": 100 }]);
    let cinema = json!({ "films": films, "halls": halls, "shows": shows });
    Ok(fs::write(file, cinema.to_string())?)
}

/// What one of several load generators asks for: every `of`th call, from `part` on.
pub struct Share {
    pub call: Call,
    pub part: u64,
    pub of: u64,
}

#[derive(Deserialize)]
struct SeatCounts {
    total_seats_count: usize,
}

impl Work for Share {
    fn arguments(&self, number: u64) -> String {
        // Show by show first, so that neighbours in time are not neighbours in a hall.
        let number = usize::try_from(number * self.of + self.part).unwrap_or_default();
        let (show, block) = (number % (HALLS * DAYS), number / (HALLS * DAYS));
        match self.call {
            Call::ReadSeats => format!(r#"{{"schedule_id":"S{show}"}}"#),
            Call::Book => {
                let in_a_row = SEATS / TOGETHER;
                let row = ROWS.get(block / in_a_row).copied().unwrap_or('?');
                let first = block % in_a_row * TOGETHER + 1;
                let seats: Vec<String> = (first..first + TOGETHER)
                    .map(|seat| format!(r#""{row}{seat}""#))
                    .collect();
                let seats = seats.join(",");
                format!(r#"{{"schedule_id":"S{show}","seat_ids":[{seats}]}}"#)
            }
        }
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        match self.call {
            Call::Book => check_booking(number, body),
            Call::ReadSeats => {
                let counts: SeatCounts = wire::result(number, body)?;
                anyhow::ensure!(counts.total_seats_count == ROWS.len() * SEATS);
                Ok(Verdict::Done)
            }
        }
    }
}
