//! Pages of a small and of a very large room, straight from the counter.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bench::{
    figures::{Table, number, yes_or_no},
    load::Outcome,
    places::Places,
    room_logs,
    wire::Verdict,
};
use kit::Counter;
use serde_json::json;
use tokio::runtime;

use crate::{
    latencies::Latencies,
    sends::{call, settings},
};

const ROOMS: [(&str, usize); 2] = [("small", 10_000), ("large", 1_000_000)];
const MAX_MESSAGES: u32 = 2_000_000;
const PAGE: usize = 50;
const CALLS: usize = 500;
const GOAL_MS: f64 = 1.0;
/// About what a page takes.
const SPIN: Duration = Duration::from_micros(200);

/// What is asked for: a page this far from the newest message.
#[derive(Clone, Copy)]
struct Place {
    room: &'static str,
    count: usize,
    name: &'static str,
    offset: usize,
}

pub fn measure(places: &Places, rounds: usize) -> Result<()> {
    let directory = places.fresh()?;
    room_logs::write(
        directory.path(),
        &ROOMS.map(|(room, count)| (room.to_owned(), count)),
    )?;
    let mut settings = settings(directory.path());
    settings.max_messages = MAX_MESSAGES.try_into()?;
    let counter = rooms::counter(settings, None);
    let table = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(tabulate(&counter, rounds))?;
    table.print("A page of 50 messages by `get_messages`; medians of the rounds");
    Ok(())
}

async fn tabulate(counter: &Counter, rounds: usize) -> Result<Table> {
    let mut table = Table::new(" | p50 ms | p99 ms | p99 over the rounds | goal for p99 | met");
    let mut wanted = Vec::new();
    for (room, count) in ROOMS {
        let started = Instant::now();
        page(counter, room, count, 0).await?;
        let first = started.elapsed().as_secs_f64() * 1e3;
        let name = format!("{} messages, log not yet read", number(count as f64));
        table.row(&[&name, &number(first), "–", "–", "–", "–"]);
        for (name, offset) in [
            ("newest", 0),
            ("middle", count / 2),
            ("oldest", count - PAGE),
        ] {
            wanted.push(Place {
                room,
                count,
                name,
                offset,
            });
        }
    }
    let mut spins = Vec::new();
    let mut pages: Vec<Vec<Outcome>> = wanted.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        spins.push(turn(async || Ok(tokio::task::spawn_blocking(spin).await?)).await?);
        for (place, outcomes) in wanted.iter().zip(&mut pages) {
            let Place {
                room,
                count,
                offset,
                ..
            } = *place;
            outcomes.push(turn(async || page(counter, room, count, offset).await).await?);
        }
    }
    // What others on the same cores do to whoever computes for so long.
    let control = Latencies::of(&spins);
    table.row(&[
        "for comparison: 0.2 ms of spinning, as long as a page takes",
        &number(control.p50),
        &number(control.p99),
        &control.range,
        "–",
        "–",
    ]);
    for (place, outcomes) in wanted.iter().zip(&pages) {
        let latencies = Latencies::of(outcomes);
        table.row(&[
            &format!("{} messages, {}", number(place.count as f64), place.name),
            &number(latencies.p50),
            &number(latencies.p99),
            &latencies.range,
            "under 1 ms",
            yes_or_no(latencies.p99 < GOAL_MS),
        ]);
    }
    Ok(table)
}

fn spin() {
    let started = Instant::now();
    while started.elapsed() < SPIN {
        std::hint::spin_loop();
    }
}

async fn turn(call: impl AsyncFn() -> Result<()>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for _ in 0..CALLS {
        let started = Instant::now();
        call().await?;
        outcome.add(Verdict::Done, started.elapsed());
    }
    Ok(Outcome::merge(vec![outcome], Duration::ZERO))
}

/// A page, and whether it is the right one.
async fn page(counter: &Counter, room: &str, count: usize, offset: usize) -> Result<()> {
    let arguments = json!({"roomName": room, "limit": PAGE, "offset": offset});
    let answer = call(counter, "get_messages", arguments).await?;
    let newest = room_logs::id(room, count - 1 - offset);
    ensure!(answer["count"] == PAGE, "{}", answer["count"]);
    ensure!(answer["messages"][0]["id"] == newest, "not {newest}");
    Ok(())
}
