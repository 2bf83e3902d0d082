//! What trust costs: the same read call with a key, a limit and the audit, and
//! without any of them, in turns; what a refusal costs; and whether the time it
//! takes tells how near a guessed key came.

use std::{path::PathBuf, process::Command, sync::Arc, time::Duration};

use anyhow::{Result, ensure};
use bench::{
    figures::{Goals, Table, median, number, spread},
    load::{self, Limit},
    places::Places,
    process,
    server::{Running, free_port, make_key, wrapped},
    wire::{Films, Refused, Sums, Target},
};
use clap::Parser;
use tempfile::TempDir;

/// As many as a key's requests in a minute could ever be here, so that the limit
/// counts each and refuses none.
const LIMIT: u32 = 100_000_000;
const CONNECTIONS: usize = 16;
const WARM_UP: Duration = Duration::from_secs(2);
const GOAL: f64 = 1.25;
/// Wrong keys of each kind. The desk takes its time with each.
const GUESSES: u64 = 60;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long a turn takes
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Where to run the servers, as taskset names cores
    #[arg(long)]
    core: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    Guarded,
    /// Refuses everything but the first request.
    Full,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Guarded => "guarded",
            Self::Full => "full",
        }
    }

    fn config(self) -> String {
        match self {
            Self::Open => "[audit]\nenabled = false\n".to_owned(),
            Self::Guarded => format!(
                "[http]\nrequire_key = true\n[limits]\nwrong_keys_per_minute = 0\nrequests_per_minute = {{ fixture = {LIMIT}, cinema = {LIMIT} }}\n"
            ),
            Self::Full => {
                "[http]\nrequire_key = true\n[limits]\nrequests_per_minute = { fixture = 1 }\n"
                    .to_owned()
            }
        }
    }
}

struct Desk {
    running: Running,
    port: u16,
    key: Option<String>,
    _data: TempDir,
}

/// What one turn of a desk cost.
struct Turn {
    /// CPU seconds for 10,000 calls.
    cpu: f64,
    /// Calls per second.
    rate: f64,
}

#[derive(Clone, Copy)]
enum Call {
    Sum,
    Films,
}

impl Call {
    const ALL: [Self; 2] = [Self::Sum, Self::Films];

    fn name(self) -> &'static str {
        match self {
            Self::Sum => "`fixture_sum`, which does nothing else",
            Self::Films => "`get_movie_list`, which reads SQLite",
        }
    }
}

