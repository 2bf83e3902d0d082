//! How a database is opened.

use std::{num::NonZero, thread::available_parallelism, time::Duration};

#[derive(Debug, Clone)]
pub struct Options {
    /// SQLite: how many reads may run at the same time.
    pub readers: usize,
    /// PostgreSQL: how many connections are kept.
    pub pool: usize,
    /// How long work without a deadline waits for a lock or a connection.
    pub busy_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let processors = available_parallelism().map_or(2, NonZero::get);
        Self {
            readers: processors.clamp(2, 8),
            pool: 10,
            busy_timeout: Duration::from_secs(5),
        }
    }
}
