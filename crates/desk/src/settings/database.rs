//! Where rows are kept.

use std::{fmt, num::NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// postgres://… or sqlite:///path. Empty: `madoguchi.db` in the data directory.
    pub url: String,
    /// A file with the password of PostgreSQL, for a url without one. Empty: `PGPASSWORD`, `PGPASSFILE` or `~/.pgpass`.
    pub password_file: String,
    /// How many connections to PostgreSQL this process opens at most, besides the one it listens on.
    pub pool: NonZeroU32,
    /// The address of PostgreSQL itself when url is that of PgBouncer. Desks listen there for changes by others; without it they look every 100 ms.
    pub listen_url: String,
    /// Keeps nothing in a session, for poolers in transaction mode. PgBouncer is recognised without it.
    pub pgbouncer: bool,
    /// How long a call waits while PostgreSQL has no primary, in seconds. After that it is answered with UNAVAILABLE and when to try again.
    #[schemars(range(min = 0, max = 600))]
    pub wait_for_primary: u32,
}

const POOL: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);

impl Default for Database {
    fn default() -> Self {
        Self {
            url: String::new(),
            password_file: String::new(),
            pool: POOL,
            listen_url: String::new(),
            pgbouncer: false,
            wait_for_primary: 5,
        }
    }
}

/// Leaves out the addresses, which may contain passwords.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("pool", &self.pool)
            .field("pgbouncer", &self.pgbouncer)
            .finish_non_exhaustive()
    }
}