impl Desk {
    async fn start(cli: &Cli, places: &Places, kind: Kind) -> Result<Self> {
        let data = places.fresh()?;
        let config = data.path().join("desk.toml");
        std::fs::write(&config, kind.config())?;
        let key = match kind {
            Kind::Guarded | Kind::Full => Some(make_key(&cli.madoguchi, data.path())?),
            Kind::Open => None,
        };
        let port = free_port()?;
        let mut command = Command::new(&cli.madoguchi);
        command.args([
            "serve",
            "--fixture",
            "--merchant-port",
            "0",
            "--innervoice-port",
            "0",
            "--data",
        ]);
        command.arg(data.path()).arg("--config").arg(&config);
        command.args(["--port", &port.to_string()]);
        if let Some(core) = &cli.core {
            command = wrapped(&["taskset", "-c", core], &command);
        }
        let name = kind.name();
        let running = Running::spawn(command, &places.logs.join(format!("trust-{name}.log")))?;
        let desk = Self {
            running,
            port,
            key,
            _data: data,
        };
        for _ in 0..600 {
            if desk.call(Call::Films, Limit::calls(1)).await.is_ok() {
                return Ok(desk);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("the desk does not answer; see .env/logs/trust-{name}.log")
    }

    /// The same as [`Desk::turn`] where every call is refused with this status.
    async fn refused(&self, status: u16, seconds: f64) -> Result<f64> {
        let before = process::cpu_seconds(self.running.id())?;
        let limit = Limit::time(Duration::from_secs_f64(seconds));
        let target = Target::new(self.port, "/mcp/fixture", "fixture_sum");
        let target = target.with_key(self.key.as_deref().unwrap_or_default());
        let work = Arc::new(Refused { status });
        let outcome = load::run(&target, &work, CONNECTIONS, limit).await?;
        let cpu = process::cpu_seconds(self.running.id())? - before;
        Ok(cpu / outcome.calls() as f64 * 10_000.0)
    }

    /// The median time until a wrong key is refused, in milliseconds.
    async fn guess(&self, key: &str, guesses: u64) -> Result<f64> {
        let target = Target::new(self.port, "/mcp/fixture", "fixture_sum").with_key(key);
        let work = Arc::new(Refused { status: 401 });
        let outcome = load::run(&target, &work, 1, Limit::calls(guesses)).await?;
        Ok(outcome.percentile(0.5).as_secs_f64() * 1e3)
    }

    async fn call(&self, call: Call, limit: Limit) -> Result<load::Outcome> {
        let target = |path, tool| {
            let target = Target::new(self.port, path, tool);
            match &self.key {
                Some(key) => target.with_key(key),
                None => target,
            }
        };
        match call {
            Call::Sum => {
                let target = target("/mcp/fixture", "fixture_sum");
                load::run(&target, &Arc::new(Sums), CONNECTIONS, limit).await
            }
            Call::Films => {
                let target = target("/mcp/cinema", "get_movie_list");
                load::run(&target, &Arc::new(Films), CONNECTIONS, limit).await
            }
        }
    }

    async fn turn(&self, call: Call, seconds: f64) -> Result<Turn> {
        let before = process::cpu_seconds(self.running.id())?;
        let limit = Limit::time(Duration::from_secs_f64(seconds));
        let outcome = self.call(call, limit).await?;
        let cpu = process::cpu_seconds(self.running.id())? - before;
        Ok(Turn {
            cpu: cpu / outcome.calls() as f64 * 10_000.0,
            rate: outcome.per_second(),
        })
    }
}

/// Keys that are wrong in other places.
fn guesses(right: &str) -> [(&'static str, String); 4] {
    let wrong_at = |at: usize| -> String {
        let change = |(index, letter): (usize, char)| match (index == at, letter) {
            (false, letter) => letter,
            (true, 'x') => 'y',
            (true, _) => 'x',
        };
        right.chars().enumerate().map(change).collect()
    };
    let secret = right.rfind('_').map_or(0, |at| at + 1);
    [
        ("unknown id", wrong_at(secret - 3)),
        ("wrong in the secret's first letter", wrong_at(secret)),
        ("wrong in its last", wrong_at(right.len() - 1)),
        ("no key at all by its form", "guess".to_owned()),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    ensure!(cli.rounds > 0, "at least one round");
    let places = Places::new(&cli.madoguchi)?;
    let open = Desk::start(&cli, &places, Kind::Open).await?;
    let guarded = Desk::start(&cli, &places, Kind::Guarded).await?;
    let full = Desk::start(&cli, &places, Kind::Full).await?;
    let mut table = Table::new(
        "call, 16 connections | CPU s / 10,000, open | guarded | calls/s, open | guarded",
    );
    let mut goals = Goals::default();
    for call in Call::ALL {
        for desk in [&open, &guarded] {
            desk.call(call, Limit::time(WARM_UP)).await?;
        }
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for round in 0..cli.rounds {
            without.push(open.turn(call, cli.seconds).await?);
            with.push(guarded.turn(call, cli.seconds).await?);
            eprintln!("{}: round {} of {}", call.name(), round + 1, cli.rounds);
        }
        let cpu = |turns: &[Turn]| number(median(turns.iter().map(|turn| turn.cpu)));
        let rate = |turns: &[Turn]| number(median(turns.iter().map(|turn| turn.rate)));
        table.row(&[
            call.name().to_owned(),
            cpu(&without),
            cpu(&with),
            rate(&without),
            rate(&with),
        ]);
        let pairs = with.iter().zip(&without);
        let ratios: Vec<f64> = pairs
            .map(|(with, without)| with.cpu / without.cpu)
            .collect();
        let met = median(ratios.iter().copied()) < GOAL;
        let goal = format!("{}: under {GOAL} × the CPU", call.name());
        goals.add(&goal, spread(&ratios), met);
    }
    table.print("Identity, limit and audit");

    // The one request that passes.
    full.call(Call::Sum, Limit::calls(1)).await.ok();
    let mut ratios = Vec::new();
    for _ in 0..cli.rounds {
        let call = guarded.turn(Call::Sum, cli.seconds).await?;
        ratios.push(full.refused(429, cli.seconds).await? / call.cpu);
    }
    let met = median(ratios.iter().copied()) < 1.0;
    goals.add(
        "a refusal over the limit costs less than the call would",
        spread(&ratios),
        met,
    );

    let mut table = Table::new("a wrong key | ms until it is refused, p50");
    let right = guarded.key.clone().unwrap_or_default();
    for (name, key) in guesses(&right) {
        let mut times = Vec::new();
        for _ in 0..3 {
            times.push(guarded.guess(&key, GUESSES / 3).await?);
        }
        table.row(&[name.to_owned(), number(median(times))]);
    }
    table.print("Guessing");
    goals.print();
    full.running.stop()?;
    open.running.stop()?;
    guarded.running.stop()
}
