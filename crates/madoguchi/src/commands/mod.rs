//! One file a command.

mod approvals;
mod audit;
mod call;
mod config;
mod demo;
mod doctor;
mod import;
mod keys;
mod rooms;
mod serve;
mod stdio;
mod time;
mod tools;

use std::{io::Write, process::ExitCode, time::Duration};

use clap::CommandFactory;
use kit::{Error, Result};

use crate::cli::{Cli, Command};

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

/// What a command answers goes to stdout; a reader who has seen enough may
/// close it.
fn print(text: &str) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| {
        if text.ends_with('\n') {
            out.flush()
        } else {
            out.write_all(b"\n").and_then(|()| out.flush())
        }
    });
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::internal(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Columns as wide as what stands in them.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
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
