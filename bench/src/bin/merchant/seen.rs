//! What was measured.

use std::{collections::HashMap, time::Duration};

use bench::{load::Outcome, process::Memory};

use crate::{
    queries::Kind,
    shops::{Imported, Tool},
};

pub const CONNECTIONS: [usize; 2] = [1, 16];

/// One turn of one shop.
pub struct Turn {
    /// Calls per second.
    pub rate: f64,
    /// CPU seconds for 10,000 calls.
    pub cpu: f64,
    pub p50: f64,
    pub p95: f64,
}

impl Turn {
    /// What so many seconds of CPU yielded.
    pub fn new(outcome: &Outcome, cpu: f64) -> Self {
        Self {
            rate: outcome.per_second(),
            cpu: cpu * 10_000.0 / outcome.calls() as f64,
            p50: outcome.milliseconds(0.5),
            p95: outcome.milliseconds(0.95),
        }
    }
}

/// The turns of one tool at one number of connections, in order.
pub type Turns = HashMap<(Tool, usize), Vec<Turn>>;

/// What was seen of one shop.
pub struct Seen {
    pub name: &'static str,
    pub start: Duration,
    pub memory_at_start: Memory,
    pub memory: Memory,
    pub kinds: Vec<(Kind, Outcome)>,
    pub turns: Turns,
}

/// One size of catalogue. The program comes first.
pub struct Size {
    pub products: u64,
    pub imported: Imported,
    pub shops: Vec<Seen>,
    pub meilisearch: Option<MeilisearchSeen>,
}

/// Searches of Meilisearch by the number of connections.
pub struct MeilisearchSeen {
    /// The share of answers that were right.
    pub right: f64,
    pub memory: Memory,
    pub turns: HashMap<usize, Vec<Turn>>,
}
