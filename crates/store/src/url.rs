//! Database addresses, in the spellings of SQLAlchemy and libpq.
//!
//! | address | meaning |
//! |---|---|
//! | `sqlite:///data/x.db` | the file `data/x.db`, from the working directory |
//! | `sqlite:////srv/x.db` | the file `/srv/x.db` |
//! | `postgresql://user:password@host:5432/name?sslmode=verify-full` | a PostgreSQL database |
//! | `postgresql://user@host1,host2/name` | the one of two servers that can be written |
//! | `host=host1 dbname=name user=user` | the same as pairs |
//!
//! A driver after a plus sign (`sqlite+aiosqlite`, `postgresql+asyncpg`) is
//! read and ignored. No message repeats the address: it may hold a password.

mod address;
mod parameters;
mod refused;
mod text;

use std::{fmt, path::PathBuf};

use kit::Result;

pub use address::PostgresAddress;
pub(crate) use address::{ClientFiles, HostAddress, Roots, TlsMode, TlsSettings};
use parameters::IGNORED;
use refused::{invalid, unknown_parameter, unknown_scheme};

#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    /// With the password, if the address has one; printed without.
    Postgres(Box<PostgresAddress>),
}

impl DatabaseUrl {
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text::is_pairs(text) {
                true => postgres(&text::of_pairs(text)?),
                false => Err(unknown_scheme()),
            };
        };
        let dialect = scheme.split_once('+').map_or(scheme, |(name, _)| name);
        match dialect.to_ascii_lowercase().as_str() {
            "sqlite" => sqlite(rest),
            "postgres" | "postgresql" => postgres(&text::of_url(rest)?),
            // A value of a pair may hold `://`.
            _ if text::is_pairs(text) => postgres(&text::of_pairs(text)?),
            _ => Err(unknown_scheme()),
        }
    }
}

fn postgres(pairs: &[(String, String)]) -> Result<DatabaseUrl> {
    let address = parameters::address(pairs)?;
    Ok(DatabaseUrl::Postgres(Box::new(address)))
}

fn sqlite(rest: &str) -> Result<DatabaseUrl> {
    let (path, query) = text::split_query(rest);
    for (key, _) in text::pairs(query) {
        if !IGNORED.contains(&key) {
            return Err(unknown_parameter(key, &IGNORED));
        }
    }
    let Some(path) = path.strip_prefix('/') else {
        return Err(if path.is_empty() {
            in_memory()
        } else {
            invalid(
                "The SQLite address has too few slashes.",
                "Write `sqlite:///relative/path.db` or `sqlite:////absolute/path.db`.",
            )
        });
    };
    if path.is_empty() || path == ":memory:" || path.starts_with("file:") {
        return Err(in_memory());
    }
    Ok(DatabaseUrl::Sqlite(PathBuf::from(path)))
}

fn in_memory() -> kit::Error {
    invalid(
        "The SQLite address names no file.",
        "Everything kept in memory would be lost at the end; write `sqlite:////absolute/path.db`.",
    )
}

/// Without user and password, for logs and `doctor`.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:///{}", path.display()),
            Self::Postgres(address) => fmt::Display::fmt(address, f),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
