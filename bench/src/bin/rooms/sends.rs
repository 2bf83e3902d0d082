//! Durable sends into one room, straight into the counter (no wire, no stations).

use std::{
    num::NonZeroU32,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use bench::{
    figures::{Table, median, number, yes_or_no},
    load::{Limit, Numbers, Outcome},
    places::Places,
    wire::Verdict,
};
use kit::{Context, Counter, time::Clock};
use rooms::Settings;
use serde_json::{Value, json};
use tokio::{runtime, task::JoinSet};

use crate::{
    disk::{self, LINE},
    latencies::Latencies,
};

const TURNS: [Turn; 4] = [
    Turn::new(1, true, true),
    Turn::new(16, true, true),
    Turn::new(16, false, false),
    Turn::new(64, true, false),
];
const GOAL_P99_MS: f64 = 5.0;
const ROOM: &str = "bench";

#[derive(Clone, Copy)]
struct Turn {
    senders: usize,
    /// The log is as short as it is by default: old messages move on now and then.
    archives: bool,
    /// Held against the goal, or only shown.
    judged: bool,
}

impl Turn {
    const fn new(senders: usize, archives: bool, judged: bool) -> Self {
        Self {
            senders,
            archives,
            judged,
        }
    }

    fn name(self) -> String {
        let plural = if self.senders == 1 { "" } else { "s" };
        let archive = if self.archives {
            ""
        } else {
            ", nothing archived"
        };
        format!("{} sender{plural}{archive}", self.senders)
    }
}

/// The disk and the senders take turns, so that all see the same weather.
pub fn measure(places: &Places, rounds: usize, time: Duration) -> Result<()> {
    let mut synced = Vec::new();
    let mut sent = TURNS.map(|_| Vec::new());
    for round in 0..rounds {
        synced.push(disk::take_turn(places, time)?);
        for (turn, outcomes) in TURNS.into_iter().zip(&mut sent) {
            outcomes.push(take_turn(places, turn, time)?);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    report(&synced, &sent);
    Ok(())
}

fn take_turn(places: &Places, turn: Turn, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    let senders = turn.senders;
    let mut settings = settings(directory.path());
    if !turn.archives {
        settings.max_messages = NonZeroU32::MAX;
    }
    runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let counter = Arc::new(rooms::counter(settings, None));
            call(&counter, "create_room", json!({"roomName": ROOM})).await?;
            for sender in 0..senders {
                let enter = json!({"roomName": ROOM, "agentName": format!("agent{sender}")});
                call(&counter, "enter_room", enter).await?;
            }
            let outcome = send(&counter, senders, time).await?;
            if let Some(background) = &counter.background {
                background.stop().await;
            }
            verify(directory.path(), outcome.done).await?;
            Ok(outcome)
        })
}

async fn send(counter: &Arc<Counter>, senders: usize, time: Duration) -> Result<Outcome> {
    let numbers = Arc::new(Numbers::new(Limit::time(time)));
    let mut tasks = JoinSet::new();
    for sender in 0..senders {
        let (counter, numbers) = (Arc::clone(counter), Arc::clone(&numbers));
        tasks.spawn(async move {
            let agent = format!("agent{sender}");
            let mut outcome = Outcome::default();
            while let Some(number) = numbers.next() {
                let message = format!("@agent0, this is message {number}, as long as they are.");
                let send = json!({"roomName": ROOM, "agentName": agent, "message": message});
                let started = Instant::now();
                call(&counter, "send_message", send).await?;
                outcome.add(Verdict::Done, started.elapsed());
            }
            anyhow::Ok(outcome)
        });
    }
    let mut parts = Vec::with_capacity(senders);
    while let Some(part) = tasks.join_next().await {
        parts.push(part??);
    }
    Ok(Outcome::merge(parts, numbers.elapsed()))
}

/// Whoever opens the directory next finds every message that was answered.
async fn verify(directory: &Path, sent: u64) -> Result<()> {
    let counter = rooms::counter(settings(directory), None);
    let listed = call(&counter, "list_rooms", json!({})).await?;
    let kept = listed["rooms"][0]["messageCount"].as_u64();
    ensure!(kept == Some(sent), "{sent} messages sent, {kept:?} kept");
    Ok(())
}

pub fn settings(directory: &Path) -> Settings {
    Settings {
        data_dir: directory.to_owned(),
        sends_per_minute: 0,
        ..Settings::default()
    }
}

pub async fn call(counter: &Counter, tool: &str, arguments: Value) -> Result<Value> {
    let context = Context::of_the_desk(Clock::system());
    let answer = kit::testing::call(counter, &context, tool, arguments).await;
    answer
        .map_err(|error| anyhow!("{error}: {:?}", error.cause))
        .with_context(|| tool.to_owned())
}

fn report(synced: &[Outcome], sent: &[Vec<Outcome>]) {
    let limit = GOAL_P99_MS.max(2.0 * Latencies::of(synced).p99);
    let mut table =
        Table::new(" | per second | p50 ms | p99 ms | p99 over the rounds | goal for p99 | met");
    let mut row = |name: String, outcomes: &[Outcome], goal: Option<f64>| {
        let latencies = Latencies::of(outcomes);
        table.row(&[
            name,
            number(median(outcomes.iter().map(Outcome::per_second))),
            number(latencies.p50),
            number(latencies.p99),
            latencies.range,
            goal.map_or("–".to_owned(), |goal| {
                format!("under {} ms", number(goal))
            }),
            goal.map_or("–", |goal| yes_or_no(latencies.p99 < goal))
                .to_owned(),
        ]);
    };
    row(format!("disk: {LINE} bytes and fdatasync"), synced, None);
    for (turn, outcomes) in TURNS.into_iter().zip(sent) {
        row(turn.name(), outcomes, turn.judged.then_some(limit));
    }
    table.print(
        "Sends into one room, durable when answered; medians of the rounds \
         (goal: 5 ms, or twice the disk's p99 if that is more)",
    );
}
