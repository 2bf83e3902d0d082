//! Flags that several benchmarks have.

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use clap::Args;

use crate::places::Places;

#[derive(Args)]
pub struct Turns {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    pub madoguchi: PathBuf,
    /// How often everything that is measured has its turn
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// How long a turn takes
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
}

impl Turns {
    pub fn places(&self) -> Result<Places> {
        ensure!(self.rounds > 0, "at least one round");
        Places::new(&self.madoguchi)
    }

    /// How long a turn takes.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}
