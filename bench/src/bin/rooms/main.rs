//! The rooms counter's figures, each beside its goal. Sends and pages go straight
//! into the counter; waking, memory and the start are those of the program on stdio.

mod agent;
mod disk;
mod latencies;
mod pages;
mod programs;
mod sends;

use anyhow::Result;
use bench::{options::Turns, process};
use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: Turns,
    /// How often the program is started
    #[arg(long, default_value_t = 20)]
    starts: usize,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let (places, rounds) = (cli.turns.places()?, cli.turns.rounds);
    let before = process::load_average()?;
    sends::measure(&places, rounds, cli.turns.time())?;
    pages::measure(&places, rounds)?;
    programs::measure(&places, cli.starts)?;
    process::print_load(&before)
}
