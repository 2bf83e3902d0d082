//! The rooms counter's figures, each beside its goal. Sends and pages go straight
//! into the counter; waking, memory and the start are those of the program on stdio.

mod agent;
mod disk;
mod logs;
mod pages;
mod programs;
mod sends;

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use bench::{
    figures::{median, number},
    load::Outcome,
    places::Places,
};
use clap::Parser;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    /// How often the disk, each number of senders and each page have their turn
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long a turn takes
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How often the program is started
    #[arg(long, default_value_t = 20)]
    starts: usize,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    ensure!(cli.rounds > 0, "at least one round");
    let places = Places::new(&cli.madoguchi)?;
    let time = Duration::from_secs_f64(cli.seconds);
    let before = load_average()?;
    sends::measure(&places, cli.rounds, time)?;
    pages::measure(&places, cli.rounds)?;
    programs::measure(&places, cli.starts)?;
    println!(
        "\nCores: {}. Load average before {before}, after {}.",
        std::thread::available_parallelism()?,
        load_average()?
    );
    Ok(())
}

/// Of the last minute: what others do on the same cores is in every figure.
fn load_average() -> Result<String> {
    let loads = std::fs::read_to_string("/proc/loadavg")?;
    Ok(loads.split(' ').next().unwrap_or_default().to_owned())
}

fn milliseconds(outcome: &Outcome, share: f64) -> f64 {
    outcome.percentile(share).as_secs_f64() * 1e3
}

/// Latencies of several rounds, in milliseconds: the medians, and how far apart
/// the rounds were.
struct Latencies {
    p50: f64,
    p99: f64,
    range: String,
}

impl Latencies {
    fn of(rounds: &[Outcome]) -> Self {
        let all = |share| rounds.iter().map(move |round| milliseconds(round, share));
        let least = all(0.99).fold(f64::INFINITY, f64::min);
        let most = all(0.99).fold(0.0, f64::max);
        Self {
            p50: median(all(0.5)),
            p99: median(all(0.99)),
            range: format!("{}–{}", number(least), number(most)),
        }
    }
}
