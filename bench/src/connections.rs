//! What a call costs when more and more connections are open: the program with a key, a
//! limit and the audit, in turns with bare axum.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use crate::{
    contestants::Contestant,
    figures::{Goals, Table, megabytes, number, times},
    load::{self, Limit, Outcome},
    places::Places,
    process,
    server::{Running, Server, free_port, make_key, wrapped},
    wire::{Sums, Target},
};

const PATIENCE: Duration = Duration::from_secs(60);
const CONNECTIONS: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];
/// One key may have half of all connections, and all are open before the first says who
/// it is.
const CONFIG: &str = "[http]\nrequire_key = true\nmax_connections = 10000\n\
    max_connections_per_address = 5000\nmax_unidentified_connections = 4096\n\
    identify_timeout_seconds = 60\n\
    [limits]\nrequests_per_minute = { fixture = 100000000 }\n";
/// How much dearer a call may be with the most connections than with 64. Below 64 calls
/// wait for each other less, and share less.
const GOAL: f64 = 1.5;

/// One of the two.
struct Contender {
    name: &'static str,
    process: u32,
    target: Target,
}

struct Turn {
    /// CPU of one call, in microseconds.
    cpu: f64,
    outcome: Outcome,
    peak: u64,
}

impl Contender {
    async fn wait_until_it_answers(&self) -> Result<()> {
        let started = Instant::now();
        while let Err(error) = self.turn(1, Limit::calls(1)).await {
            if started.elapsed() > PATIENCE {
                return Err(error.context(format!("{} does not answer", self.name)));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn turn(&self, connections: usize, limit: Limit) -> Result<Turn> {
        // Opening the connections is part of it, so that their number must be small
        // beside the number of calls.
        process::reset_peak(self.process)?;
        let before = process::cpu_seconds(self.process)?;
        let outcome = load::run(&self.target, &Arc::new(Sums), connections, limit).await?;
        let cpu = process::cpu_seconds(self.process)? - before;
        Ok(Turn {
            cpu: cpu / outcome.calls() as f64 * 1e6,
            outcome,
            peak: process::memory(self.process)?.peak,
        })
    }
}

/// Prints a table; with `figures`, also writes what a picture needs to that file.
pub async fn measure(
    places: &Places,
    limit: Limit,
    core: Option<&str>,
    figures: Option<&Path>,
) -> Result<()> {
    let data = places.fresh()?;
    let port = free_port()?;
    let desk = start_desk(places, data.path(), port, core)?;
    let key = make_key(&places.madoguchi, data.path())?;
    let bare = Server::start(Contestant::Bare, places, core).await?;
    let target = Target::new(port, Contestant::Madoguchi.path(), "fixture_sum");
    let contenders = [
        Contender {
            name: "madoguchi",
            process: desk.id(),
            target: target.with_key(&key),
        },
        Contender {
            name: "bare axum",
            process: bare.id(),
            target: bare.target.clone(),
        },
    ];
    for contender in &contenders {
        contender.wait_until_it_answers().await?;
        contender.turn(64, limit).await?;
    }
    let lines = measure_each_number(&contenders, limit).await?;
    print_goal(&lines);
    if let Some(path) = figures {
        write_figures(path, &contenders, &lines)?;
    }
    desk.stop()?;
    bare.stop()
}

/// The CPU of a call of each of the two, by [`CONNECTIONS`].
async fn measure_each_number(contenders: &[Contender; 2], limit: Limit) -> Result<[Vec<f64>; 2]> {
    let mut table = Table::new(
        "connections | CPU of a call, µs | of bare axum, µs | ratio | calls/s | p99, ms | \
         peak memory",
    );
    let mut lines: [Vec<f64>; 2] = Default::default();
    for connections in CONNECTIONS {
        let [ours, bare] = contenders;
        let (ours, bare) = (
            ours.turn(connections, limit).await?,
            bare.turn(connections, limit).await?,
        );
        table.row(&[
            connections.to_string(),
            number(ours.cpu),
            number(bare.cpu),
            times(ours.cpu / bare.cpu),
            number(ours.outcome.per_second()),
            number(ours.outcome.milliseconds(0.99)),
            megabytes(ours.peak as f64),
        ]);
        let [our_line, bare_line] = &mut lines;
        our_line.push(ours.cpu);
        bare_line.push(bare.cpu);
        eprintln!("{connections} connections");
    }
    table.print("The cost of a call, by the number of connections");
    Ok(lines)
}

fn print_goal([ours, _]: &[Vec<f64>; 2]) {
    let at = |wanted| CONNECTIONS.iter().position(|one| *one == wanted);
    if let (Some(at_64), Some(last)) = (at(64).and_then(|at| ours.get(at)), ours.last()) {
        let mut goals = Goals::default();
        let goal = format!("4,096 connections: at most {GOAL} × the CPU of 64");
        goals.add(&goal, times(last / at_64), last / at_64 <= GOAL);
        goals.print();
    }
}

fn write_figures(path: &Path, contenders: &[Contender; 2], lines: &[Vec<f64>; 2]) -> Result<()> {
    let names = contenders.iter().map(|one| one.name.to_owned());
    let lines: serde_json::Map<_, _> = names.zip(lines.iter().map(|line| json!(line))).collect();
    let title = "CPU of one call by the number of connections";
    let figures = json!({
        "title": title, "unit": "µs", "sizes": CONNECTIONS, "lines": lines
    });
    Ok(fs::write(path, figures.to_string())?)
}

fn start_desk(places: &Places, data: &Path, port: u16, core: Option<&str>) -> Result<Running> {
    let config = data.join("desk.toml");
    fs::write(&config, CONFIG)?;
    let mut command: Command = Contestant::Madoguchi.serve(places, port, data);
    command.arg("--config").arg(config);
    if let Some(core) = core {
        command = wrapped(&["taskset", "-c", core], &command);
    }
    Running::spawn(command, &places.logs.join("connections.log"))
}
