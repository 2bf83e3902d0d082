//! Durable bookings per second on SQLite: a bare loop as the floor, the store in
//! process, the running program, and the same tool with FastMCP; and what writers do
//! to readers. Every turn has a database of its own.

mod bare;
mod cinema_on_disk;
mod desk_row;
mod in_process;
mod reads;
mod report;
mod servers;
mod turns;
mod workload;

use anyhow::Result;
use bench::{
    figures::Goals,
    options::Turns,
    process::{load_average, print_load},
};
use clap::Parser;

use reads::COMPANIES;
use report::{BookingKind, Measured, ReadKind};
use turns::WAYS;

const CALLERS: [usize; 3] = [1, 16, 64];

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: Turns,
}

fn kinds<K>(kinds: impl Iterator<Item = K>) -> Vec<Measured<K>> {
    let rounds = Vec::new;
    let measured = kinds.map(|kind| Measured {
        kind,
        rounds: rounds(),
    });
    measured.collect()
}

fn main() -> Result<()> {
    let Cli { turns } = Cli::parse();
    let (places, rounds, time) = (turns.places()?, turns.rounds, turns.time());
    let load = load_average()?;
    // All ways with as many callers have their turns one after the other.
    let mut bookings: Vec<Measured<BookingKind>> = kinds(
        CALLERS
            .into_iter()
            .flat_map(|callers| WAYS.map(|way| (way, callers))),
    );
    let mut seats: Vec<Measured<ReadKind>> = kinds(
        [false, true]
            .into_iter()
            .flat_map(|over_http| COMPANIES.map(|company| (over_http, company))),
    );
    for round in 0..rounds {
        for measured in &mut bookings {
            let (way, callers) = measured.kind;
            measured
                .rounds
                .push(turns::take(&places, way, callers, time)?);
        }
        for measured in &mut seats {
            let seen = match measured.kind {
                (false, company) => reads::in_store(&places, company, time)?,
                (true, company) => reads::over_http(&places, company, time)?,
            };
            measured.rounds.push(seen);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let mut goals = Goals::default();
    report::of_bookings(&bookings, &mut goals);
    report::of_reads(&seats, &mut goals);
    goals.print();
    print_load(&load)
}
