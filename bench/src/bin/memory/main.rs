//! What hostile callers can make a desk's memory grow to: one without a key, and
//! one with a key, each with everything it can think of at once.

mod behaviours;
mod caller;
mod desk;
mod requests;

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bench::{
    figures::{Goals, Table, megabytes, number, times},
    places::Places,
    process::Memory,
};
use clap::{Parser, ValueEnum};
use tokio::{task::JoinSet, time::MissedTickBehavior};

use crate::{behaviours::Behaviour, caller::Caller, desk::Desk};

/// What a desk may take beyond twice its idle memory, in kB.
const ALLOWANCE: u64 = 64 * 1024;

/// A desk that takes more is stopped early, in kB: the goal is missed by far, and
/// the machine is needed by others too.
const MOST_MEMORY: u64 = 4 * 1024 * 1024;
const MOST_ON_DISK: u64 = 16 * 1024 * 1024;

/// How long a desk may calm down before its memory is read once more.
const CALM: Duration = Duration::from_secs(15);

const EVERY_SECOND: Duration = Duration::from_secs(1);
/// Between two lines that say how far the run is, in samples.
const SAMPLES_PER_LINE: u64 = 10;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    /// How long each caller goes on
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Only this caller
    #[arg(long)]
    only: Option<Side>,
    /// Only this behaviour
    #[arg(long, conflicts_with = "each")]
    behaviour: Option<String>,
    /// Each behaviour alone, on a fresh desk
    #[arg(long)]
    each: bool,
    /// Requests in a second, of all behaviours together; 64 kB count as one more
    #[arg(long, default_value_t = 3000.0)]
    rate: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Keyless,
    Keyed,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Keyless => "keyless",
            Self::Keyed => "keyed",
        }
    }
}

/// One caller on one desk. Memory and disk are in kB.
struct Run {
    name: String,
    idle: Memory,
    /// The highest sample, and when it was taken.
    highest: Memory,
    highest_at: Duration,
    /// The kernel's own peak of resident memory, between samples too.
    peak: u64,
    after: Memory,
    on_disk: u64,
    /// Why it ended before its time.
    ended_early: Option<&'static str>,
}

impl Run {
    fn bound(&self) -> u64 {
        2 * self.idle.resident + ALLOWANCE
    }

