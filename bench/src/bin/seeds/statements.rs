//! The table: what a document says, the goal, and what was measured.

use std::time::Duration;

use bench::{
    figures::{Table, milliseconds, number, yes_or_no},
    load::Outcome,
    wire::Verdict,
};

pub struct Statements {
    table: Table,
    all_hold: bool,
}

impl Default for Statements {
    fn default() -> Self {
        Self {
            table: Table::new("statement | goal | measured | holds"),
            all_hold: true,
        }
    }
}

impl Statements {
    pub fn add(&mut self, statement: &str, goal: &str, measured: &str, holds: bool) {
        let statement = statement.to_owned();
        self.table
            .row(&[statement.as_str(), goal, measured, yes_or_no(holds)]);
        self.all_hold &= holds;
    }

    /// Times that all have to stay within a limit.
    pub fn within(&mut self, statement: &str, limit_ms: f64, times: &Times) {
        let outcome = times.sorted();
        let most = outcome.milliseconds(1.0);
        let measured = format!(
            "{} calls: p50 {}, p99 {}, longest {} ms",
            outcome.calls(),
            number(outcome.milliseconds(0.5)),
            number(outcome.milliseconds(0.99)),
            number(most)
        );
        let goal = format!("{} ms", number(limit_ms));
        self.add(statement, &goal, &measured, most <= limit_ms);
    }

    /// One time.
    pub fn one_within(&mut self, statement: &str, limit_ms: f64, time: Duration) {
        let time = milliseconds(time);
        let goal = format!("{} ms", number(limit_ms));
        let measured = format!("{} ms", number(time));
        self.add(statement, &goal, &measured, time <= limit_ms);
    }

    /// Something that is counted and has to be exactly so.
    pub fn exactly(&mut self, statement: &str, goal: &str, measured: &str) {
        self.add(statement, goal, measured, goal == measured);
    }

    pub fn all_hold(&self) -> bool {
        self.all_hold
    }

    pub fn print(&self) {
        self.table.print("What the documents say");
    }
}

#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn sorted(&self) -> Outcome {
        let mut outcome = Outcome::default();
        for time in &self.0 {
            outcome.add(Verdict::Done, *time);
        }
        Outcome::merge(vec![outcome], Duration::ZERO)
    }
}
