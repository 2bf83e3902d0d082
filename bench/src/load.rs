//! The load generator: so many connections, each with one call on its way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::{
    figures::milliseconds,
    http::Connection,
    wire::{Target, Verdict, Work},
};

/// A round ends with whichever comes first.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub calls: u64,
    pub time: Duration,
}

impl Limit {
    pub fn calls(calls: u64) -> Self {
        let time = Duration::MAX;
        Self { calls, time }
    }

    pub fn time(time: Duration) -> Self {
        let calls = u64::MAX;
        Self { calls, time }
    }
}

/// What one round yielded.
#[derive(Debug, Default)]
pub struct Outcome {
    pub done: u64,
    pub refused: u64,
    pub elapsed: Duration,
    /// Sorted.
    pub latencies: Vec<Duration>,
}

impl Outcome {
    pub fn calls(&self) -> u64 {
        self.done + self.refused
    }

    pub fn per_second(&self) -> f64 {
        self.calls() as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency that `share` of the calls stayed within.
    pub fn percentile(&self, share: f64) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        let index = (self.latencies.len() as f64 * share) as usize;
        self.latencies
            .get(index.min(last))
            .copied()
            .unwrap_or_default()
    }

    /// The same in milliseconds.
    pub fn milliseconds(&self, share: f64) -> f64 {
        milliseconds(self.percentile(share))
    }

    pub fn add(&mut self, verdict: Verdict, latency: Duration) {
        match verdict {
            Verdict::Done => self.done += 1,
            Verdict::Refused => self.refused += 1,
        }
        self.latencies.push(latency);
    }

    /// Puts together what each connection saw.
    pub fn merge(parts: Vec<Self>, elapsed: Duration) -> Self {
        let mut whole = Self {
            elapsed,
            ..Self::default()
        };
        for part in parts {
            whole.done += part.done;
            whole.refused += part.refused;
            whole.latencies.extend(part.latencies);
        }
        whole.latencies.sort_unstable();
        whole
    }
}

/// Hands out call numbers until the limit is reached.
pub struct Numbers {
    next: AtomicU64,
    limit: Limit,
    started: Instant,
}

impl Numbers {
    pub fn new(limit: Limit) -> Self {
        Self {
            next: AtomicU64::new(0),
            limit,
            started: Instant::now(),
        }
    }

    pub fn next(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let more = number < self.limit.calls && self.started.elapsed() < self.limit.time;
        more.then_some(number)
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Calls `target` over `connections` until the limit. A wrong answer ends it.
pub async fn run<W: Work>(
    target: &Target,
    work: &Arc<W>,
    connections: usize,
    limit: Limit,
) -> Result<Outcome> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(target.port).await?);
    }
    let numbers = Arc::new(Numbers::new(limit));
    let mut tasks = JoinSet::new();
    for connection in open {
        let (target, work) = (target.clone(), Arc::clone(work));
        let numbers = Arc::clone(&numbers);
        tasks.spawn(async move { one(connection, &target, &*work, &numbers).await });
    }
    let mut parts = Vec::with_capacity(connections);
    while let Some(part) = tasks.join_next().await {
        parts.push(part??);
    }
    Ok(Outcome::merge(parts, numbers.elapsed()))
}

async fn one<W: Work>(
    mut connection: Connection,
    target: &Target,
    work: &W,
    numbers: &Numbers,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    while let Some(number) = numbers.next() {
        let request = target.request(number, &work.arguments(number));
        let sent = Instant::now();
        let body = connection.exchange(&request, work.status()).await?;
        let latency = sent.elapsed();
        outcome.add(work.check(number, body)?, latency);
    }
    Ok(outcome)
}