    fn is_within_bound(&self) -> bool {
        self.peak <= self.bound() && self.ended_early.is_none()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    ensure!(cli.minutes > 0.0 && cli.rate > 0.0, "more than nothing");
    let places = Places::new(&cli.madoguchi)?;
    let mut runs = Vec::new();
    for side in [Side::Keyless, Side::Keyed] {
        if cli.only.is_some_and(|only| only != side) {
            continue;
        }
        for (name, behaviours) in groups(&cli, side)? {
            let name = format!("{}, {name}", side.name());
            runs.push(attack(&cli, &places, side, name, &behaviours).await?);
        }
    }
    ensure!(!runs.is_empty(), "this behaviour needs a key");
    report(&runs, cli.minutes);
    Ok(match runs.iter().all(Run::is_within_bound) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Which behaviours run together, each group on a desk of its own.
fn groups(cli: &Cli, side: Side) -> Result<Vec<(String, Vec<&'static Behaviour>)>> {
    let all = behaviours::of(side == Side::Keyed);
    let alone = |it: &'static Behaviour| (it.name.to_owned(), vec![it]);
    if cli.each {
        return Ok(all.into_iter().map(alone).collect());
    }
    let Some(name) = &cli.behaviour else {
        return Ok(vec![(format!("all {} behaviours", all.len()), all)]);
    };
    let known = behaviours::ALL.iter().any(|it| it.name == name);
    let names: Vec<&str> = behaviours::ALL.iter().map(|it| it.name).collect();
    ensure!(
        known,
        "no behaviour {name}; there are: {}",
        names.join(", ")
    );
    let named = all.into_iter().filter(|it| it.name == name);
    Ok(named.map(alone).collect())
}

async fn attack(
    cli: &Cli,
    places: &Places,
    side: Side,
    name: String,
    behaviours: &[&'static Behaviour],
) -> Result<Run> {
    let mut desk = Desk::start(places, &format!("memory-{}.log", side.name())).await?;
    let idle = desk.idle().await?;
    eprintln!("{name}: idle at {}", both(&idle));
    let key = (side == Side::Keyed).then(|| desk.key.clone());
    let caller = |rate| Arc::new(Caller::new(desk.ports, key.clone(), rate));
    if let Err(error) = behaviours::prepare(&caller(cli.rate)).await {
        eprintln!("{name}: not everything could be prepared: {error}");
    }

    let (share, rate) = (
        behaviours::share(behaviours),
        cli.rate / behaviours.len() as f64,
    );
    let callers: Vec<_> = behaviours
        .iter()
        .map(|it| (it.name, caller(rate)))
        .collect();
    let mut tasks = JoinSet::new();
    for (behaviour, (_, caller)) in behaviours.iter().zip(&callers) {
        behaviour.start(caller, share, &mut tasks);
    }
    let mut run = Run {
        name,
        idle,
        highest: idle,
        highest_at: Duration::ZERO,
        peak: 0,
        after: idle,
        on_disk: 0,
        ended_early: None,
    };
    run.watch(&mut desk, Duration::from_secs_f64(cli.minutes * 60.0))
        .await?;
    tasks.shutdown().await;
    if run.ended_early.is_none() {
        tokio::time::sleep(CALM).await;
    }
    run.after = desk.memory()?;
    run.peak = run.peak.max(run.after.peak);
    run.on_disk = desk.on_disk();
    eprintln!(
        "{}: peak {}, then {}; the desk used {} s of CPU",
        run.name,
        megabytes(run.peak as f64),
        both(&run.after),
        number(desk.cpu_seconds()?)
    );
    told(&run.name, &callers);
    // It is killed when it is dropped: an orderly end would wait for all the calls.
    Ok(run)
}

impl Run {
    /// Reads the desk's memory every second, until the time is over.
    async fn watch(&mut self, desk: &mut Desk, time: Duration) -> Result<()> {
        let started = Instant::now();
        let mut seconds = tokio::time::interval(EVERY_SECOND);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        for sample in 1.. {
            seconds.tick().await;
            let elapsed = started.elapsed();
            if desk.is_gone()? {
                self.ended_early = Some("the desk died");
                return Ok(());
            }
            let memory = desk.memory()?;
            self.peak = self.peak.max(memory.peak);
            if memory.resident > self.highest.resident {
                (self.highest, self.highest_at) = (memory, elapsed);
            }
            if sample % SAMPLES_PER_LINE == 0 {
                let on_disk = desk.on_disk();
                eprintln!(
                    "{}: {} s, {}, {} on disk",
                    self.name,
                    elapsed.as_secs(),
                    both(&memory),
                    megabytes(on_disk as f64)
                );
                if on_disk > MOST_ON_DISK {
                    self.ended_early = Some("too much on disk");
                }
            }
            if memory.resident > MOST_MEMORY {
                self.ended_early = Some("too much memory");
            }
            if elapsed >= time || self.ended_early.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn both(memory: &Memory) -> String {
    let (resident, anonymous) = (memory.resident as f64, memory.anonymous as f64);
    format!(
        "{} (anonymous {})",
        megabytes(resident),
        megabytes(anonymous)
    )
}

/// What the behaviours did, so that one which reaches nothing is noticed.
fn told(name: &str, callers: &[(&str, Arc<Caller>)]) {
    let mut table =
        Table::new("behaviour | sent | most connections | refused or broken | told most often");
    for (behaviour, caller) in callers {
        let tally = &caller.tally;
        table.row(&[
            (*behaviour).to_owned(),
            tally.sent().to_string(),
            tally.most_held().to_string(),
            tally.broken().to_string(),
            tally.most_told(),
        ]);
    }
    table.print(&format!("What was done: {name}"));
}

fn report(runs: &[Run], minutes: f64) {
    let mut table = Table::new(
        "caller | idle | anonymous | highest sample | anonymous | at | peak | bound | \
         peak / bound | afterwards | on disk",
    );
    let mut goals = Goals::default();
    for run in runs {
        let (peak, bound) = (run.peak as f64, run.bound() as f64);
        let kilobytes = |value: u64| megabytes(value as f64);
        table.row(&[
            run.name.clone(),
            kilobytes(run.idle.resident),
            kilobytes(run.idle.anonymous),
            kilobytes(run.highest.resident),
            kilobytes(run.highest.anonymous),
            format!("{} s", run.highest_at.as_secs()),
            kilobytes(run.peak),
            kilobytes(run.bound()),
            times(peak / bound),
            kilobytes(run.after.resident),
            kilobytes(run.on_disk),
        ]);
        let here = match run.ended_early {
            Some(why) => format!("{}; ended early: {why}", megabytes(peak)),
            None => megabytes(peak),
        };
        let goal = format!("{}: at most {}", run.name, megabytes(bound));
        goals.add(&goal, here, run.is_within_bound());
    }
    table.print(&format!(
        "Memory under hostile callers, {} minutes each",
        number(minutes)
    ));
    goals.print();
}
