//! From the start of a stdio server to its first answer: what a client that
//! launches its servers waits for.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{
    contestants::Contestant,
    figures::{Goals, Table, median, megabytes, number, times},
    places::Places,
    process, wire,
};

/// The slow ones are started once for so many starts of ours.
const SLOW_SHARE: usize = 4;
const GRACE: Duration = Duration::from_secs(2);
pub const GOAL_MS: f64 = 5.0;
pub const GOAL_MB: f64 = 12.0;

/// Times in milliseconds, memory in kB.
pub struct Start {
    pub milliseconds: f64,
    pub cpu: f64,
    pub resident: f64,
    /// The part of it that is heap and stacks.
    pub anonymous: f64,
}

pub fn compare(places: &Places, starts: usize) -> Result<()> {
    let data = places.fresh()?;
    // Tables and demo data are made by the first start of all, not by these.
    let load = Command::new(&places.madoguchi)
        .args(["demo", "load", "cinema", "--data"])
        .arg(data.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(load.success(), "`madoguchi demo load cinema` failed");

    let contestants = [
        Contestant::Cinema,
        Contestant::FastMcp,
        Contestant::TypeScript,
    ];
    let mut measured: Vec<Vec<Start>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..=starts {
        for (contestant, results) in contestants.iter().zip(&mut measured) {
            if *contestant != Contestant::Cinema && !round.is_multiple_of(SLOW_SHARE) {
                continue;
            }
            let command = contestant.stdio(places, data.path());
            let start = first_answer(command.context("a stdio server")?)
                .with_context(|| contestant.name())?;
            // The very first brings the files into memory.
            if round > 0 {
                results.push(start);
            }
        }
    }
    report(&contestants, &measured);
    Ok(())
}

/// Starts a server, asks for its tools, and ends it.
pub fn first_answer(mut command: Command) -> Result<Start> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().context("stdin")?;
    let mut output = BufReader::new(child.stdout.take().context("stdout")?);
    input.write_all(format!("{}\n", wire::list_line()).as_bytes())?;
    let mut line = String::new();
    output.read_line(&mut line)?;
    let elapsed = started.elapsed();
    let memory = process::memory(child.id())?;
    let cpu = process::thread_seconds(child.id())?;

    let answer: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
    let tools = answer["result"]["tools"].as_array();
    ensure!(tools.is_some_and(|tools| !tools.is_empty()), "{line}");
    drop(input);
    let closed = Instant::now();
    while child.try_wait()?.is_none() {
        if closed.elapsed() > GRACE {
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(Start {
        milliseconds: elapsed.as_secs_f64() * 1e3,
        cpu: cpu * 1e3,
        resident: memory.resident as f64,
        anonymous: memory.anonymous as f64,
    })
}

fn report(contestants: &[Contestant], measured: &[Vec<Start>]) {
    let of = |starts: &[Start], value: fn(&Start) -> f64| median(starts.iter().map(value));
    let time = |starts: &[Start]| of(starts, |start| start.milliseconds);
    let memory = |starts: &[Start]| of(starts, |start| start.resident);
    let Some(ours) = measured.first() else { return };
    let mut table = Table::new(
        "stdio server | starts | start to first answer, ms | ratio | CPU, ms | memory | \
 ratio",
    );
    for (contestant, starts) in contestants.iter().zip(measured) {
        let name = match contestant {
            Contestant::Cinema => "madoguchi stdio cinema",
            other => other.name(),
        };
        table.row(&[
            name.to_owned(),
            starts.len().to_string(),
            number(time(starts)),
            times(time(starts) / time(ours)),
            number(of(starts, |start| start.cpu)),
            megabytes(memory(starts)),
            times(memory(starts) / memory(ours)),
        ]);
    }
    table.print("stdio: start to the answer of `tools/list`, medians");

    let (ms, mb) = (time(ours), memory(ours) / 1024.0);
    let mut goals = Goals::default();
    goals.under_ms("stdio start under 5 ms", ms, GOAL_MS);
    let here = format!("{} MB", number(mb));
    goals.add("stdio memory under 12 MB", here, mb < GOAL_MB);
    goals.print();
}
