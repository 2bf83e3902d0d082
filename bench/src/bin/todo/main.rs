//! The todo counter on a full project, beside Backlog.md and `adrs`: start to the
//! first list, creating, updating, searching, memory. All of them over MCP on
//! stdio.

mod jobs;

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bench::{
    figures::{Goals, Table, median, megabytes, milliseconds as ms, number, times},
    load::Outcome,
    places::Places,
    process,
    project::{self, Projects},
    session::Session,
    wire::Verdict,
};
use clap::Parser;

use crate::jobs::{ALL, Call, Job};

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    /// How often everybody has a turn
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How often the programs are started
    #[arg(long, default_value_t = 20)]
    starts: usize,
}

const CALLS: usize = 100;
const GOAL_START_MS: f64 = 50.0;
const GOAL_WRITE_MS: f64 = 5.0;
const GOAL_SEARCH_MS: f64 = 10.0;
const GOAL_MB: f64 = 40.0;

fn main() -> Result<()> {
    let cli = Cli::parse();
    ensure!(cli.rounds > 0 && cli.starts > 0, "at least one");
    let places = Places::new(&cli.madoguchi)?;
    let scratch = places.fresh()?;
    let projects = project::write(&scratch.path().canonicalize()?)?;
    let before = process::load_average()?;
    let mut goals = Goals::default();
    let starts = starts(&places, &projects, cli.starts, &mut goals)?;
    first_search(&places, &projects, cli.starts.div_ceil(4))?;
    turns(&places, &projects, cli.rounds, &starts, &mut goals)?;
    goals.print();
    process::print_load(&before)
}

fn ask(session: &mut Session, call: &Call) -> Result<(String, Duration)> {
    let (text, took) = session.call(call.tool, &call.arguments)?;
    let right = text.contains(&call.expected);
    ensure!(right, "{} without {}: {text}", call.tool, call.expected);
    Ok((text, took))
}

/// From spawning the process to the answer of its first list, in milliseconds.
fn starts(
    places: &Places,
    projects: &Projects,
    starts: usize,
    goals: &mut Goals,
) -> Result<Vec<f64>> {
    let mut measured: Vec<Vec<f64>> = ALL.map(|_| Vec::new()).into();
    for round in 0..=starts {
        for ((job, _), times) in ALL.iter().zip(&mut measured) {
            if round > 0 && !round.is_multiple_of(starts.div_ceil(job.share(starts))) {
                continue;
            }
            let mut session = Session::start(job.command(places, projects)?)?;
            ask(&mut session, &job.list())?;
            // The very first brings the files into memory.
            if round > 0 {
                times.push(ms(session.since_start()));
            }
        }
    }
    let medians: Vec<f64> = measured.iter().map(|times| median(times.clone())).collect();
    let ours = medians.first().copied().unwrap_or(f64::NAN);
    goals.under_ms("start to the first list under 50 ms", ours, GOAL_START_MS);
    Ok(medians)
}

/// A search that comes before anything was read, and one that comes a second
/// after the first answer.
fn first_search(places: &Places, projects: &Projects, starts: usize) -> Result<()> {
    let (mut cold, mut prepared) = (Vec::new(), Vec::new());
    let job = Job::MadoguchiTasks;
    for round in 0..starts {
        let mut session = Session::start(job.command(places, projects)?)?;
        cold.push(ms(ask(&mut session, &job.find_one(round))?.1));
        let mut session = Session::start(job.command(places, projects)?)?;
        ask(&mut session, &job.list())?;
        std::thread::sleep(Duration::from_secs(1));
        prepared.push(ms(ask(&mut session, &job.find_one(round))?.1));
    }
    let mut table = Table::new("first search of a process | ms | the document's figure");
    table.row(&["as its first call", &number(median(cold)), "500"]);
    table.row(&[
        "a second after its first call",
        &number(median(prepared)),
        "500",
    ]);
    table.print("madoguchi: the first search over 9,998 files, medians");
    Ok(())
}

/// Latencies of all rounds.
#[derive(Default)]
struct Turns {
    create: Outcome,
    update: Outcome,
    find: Outcome,
    memory: u64,
    peak: u64,
}

fn turns(
    places: &Places,
    projects: &Projects,
    rounds: usize,
    starts: &[f64],
    goals: &mut Goals,
) -> Result<()> {
    let mut disk = Outcome::default();
    let mut sessions = Vec::new();
    for (job, _) in ALL {
        let mut session = Session::start(job.command(places, projects)?)?;
        ask(&mut session, &job.list())?;
        ask(&mut session, &job.find_one(0))?;
        sessions.push((job, session, Turns::default()));
    }
    let mut more: Vec<(&str, Call, Outcome)> = jobs::searches()
        .map(|(name, call)| (name, call, Outcome::default()))
        .into();
    for round in 0..rounds {
        sync(&projects.madoguchi, &mut disk)?;
        for (job, session, turns) in &mut sessions {
            for number in 0..job.share(CALLS) {
                let number = round * CALLS + number;
                let (created, took) = ask(session, &job.create(number))?;
                turns.create.add(Verdict::Done, took);
                job.take_away(projects, &created)?;
                if let Some(delete) = job.delete() {
                    ask(session, &delete)?;
                }
                let took = ask(session, &job.update(number))?.1;
                turns.update.add(Verdict::Done, took);
                let took = ask(session, &job.find_one(number))?.1;
                turns.find.add(Verdict::Done, took);
            }
            if *job == Job::MadoguchiTasks {
                for (_, call, outcome) in &mut more {
                    for _ in 0..CALLS / 4 {
                        outcome.add(Verdict::Done, ask(session, call)?.1);
                    }
                }
            }
            let memory = session.memory()?;
            (turns.memory, turns.peak) = (memory.resident, memory.peak);
        }
    }
    report(starts, sessions, disk, more, goals);
    Ok(())
}

