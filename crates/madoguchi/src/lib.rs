//! The `madoguchi` program. `cli.rs` defines the command line, `commands/` runs the
//! commands, `counters.rs` is the list of counters.

mod after_restore;
mod archive;
mod checks;
mod cli;
mod commands;
mod config;
mod config_check;
mod counters;
mod database_trouble;
mod descriptions;
mod embedded;
mod frozen;
mod in_process;
mod invocation;
mod locale;
mod location;
mod marks;
mod memory;
mod moving;
mod new_installation;
mod open;
mod open_files;
mod outgoing_hold;
mod output;
mod own_state;
mod probe;
mod progress;
mod running;
mod runtime;
mod table_owners;
mod temporary;

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
