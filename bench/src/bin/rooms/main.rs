//! The rooms counter's figures, each beside its goal. Sends and pages go straight
//! into the counter; waking, memory and the start are those of the program on stdio.

mod agent;
mod disk;
mod latencies;
mod logs;
mod pages;
mod programs;
mod sends;

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use bench::places::Places;
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
