//! The floor: a bare loop that commits whatever waits as one transaction, with the
//! rows and the pragmas of the program, and nothing else.

use std::{path::Path, thread};

use anyhow::{Context as _, Result, anyhow, ensure};
use bench::wire::Verdict;
use kit::ids::{self, CallId};
use rusqlite::{Connection, params};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

use crate::desk_row::{self, DeskRow};

/// As many as the program commits together.
const BATCH: usize = 256;

const PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -2000;
    PRAGMA journal_size_limit = 67108864;
";

const TAKE: &str = "INSERT INTO cinema_taken_seats \
    (show_id, seat_row, seat_number, reservation_id, expires_at) VALUES \
    (?1, ?3, ?4, ?2, NULL), (?1, ?5, ?6, ?2, NULL), (?1, ?7, ?8, ?2, NULL), (?1, ?9, ?10, ?2, NULL) \
    ON CONFLICT DO NOTHING";

const RESERVE: &str = "INSERT INTO cinema_reservations \
    (id, show_id, seats, status, caller, created_at, expires_at, held_since, is_demo) \
    VALUES (?1, ?2, ?3, 'confirmed', 'local', ?4, NULL, NULL, 0)";

/// Everything that is written for one booking, ready to be bound.
pub struct Booking {
    reservation: String,
    show: String,
    names: String,
    seats: [(String, i64); 4],
    desk_row: DeskRow,
}

#[derive(Deserialize)]
struct Arguments {
    schedule_id: String,
    seat_ids: [String; 4],
}

impl Booking {
    pub fn read(arguments: &str) -> Result<Self> {
        let Arguments {
            schedule_id,
            seat_ids,
        } = serde_json::from_str(arguments)?;
        let names = seat_ids.join(", ");
        let mut seats = Vec::with_capacity(seat_ids.len());
        for name in seat_ids {
            let digits = name.find(|letter: char| letter.is_ascii_digit());
            let (row, number) = name.split_at(digits.context("a seat with a number")?);
            seats.push((row.to_owned(), number.parse()?));
        }
        Ok(Self {
            reservation: ids::random("res_", 20),
            desk_row: DeskRow::new(CallId::new(), &schedule_id),
            show: schedule_id,
            names,
            seats: seats.try_into().map_err(|_| anyhow!("four seats"))?,
        })
    }

    /// The blocks of the workload never overlap in part, so there is nothing to undo.
    fn write(&self, connection: &Connection) -> Result<Verdict> {
        let [a, b, c, d] = &self.seats;
        let taken = connection.prepare_cached(TAKE)?.execute(params![
            self.show,
            self.reservation,
            a.0,
            a.1,
            b.0,
            b.1,
            c.0,
            c.1,
            d.0,
            d.1
        ])?;
        if taken == 0 {
            return Ok(Verdict::Refused);
        }
        ensure!(taken == 4, "{taken} of four seats were free");
        let row = &self.desk_row;
        connection.prepare_cached(RESERVE)?.execute(params![
            self.reservation,
            self.show,
            self.names,
            row.at_ms
        ])?;
        connection
            .prepare_cached(desk_row::INSERT)?
            .execute(params![
                row.call,
                row.at_ms,
                row.caller,
                row.counter,
                row.tool,
                row.digest,
                row.process,
                row.changes
            ])?;
        Ok(Verdict::Done)
    }
}

type Job = (Booking, oneshot::Sender<Verdict>);

#[derive(Clone)]
pub struct BareLoop {
    queue: mpsc::UnboundedSender<Job>,
}

impl BareLoop {
    /// The thread ends with the last clone.
    pub fn open(database: &Path) -> Result<(Self, thread::JoinHandle<Result<()>>)> {
        let connection = Connection::open(database)?;
        connection.execute_batch(PRAGMAS)?;
        let (queue, waiting) = mpsc::unbounded_channel();
        let thread = thread::spawn(move || run(&connection, waiting));
        Ok((Self { queue }, thread))
    }

    pub async fn book(&self, booking: Booking) -> Result<Verdict> {
        let (answer, answered) = oneshot::channel();
        let sent = self.queue.send((booking, answer));
        sent.map_err(|_| anyhow!("the loop has ended"))?;
        Ok(answered.await?)
    }
}

fn run(connection: &Connection, mut waiting: mpsc::UnboundedReceiver<Job>) -> Result<()> {
    while let Some(first) = waiting.blocking_recv() {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut done = Vec::new();
        let mut next = Some(first);
        while let Some((booking, answer)) = next {
            done.push((booking.write(connection)?, answer));
            next = match done.len() {
                BATCH => None,
                _ => waiting.try_recv().ok(),
            };
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        for (verdict, answer) in done {
            let _ = answer.send(verdict);
        }
    }
    Ok(())
}