/// What the disk can do by itself.
fn sync(directory: &Path, outcome: &mut Outcome) -> Result<()> {
    let mut file = File::create(directory.join("probe"))?;
    for _ in 0..CALLS {
        let started = Instant::now();
        file.write_all(&[b'x'; 200])?;
        file.sync_data()?;
        outcome.add(Verdict::Done, started.elapsed());
    }
    Ok(())
}

fn percentiles(outcome: Outcome) -> (f64, f64) {
    let outcome = Outcome::merge(vec![outcome], Duration::ZERO);
    (outcome.milliseconds(0.5), outcome.milliseconds(0.99))
}

struct Row {
    job: Job,
    start: f64,
    create: (f64, f64),
    update: (f64, f64),
    find: (f64, f64),
    memory: f64,
    peak: f64,
}

fn report(
    starts: &[f64],
    sessions: Vec<(Job, Session, Turns)>,
    disk: Outcome,
    more: Vec<(&str, Call, Outcome)>,
    goals: &mut Goals,
) {
    let rows: Vec<Row> = sessions
        .into_iter()
        .zip(starts)
        .map(|((job, _, turns), start)| Row {
            job,
            start: *start,
            create: percentiles(turns.create),
            update: percentiles(turns.update),
            find: percentiles(turns.find),
            memory: turns.memory as f64,
            peak: turns.peak as f64,
        })
        .collect();
    print_rows(&rows);
    print_ratios(&rows);
    let slowest = print_searches(more);
    if let Some(ours) = rows.first() {
        add_goals(ours, percentiles(disk), slowest, goals);
    }
}

fn print_rows(rows: &[Row]) {
    let both = |(p50, p99): (f64, f64)| format!("{} / {}", number(p50), number(p99));
    let mut table =
        Table::new("p50 / p99 in ms | start to list | create | update | find one | memory | peak");
    for row in rows {
        table.row(&[
            row.job.name().to_owned(),
            number(row.start),
            both(row.create),
            both(row.update),
            both(row.find),
            megabytes(row.memory),
            megabytes(row.peak),
        ]);
    }
    table.print("A full project over stdio");
}

fn print_ratios(rows: &[Row]) {
    let mut ratios =
        Table::new("p50, as many times ours | start | create | update | find | memory");
    for (row, (_, against)) in rows.iter().zip(ALL) {
        let Some(ours) = rows.iter().find(|ours| ours.job == against) else {
            continue;
        };
        if ours.job == row.job {
            continue;
        }
        ratios.row(&[
            row.job.name().to_owned(),
            times(row.start / ours.start),
            times(row.create.0 / ours.create.0),
            times(row.update.0 / ours.update.0),
            times(row.find.0 / ours.find.0),
            times(row.memory / ours.memory),
        ]);
    }
    ratios.print("Ratios");
}

/// Returns the p50 of the slowest search.
fn print_searches(more: Vec<(&str, Call, Outcome)>) -> f64 {
    let mut searches = Table::new("over 9,998 files | p50 ms | p99 ms");
    let mut slowest: f64 = 0.0;
    for (name, call, outcome) in more {
        let (p50, p99) = percentiles(outcome);
        slowest = slowest.max(p50);
        let query = call.arguments["query"].as_str().unwrap_or_default();
        searches.row(&[format!("{name} (`{query}`)"), number(p50), number(p99)]);
    }
    searches.print("madoguchi: `search_contexts`, warm");
    slowest
}

fn add_goals(ours: &Row, disk: (f64, f64), slowest: f64, goals: &mut Goals) {
    let allowed = GOAL_WRITE_MS.max(2.0 * disk.1);
    let goal = format!(
        "p99 under 5 ms or twice the disk's ({} ms)",
        number(2.0 * disk.1)
    );
    for (what, (_, p99)) in [("create", ours.create), ("update", ours.update)] {
        goals.under_ms(&format!("{what}: {goal}"), p99, allowed);
    }
    let goal = "search over all of it under 10 ms, warm: p50 of the slowest";
    goals.under_ms(goal, slowest, GOAL_SEARCH_MS);
    let met = ours.memory / 1024.0 < GOAL_MB;
    goals.add("memory under 40 MB", megabytes(ours.memory), met);
}
