//! One file for each command.

mod approvals;
mod audit;
mod backup;
mod call;
mod config;
mod demo;
mod doctor;
mod export;
mod healthcheck;
mod import;
mod install;
mod keys;
mod move_data;
mod of_counter;
mod package_files;
mod policies;
mod restore;
mod serve;
mod stdio;
mod tools;

use std::process::ExitCode;

use clap::CommandFactory;
use kit::Result;

use crate::{
    cli::{Cli, Command},
    output::print,
};

pub fn run(cli: Cli) -> Result<ExitCode> {
    let global = cli.global;
    match cli.command {
        Command::Serve(arguments) => serve::run(&global, &arguments),
        Command::Stdio(arguments) => stdio::run(&global, &arguments),
        Command::Tools(arguments) => tools::run(&global, &arguments),
        Command::Call(arguments) => call::run(&global, &arguments),
        Command::Keys(arguments) => keys::run(&global, &arguments.action),
        Command::Approvals(arguments) => approvals::run(&global, &arguments.action),
        Command::Policies(arguments) => policies::run(&global, &arguments.action),
        Command::OfCounter(called) => of_counter::run(&global, &called),
        Command::Import(arguments) => import::run(&global, &arguments),
        Command::Export(arguments) => export::run(&global, &arguments),
        Command::Install(arguments) => install::install(&global, &arguments),
        Command::Uninstall(arguments) => install::uninstall(&arguments),
        Command::Audit(arguments) => audit::run(&global, &arguments.action),
        Command::Backup(arguments) => backup::run(&global, &arguments),
        Command::Restore(arguments) => restore::run(&global, &arguments),
        Command::Move(arguments) => move_data::run(&global, &arguments),
        Command::Demo(arguments) => demo::run(&global, &arguments.action),
        Command::Config(arguments) => config::run(&global, &arguments.action),
        Command::Doctor(arguments) => doctor::run(&global, &arguments),
        Command::Healthcheck(arguments) => healthcheck::run(&global, &arguments),
        Command::PackageFiles { directory } => package_files::run(&directory),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "madoguchi", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
    }
}
