//! `madoguchi package-files DIR`: what packages contain besides the program, and what
//! their manifests say about the counters. `scripts/package` calls it.

use std::{fs, path::Path, process::ExitCode};

use clap::CommandFactory;
use clap_complete::Shell;
use kit::{Error, Result};
use serde_json::{Value, json};

use crate::{
    cli::{Cli, CounterOptions},
    config::{self, Sources},
    counters, descriptions,
    output::pretty,
};

pub fn run(directory: &Path) -> Result<ExitCode> {
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    for folder in [&man, &completions] {
        fs::create_dir_all(folder).map_err(Error::internal)?;
    }
    clap_mangen::generate_to(Cli::command(), &man).map_err(Error::internal)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut Cli::command(), "madoguchi", &completions)
            .map_err(Error::internal)?;
    }
    let counters = pretty(&described()?);
    fs::write(directory.join("counters.json"), counters).map_err(Error::internal)?;
    Ok(ExitCode::SUCCESS)
}

/// The counters with their tools, whatever the user's own configuration says.
fn described() -> Result<Value> {
    let config = config::load(&Sources::default(), counters::all())?;
    let all = descriptions::described(&config, &CounterOptions::default(), None)?;
    let described = all.iter().map(|counter| {
        let tools = counter.tools.iter().map(
            |tool| json!({ "name": tool.client_safe_name(), "description": tool.description }),
        );
        let tools: Vec<Value> = tools.collect();
        let about = &counter.about;
        json!({
            "name": about.name,
            "title": about.title,
            "summary": about.summary,
            "tools": tools,
        })
    });
    Ok(described.collect())
}
