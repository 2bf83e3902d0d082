//! The `madoguchi` program. `cli.rs` defines the command line, `commands/` runs the
//! commands, `counters.rs` is the list of counters.

mod cli;
mod commands;
mod config;
mod counters;
mod descriptions;
mod in_process;
mod invocation;
mod location;
mod memory;
mod open;
mod output;
mod own_state;
mod probe;
mod progress;
mod reader;
mod running;
mod runtime;
mod unusable_data;
mod usable;

use std::process::ExitCode;

use clap::Parser;

/// Runs the command that the arguments of the process name.
pub fn main() -> ExitCode {
    memory::share();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => cli::refuse(error),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => {
            output::report(&error);
            ExitCode::FAILURE
        }
    }
}
