//! Durable bookings per second on SQLite: straight into the store, and through
//! the running program. Every measurement has a database of its own.

mod cinema_on_disk;
mod workload;

use std::{sync::Arc, time::Duration};

use anyhow::{Result, ensure};
use bench::{
    contestants::Contestant,
    figures::{Goals, Table, median, number},
    load::{self, Limit, Numbers, Outcome},
    options::Turns,
    places::Places,
    server::Server,
    wire::{SEATS_TAKEN, Target, Verdict},
};
use clap::Parser;
use kit::{Caller, Context, context::NoClient, time::Clock};
use tokio::{runtime, task::JoinSet};

use cinema_on_disk::CinemaOnDisk;
use workload::Workload;

const CALLERS: [usize; 3] = [1, 16, 64];
const GOAL_PER_SECOND: f64 = 5_000.0;
const GOAL_P99_MS: f64 = 10.0;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: Turns,
}

#[derive(Clone, Copy)]
enum Way {
    Store,
    Http,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Store => "the store, in process",
            Self::Http => "madoguchi serve, over HTTP",
        }
    }
}

fn main() -> Result<()> {
    let Cli { turns } = Cli::parse();
    let (places, rounds, time) = (turns.places()?, turns.rounds, turns.time());
    let rows: Vec<(Way, usize)> = [Way::Store, Way::Http]
        .into_iter()
        .flat_map(|way| CALLERS.map(|callers| (way, callers)))
        .collect();
    let mut measured: Vec<Vec<Outcome>> = rows.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for ((way, callers), outcomes) in rows.iter().zip(&mut measured) {
            outcomes.push(take_turn(&places, *way, *callers, time)?);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    report(&rows, &measured);
    Ok(())
}

fn take_turn(places: &Places, way: Way, callers: usize, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    let outcome = match way {
        Way::Store => runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(async {
                let cinema = CinemaOnDisk::create(directory.path()).await?;
                let workload = Arc::new(Workload::plan(&cinema).await?);
                let outcome = in_process(&cinema, workload, callers, time).await?;
                verify(&cinema, &outcome).await?;
                anyhow::Ok(outcome)
            })?,
        // The load generator stays on one core, whatever the server takes.
        Way::Http => runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(async {
                let cinema = CinemaOnDisk::create(directory.path()).await?;
                let workload = Arc::new(Workload::plan(&cinema).await?);
                cinema.close().await?;
                let outcome = over_http(places, directory.path(), workload, callers, time).await?;
                let cinema = CinemaOnDisk::open(directory.path()).await?;
                verify(&cinema, &outcome).await?;
                anyhow::Ok(outcome)
            })?,
    };
    Ok(outcome)
}

async fn in_process(
    cinema: &CinemaOnDisk,
    workload: Arc<Workload>,
    callers: usize,
    time: Duration,
) -> Result<Outcome> {
    let numbers = Arc::new(Numbers::new(workload.limit(time)));
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let counter = Arc::clone(&cinema.counter);
        let (workload, numbers) = (Arc::clone(&workload), Arc::clone(&numbers));
        tasks.spawn(async move {
            let mut outcome = Outcome::default();
            while let Some(number) = numbers.next() {
                let context =
                    Context::new(Caller::anonymous(), Clock::system(), Arc::new(NoClient));
                let arguments = workload.value(number)?;
                let started = std::time::Instant::now();
                let answer =
                    kit::testing::call(&counter, &context, "reserve_seats", arguments).await;
                let latency = started.elapsed();
                let verdict = match answer {
                    Ok(_) => Verdict::Done,
                    Err(error) if error.code == SEATS_TAKEN => Verdict::Refused,
                    Err(error) => anyhow::bail!("{error}"),
                };
                outcome.add(verdict, latency);
            }
            Ok(outcome)
        });
    }
    let mut parts = Vec::with_capacity(callers);
    while let Some(part) = tasks.join_next().await {
        parts.push(part??);
    }
    Ok(Outcome::merge(parts, numbers.elapsed()))
}

async fn over_http(
    places: &Places,
    data: &std::path::Path,
    workload: Arc<Workload>,
    callers: usize,
    time: Duration,
) -> Result<Outcome> {
    let server = Server::start_on(Contestant::Cinema, places, data, None).await?;
    let target = Target::new(server.target.port, "/mcp/cinema", "reserve_seats");
    let limit: Limit = workload.limit(time);
    let outcome = load::run(&target, &workload, callers, limit).await?;
    server.stop()?;
    Ok(outcome)
}

/// What was promised is there: as many reservations as were confirmed.
async fn verify(cinema: &CinemaOnDisk, outcome: &Outcome) -> Result<()> {
    let kept = cinema.reservations().await?;
    ensure!(
        kept == outcome.done,
        "{} bookings confirmed, {kept} kept",
        outcome.done
    );
    cinema.close().await
}

fn report(rows: &[(Way, usize)], measured: &[Vec<Outcome>]) {
    let mut table =
        Table::new("through | callers | requests/s | bookings/s | refused | p50 ms | p99 ms");
    let mut goals = Goals::default();
    for ((way, callers), outcomes) in rows.iter().zip(measured) {
        let of = |value: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(value));
        let bookings = of(&|outcome| outcome.done as f64 / outcome.elapsed.as_secs_f64());
        let refused = of(&|outcome| outcome.refused as f64 / outcome.calls() as f64);
        let p99 = of(&|outcome| outcome.milliseconds(0.99));
        table.row(&[
            way.name().to_owned(),
            callers.to_string(),
            number(of(&Outcome::per_second)),
            number(bookings),
            format!("{:.0} %", refused * 100.0),
            number(of(&|outcome| outcome.milliseconds(0.5))),
            number(p99),
        ]);
        if *callers > 1 {
            goals.add(
                &format!(
                    "≥ 5,000 durable bookings/s, p99 < 10 ms: {}, {callers} callers",
                    way.name()
                ),
                format!("{}/s, {} ms", number(bookings), number(p99)),
                bookings >= GOAL_PER_SECOND && p99 < GOAL_P99_MS,
            );
        }
    }
    table.print("Bookings of 4 seats on SQLite, durable when answered; medians");
    goals.print();
}
