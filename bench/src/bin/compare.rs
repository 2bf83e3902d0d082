//! Compares the servers: over HTTP, at their start on stdio, in instructions, and with
//! many connections.

use std::{collections::HashMap, path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use bench::{
    connections,
    contestants::{self, Contestant},
    figures::{Goals, Table, median, megabytes, number, spread, times},
    instructions,
    load::Limit,
    places::Places,
    server::Server,
    starts, stdio, wire,
};
use clap::{Parser, Subcommand};

const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// The column that the goals are read from.
const GOALS_AT: usize = 16;
/// Before anything counts: compilers that work while a program runs need calls
/// to find out what matters.
const WARM_UP: Limit = Limit {
    calls: 10_000,
    time: Duration::from_secs(6),
};
const CALIBRATION: Duration = Duration::from_millis(500);
const FEWEST_CALLS: u64 = 200;
const PER: f64 = 10_000.0;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Calls over Streamable HTTP
    Http {
        /// How often each server has its turn
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// How long a turn takes
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        /// Where to run the servers, as taskset names cores
        #[arg(long)]
        core: Option<String>,
    },
    /// Start to first answer on stdio
    Stdio {
        #[arg(long, default_value_t = 20)]
        starts: usize,
    },
    /// The program's own start: each counter on stdio, and the desk
    Starts {
        #[arg(long, default_value_t = 20)]
        starts: usize,
    },
    /// The cost of a call with 1 to 4,096 connections
    Connections {
        /// How long a turn takes
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        /// Where to run the servers, as taskset names cores
        #[arg(long)]
        core: Option<String>,
        /// Where to write the figures for a picture
        #[arg(long)]
        figures: Option<PathBuf>,
    },
    /// Instructions per request; needs valgrind
    Instructions,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let places = Places::new(&cli.madoguchi)?;
    match cli.what {
        What::Http {
            rounds,
            seconds,
            core,
        } => http(&places, rounds, seconds, core.as_deref()).await,
        What::Stdio { starts } => stdio::compare(&places, starts),
        What::Starts { starts } => starts::measure(&places, starts).await,
        What::Connections {
            seconds,
            core,
            figures,
        } => {
            let turn = Limit::time(Duration::from_secs_f64(seconds));
            connections::measure(&places, turn, core.as_deref(), figures.as_deref()).await
        }
        What::Instructions => instructions::count(&places).await,
    }
}

/// One turn of one server.
struct Turn {
    cpu: f64,
    rate: f64,
    p50: f64,
    p99: f64,
}

/// The turns of one server at one number of connections, in order.
type Turns = HashMap<(usize, usize), Vec<Turn>>;

async fn http(places: &Places, rounds: usize, seconds: f64, core: Option<&str>) -> Result<()> {
    ensure!(rounds > 0, "at least one round");
    let mut servers = Vec::new();
    for contestant in contestants::ALL {
        let server = Server::start(contestant, places, core).await?;
        server.call(GOALS_AT, WARM_UP).await?;
        servers.push(server);
    }
    let mut counts = HashMap::new();
    let mut turns: Turns = HashMap::new();
    for round in 0..rounds {
        for connections in CONNECTIONS {
            for (index, server) in servers.iter().enumerate() {
                let key = (index, connections);
                if round == 0 {
                    let trial = server.call(connections, Limit::time(CALIBRATION)).await?;
                    let count = (trial.per_second() * seconds) as u64;
                    counts.insert(key, count.max(FEWEST_CALLS));
                }
                let calls = counts.get(&key).copied().unwrap_or(FEWEST_CALLS);
                let turn = take_turn(server, connections, calls).await?;
                turns.entry(key).or_default().push(turn);
            }
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    report(&servers, &counts, &turns)
}

async fn take_turn(server: &Server, connections: usize, calls: u64) -> Result<Turn> {
    let before = server.cpu_seconds()?;
    let outcome = server.call(connections, Limit::calls(calls)).await?;
    let cpu = server.cpu_seconds()? - before;
    Ok(Turn {
        cpu: cpu * PER / calls as f64,
        rate: outcome.per_second(),
        p50: outcome.percentile(0.5).as_secs_f64() * 1e6,
        p99: outcome.percentile(0.99).as_secs_f64() * 1e6,
    })
}

fn report(servers: &[Server], counts: &HashMap<(usize, usize), u64>, turns: &Turns) -> Result<()> {
    println!(
        "Streamable HTTP on loopback, keep-alive; stateless `tools/call` of revision {} to every \
         server; medians, ratios within each round.",
        wire::REVISION
    );
    for connections in CONNECTIONS {
        let mut table = Table::new(
            "server | calls | CPU s / 10,000 | CPU, × madoguchi | calls/s | p50 µs | p99 µs",
        );
        for (index, server) in servers.iter().enumerate() {
            let key = (index, connections);
            let of = |value: fn(&Turn) -> f64| number(median(turns[&key].iter().map(value)));
            table.row(&[
                server.contestant.name().to_owned(),
                counts[&key].to_string(),
                of(|turn| turn.cpu),
                times(median(ratios(turns, connections, index, 0))),
                of(|turn| turn.rate),
                of(|turn| turn.p50),
                of(|turn| turn.p99),
            ]);
        }
        table.print(&format!("{connections} connection(s)"));
    }
    let mut table = Table::new("server | start, ms | memory after the run | peak");
    for server in servers {
        let memory = server.memory()?;
        table.row(&[
            server.contestant.name().to_owned(),
            number(server.start.as_secs_f64() * 1e3),
            megabytes(memory.resident as f64),
            megabytes(memory.peak as f64),
        ]);
    }
    table.print("Start to first answer, and memory");
    goals(turns);
    Ok(())
}

/// The CPU that `index` takes as a multiple of what `base` takes, in each round.
fn ratios(turns: &Turns, connections: usize, index: usize, base: usize) -> Vec<f64> {
    let (one, other) = (&turns[&(index, connections)], &turns[&(base, connections)]);
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one.cpu / other.cpu).collect()
}

fn goals(turns: &Turns) {
    let place = |wanted| contestants::ALL.iter().position(|one| *one == wanted);
    let against = |one, base| match (place(one), place(base)) {
        (Some(one), Some(base)) => ratios(turns, GOALS_AT, one, base),
        _ => Vec::new(),
    };
    let mut goals = Goals::default();
    for (what, one, base, most) in [
        (
            "at most 1.8 × the CPU of bare axum",
            Contestant::Madoguchi,
            Contestant::Bare,
            1.8,
        ),
        (
            "at most 0.7 × the CPU of plain rmcp",
            Contestant::Madoguchi,
            Contestant::PlainRmcp,
            0.7,
        ),
        (
            "a read from SQLite: at most 1.5 × the CPU of the call that does nothing",
            Contestant::Cinema,
            Contestant::Madoguchi,
            1.5,
        ),
    ] {
        let here = against(one, base);
        let met = median(here.iter().copied()) <= most;
        goals.add(what, spread(&here), met);
    }
    for (other, least) in [(Contestant::FastMcp, 100.0), (Contestant::TypeScript, 30.0)] {
        let here = against(other, Contestant::Madoguchi);
        let name = other.name();
        let goal = format!("at least {least} × the calls per CPU second of {name}");
        let met = median(here.iter().copied()) >= least;
        goals.add(&goal, spread(&here), met);
    }
    goals.print();
}
