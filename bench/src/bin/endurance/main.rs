//! A long life in an hour: twelve days of mixed work on one data directory, by a
//! clock that runs 24 times as fast and with nights in which the machine sleeps.
//! What is left behind at the end of each day is compared.

mod client;
mod clock;
mod desk;
mod plot;
mod samples;
mod tally;
mod verdict;
mod work;

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bench::{
    figures::{Table, number},
    places::Places,
    process,
};
use clap::Parser;
use serde_json::json;
use tokio::sync::watch;

use crate::{client::World, desk::Desk, samples::Sample};

const DAYS: usize = 12;
/// The share of a day in which people come. The rest is quiet, for the hours that
/// sessions, holds and carts take to end.
const OPEN: f64 = 0.8;
/// How long the machine sleeps after a day, in hours.
const NIGHT: i64 = 22;
/// After this day it sleeps longer than anything is kept that is not kept for good.
const HOLIDAY_AFTER: usize = 6;
const HOLIDAY: i64 = 95 * 24;
const SAMPLES_A_DAY: u32 = 10;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    /// How long it goes on
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// How much faster the desk's time is; less on a machine that is busy with others
    #[arg(long, default_value_t = 24)]
    rate: i64,
    /// Where curves and figures are written: endurance.svg and endurance.csv
    #[arg(long)]
    plot: Option<PathBuf>,
}

/// How the process ends in the middle of a day. In between one of them lives long.
fn end_of_process(day: usize) -> Option<bool> {
    const TERM: bool = true;
    match day {
        1 | 11 => Some(TERM),
        2 | 10 => Some(!TERM),
        _ => None,
    }
}

struct Run {
    world: Arc<World>,
    began: Instant,
    samples: Vec<Sample>,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    ensure!(cli.minutes > 0.0 && cli.rate > 0, "more than nothing");
    let places = Places::new(&cli.madoguchi)?;
    let load = process::load_average()?;
    let desk = Arc::new(Desk::new(&places, cli.rate)?);
    let (_, key) = desk.make_key("bench", &[]).await?;
    // Nobody may change stock whose key does not say so.
    let stock = ["--counters", "merchant", "--tools", "update_inventory"];
    let (_, stock_key) = desk.make_key("stock", &stock).await?;
    desk.start().await?;
    let world = Arc::new(World::new(desk, key, stock_key));
    let (doors, receiver) = watch::channel(false);
    let mut visitors = work::start(&world, &receiver);
    let mut run = Run {
        world,
        began: Instant::now(),
        samples: Vec::new(),
    };
    let day = Duration::from_secs_f64(cli.minutes * 60.0 / DAYS as f64);
    for number in 0..DAYS {
        run.day(number, day, &doors).await?;
        if let Some(folder) = &cli.plot {
            plot::write(folder, &run.samples)?;
        }
    }
    visitors.shutdown().await;
    run.world.desk.stop().await?;
    let fine = report(&run);
    process::print_load(&load)?;
    Ok(if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Run {
    async fn day(
        &mut self,
        number: usize,
        length: Duration,
        doors: &watch::Sender<bool>,
    ) -> Result<()> {
        let began = Instant::now();
        let desk = Arc::clone(&self.world.desk);
        doors.send_replace(true);
        let open = length.mul_f64(OPEN);
        let step = open / SAMPLES_A_DAY;
        for part in 1..=SAMPLES_A_DAY {
            tokio::time::sleep_until((began + step * part).into()).await;
            ensure!(!desk.is_gone(), "the desk died; see its log");
            self.sample(number, false)?;
            if part == SAMPLES_A_DAY / 4 {
                desk.replace_certificate()?;
                self.visit_of_a_day(number).await?;
            }
            if part == SAMPLES_A_DAY / 2
                && let Some(is_asked) = end_of_process(number)
            {
                match is_asked {
                    true => desk.stop().await?,
                    false => desk.kill(),
                }
                desk.start().await?;
            }
        }
        doors.send_replace(false);
        tokio::time::sleep_until((began + length).into()).await;
        self.sample(number, true)?;
        desk.clock.leap(if number == HOLIDAY_AFTER {
            HOLIDAY
        } else {
            NIGHT
        })
    }

    /// Once a day: a key that is used and revoked, and a link to the console.
    async fn visit_of_a_day(&self, day: usize) -> Result<()> {
        let (world, desk) = (&self.world, &self.world.desk);
        world.made("key");
        let (id, key) = desk.make_key(&format!("guest-{day}"), &[]).await?;
        if let Ok(mut line) = world.line_with("cinema", &key).await {
            let _ = line.call("get_movie_list", json!({})).await;
        }
        desk.command(&["keys", "revoke", &id]).output()?;
        desk.command(&["approvals", "open"]).output()?;
        Ok(())
    }

    fn sample(&mut self, day: usize, is_rest: bool) -> Result<()> {
        let sample = samples::take(&self.world, self.began, day, is_rest)?;
        if is_rest {
            let of = |name: &str| sample.values.get(name).copied().unwrap_or_default();
            eprintln!(
                "day {}: {} s, {} calls, process {}, heap {} MB, {} descriptors, {} threads",
                day + 1,
                sample.after.as_secs(),
                sample.calls,
                sample.life,
                number(of(samples::HEAP)),
                of(samples::DESCRIPTORS),
                of(samples::THREADS),
            );
        }
        self.samples.push(sample);
        Ok(())
    }
}

fn report(run: &Run) -> bool {
    let mut table = Table::new("what was done | calls | answers");
    for line in run.world.tally.lines() {
        table.row(&line);
    }
    table.print("Work");
    verdict::report(&run.world, &run.samples, DAYS)
}
