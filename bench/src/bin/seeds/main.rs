//! Every figure of time, size and count in the documents that the counters are
//! built from, measured on the program.

mod rooms;
mod statements;
mod todo;
mod voice;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use bench::{places::Places, process};
use clap::Parser;

use crate::statements::Statements;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let places = Places::new(&cli.madoguchi)?;
    let load = process::load_average()?;
    let mut statements = Statements::default();
    todo::measure(&places, &mut statements)?;
    rooms::measure(&places, &mut statements)?;
    voice::measure(&places, &mut statements).await?;
    statements.print();
    process::print_load(&load)?;
    Ok(match statements.all_hold() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
