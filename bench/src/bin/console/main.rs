//! The console: what it costs agents when ten people have it open, how large its first
//! view is, and how soon pages of much data are there.

mod browser;
mod desk;
mod large;
mod open;

use anyhow::Result;
use bench::{
    figures::Goals,
    options::Turns,
    process::{load_average, print_load},
};
use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: Turns,
    /// How many calls the audit has
    #[arg(long, default_value_t = 1_000_000)]
    records: u64,
    /// Where to run the desk, as taskset names cores
    #[arg(long)]
    core: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let places = cli.turns.places()?;
    let before = load_average()?;
    let mut goals = Goals::default();
    let (core, rounds) = (cli.core.as_deref(), cli.turns.rounds);
    open::measure(&places, core, rounds, cli.turns.time(), &mut goals).await?;
    large::measure(&places, core, cli.records, &mut goals).await?;
    goals.print();
    print_load(&before)
}
