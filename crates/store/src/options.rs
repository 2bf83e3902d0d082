//! How a database is opened.

use std::{num::NonZero, path::PathBuf, thread::available_parallelism, time::Duration};

use crate::url::PostgresAddress;

use kit::time::Clock;

#[derive(Debug, Clone)]
pub struct Options {
    /// SQLite: how many reads may run at the same time.
    pub readers: usize,
    /// PostgreSQL: how many connections are kept.
    pub pool: usize,
    /// PostgreSQL: a file with the password, for an address without one.
    pub password_file: Option<PathBuf>,
    /// PostgreSQL: treat the server as PgBouncer in transaction mode, even if it isn't
    /// recognised as one.
    pub pgbouncer: bool,
    /// PostgreSQL: where to listen for announcements, if not at the address itself.
    pub listen: Option<Box<PostgresAddress>>,
    /// How long work without a deadline waits for a lock or a connection.
    pub busy_timeout: Duration,
    /// PostgreSQL: how long work waits while there is no primary.
    pub wait_for_primary: Duration,
    /// PostgreSQL: keeps the time of the server.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        let processors = available_parallelism().map_or(2, NonZero::get);
        Self {
            readers: processors.clamp(2, 8),
            pool: 10,
            password_file: None,
            pgbouncer: false,
            listen: None,
            busy_timeout: Duration::from_secs(5),
            wait_for_primary: Duration::from_secs(5),
            clock: Clock::system(),
        }
    }
}
