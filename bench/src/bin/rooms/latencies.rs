//! Latencies in milliseconds.

use bench::{
    figures::{median, number},
    load::Outcome,
};

/// Latencies of several rounds, in milliseconds: the medians, and how far apart
/// the rounds were.
pub struct Latencies {
    pub p50: f64,
    pub p99: f64,
    pub range: String,
}

impl Latencies {
    pub fn of(rounds: &[Outcome]) -> Self {
        let all = |share| rounds.iter().map(move |round| round.milliseconds(share));
        let least = all(0.99).fold(f64::INFINITY, f64::min);
        let most = all(0.99).fold(0.0, f64::max);
        Self {
            p50: median(all(0.5)),
            p99: median(all(0.99)),
            range: format!("{}–{}", number(least), number(most)),
        }
    }
}
