//! One file a command.

mod approvals;
mod audit;
mod call;
mod config;
mod demo;
mod doctor;
mod import;
mod keys;
pub mod output;
mod rooms;
mod serve;
mod stdio;
mod time;
mod tools;

use std::{process::ExitCode, time::Duration};

use clap::CommandFactory;
use kit::{Error, Result};

use crate::cli::{Cli, Command};
use output::print;

pub fn run(cli: Cli) -> Result<ExitCode> {
    let global = cli.global;
    match cli.command {
        Command::Serve(arguments) => serve::run(&global, &arguments),
        Command::Stdio(arguments) => stdio::run(&global, &arguments),
        Command::Tools(arguments) => tools::run(&global, &arguments),
        Command::Call(arguments) => call::run(&global, &arguments),
        Command::Keys(arguments) => keys::run(&global, &arguments.action),
        Command::Approvals(arguments) => approvals::run(&global, &arguments.action),
        Command::Rooms(arguments) => rooms::run(&global, &arguments.action),
        Command::Import(arguments) => import::run(&global, &arguments),
        Command::Audit(arguments) => audit::run(&global, &arguments.action),
        Command::Demo(arguments) => demo::run(&global, &arguments.action),
        Command::Config(arguments) => config::run(&global, &arguments.action),
        Command::Doctor(arguments) => doctor::run(&global, &arguments),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "madoguchi", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
    }
}

/// File work that hangs does not keep the program from ending.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// One thread is enough for everything but `serve`, and starts faster.
fn on_one_thread<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::internal)?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WAIT);
    result
}
