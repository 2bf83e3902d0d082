//! Database addresses, in the SQLAlchemy spelling that earlier set-ups use.
//!
//! | address | meaning |
//! |---|---|
//! | `sqlite:///data/x.db` | the file `data/x.db`, from the working directory |
//! | `sqlite:////srv/x.db` | the file `/srv/x.db` |
//! | `postgresql://user:password@host:5432/name` | a PostgreSQL database |
//!
//! A driver after a plus sign (`sqlite+aiosqlite`, `postgresql+asyncpg`) is
//! read and ignored. No message repeats the address: it may hold a password.

use std::{fmt, path::PathBuf};

use kit::{Error, Result};
use tokio_postgres::config::Host;

/// The code of an address that can't be used.
const INVALID: &str = "INVALID_DATABASE_URL";

/// What the PostgreSQL driver understands.
const KNOWN: [&str; 14] = [
    "application_name",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "options",
    "password",
    "port",
    "tcp_user_timeout",
    "user",
];

/// Settings of Python drivers that change nothing here.
const IGNORED: [&str; 8] = [
    "async_fallback",
    "cache",
    "check_same_thread",
    "command_timeout",
    "prepared_statement_cache_size",
    "statement_cache_size",
    "timeout",
    "uri",
];

#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    /// As the driver takes it, password and all; printed without.
    Postgres(String),
}

impl DatabaseUrl {
    pub fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = text.trim().split_once("://").ok_or_else(unknown_scheme)?;
        let dialect = scheme.split_once('+').map_or(scheme, |(name, _)| name);
        match dialect.to_ascii_lowercase().as_str() {
            "sqlite" => sqlite(rest),
            "postgres" | "postgresql" => postgres(rest),
            _ => Err(unknown_scheme()),
        }
    }
}

fn sqlite(rest: &str) -> Result<DatabaseUrl> {
    let (path, query) = split_query(rest);
    for (key, _) in pairs(query) {
        if !IGNORED.contains(&key) {
            return Err(unknown_parameter(key));
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

fn postgres(rest: &str) -> Result<DatabaseUrl> {
    let (address, query) = split_query(rest);
    let mut kept = Vec::new();
    for (key, value) in pairs(query) {
        match key {
            "sslmode" | "ssl" => refuse_tls(value)?,
            _ if KNOWN.contains(&key) => kept.push(format!("{key}={value}")),
            _ if IGNORED.contains(&key) => {}
            _ => return Err(unknown_parameter(key)),
        }
    }
    let driver_url = |kept: &[String]| format!("postgresql://{address}?{}", kept.join("&"));
    let config = config(&driver_url(&kept))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        kept.push("host=localhost".into());
    }
    Ok(DatabaseUrl::Postgres(driver_url(&kept)))
}

pub(crate) fn config(url: &str) -> Result<tokio_postgres::Config> {
    url.parse().map_err(|_| {
        invalid(
            "The PostgreSQL address can't be understood.",
            "Write `postgresql://user:password@host:5432/name`, with `%40` for `@`, `%2F` for `/` \
             and `%3F` for `?` in the password.",
        )
    })
}

fn refuse_tls(value: &str) -> Result<()> {
    match value.to_ascii_lowercase().as_str() {
        "" | "0" | "false" | "no" | "disable" | "allow" | "prefer" => Ok(()),
        _ => Err(invalid(
            "The PostgreSQL address demands TLS, which Madoguchi doesn't speak to databases.",
            "Use a local socket, a private network or a tunnel, and write `sslmode=disable`.",
        )),
    }
}

fn split_query(text: &str) -> (&str, &str) {
    text.split_once('?').unwrap_or((text, ""))
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn invalid(message: impl Into<String>, next: impl Into<String>) -> Error {
    Error::new(INVALID, message).next(next)
}

fn unknown_scheme() -> Error {
    invalid(
        "The database address names neither SQLite nor PostgreSQL.",
        "Write `sqlite:////absolute/path.db` or `postgresql://user:password@host:5432/name`.",
    )
}

/// A password with a bare `?` ends up here too, so only what looks like the
/// name of a setting is repeated.
fn unknown_parameter(key: &str) -> Error {
    let is_name = key.len() <= 40 && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    invalid(
        if is_name {
            format!("The database address has the unknown parameter `{key}`.")
        } else {
            "The database address has an unknown parameter.".into()
        },
        "Remove it; a `?` in a password is written `%3F`.",
    )
}

fn in_memory() -> Error {
    invalid(
        "The SQLite address names no file.",
        "Everything kept in memory would be lost at the end; write `sqlite:////absolute/path.db`.",
    )
}

/// Without user and password, for logs and `doctor`.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::Sqlite(path) => return write!(f, "sqlite:///{}", path.display()),
            Self::Postgres(url) => url,
        };
        let Ok(config) = config(url) else {
            return f.write_str("postgresql://…");
        };
        f.write_str("postgresql://")?;
        match config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            #[cfg(unix)]
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => {}
        }
        if let Some(port) = config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_addresses() {
        for (text, path) in [
            ("sqlite:///relative.db", "relative.db"),
            ("sqlite:///data/x.db", "data/x.db"),
            ("sqlite:////srv/x.db", "/srv/x.db"),
            (
                "sqlite+aiosqlite:////app/v2/data/agent.db",
                "/app/v2/data/agent.db",
            ),
            ("SQLite+pysqlite:///x.db?check_same_thread=False", "x.db"),
            ("  sqlite:///x y%20.db\n", "x y%20.db"),
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert_eq!(url, DatabaseUrl::Sqlite(path.into()), "{text}");
        }
    }

    #[test]
    fn postgres_addresses() {
        for (text, expected) in [
            (
                "postgresql+asyncpg://me:pw@db.example:5433/shop",
                "postgresql://me:pw@db.example:5433/shop?",
            ),
            ("postgres://me@h/shop", "postgresql://me@h/shop?"),
            (
                "postgresql://me@h/shop?sslmode=prefer&connect_timeout=3",
                "postgresql://me@h/shop?connect_timeout=3",
            ),
            (
                "postgresql+asyncpg://me@h/shop?ssl=disable&statement_cache_size=0",
                "postgresql://me@h/shop?",
            ),
            ("postgresql:///shop", "postgresql:///shop?host=localhost"),
            (
                "postgresql:///shop?host=/run/postgresql",
                "postgresql:///shop?host=/run/postgresql",
            ),
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert_eq!(url, DatabaseUrl::Postgres(expected.into()), "{text}");
            assert!(matches!(&url, DatabaseUrl::Postgres(own) if own == expected));
        }
    }

    #[test]
    fn refused_addresses() {
        for (text, part) in [
            ("", "neither SQLite nor PostgreSQL"),
            ("data.db", "neither SQLite nor PostgreSQL"),
            ("mysql://me:secret@h/x", "neither SQLite nor PostgreSQL"),
            ("sqlite://", "names no file"),
            ("sqlite:///", "names no file"),
            ("sqlite:///:memory:", "names no file"),
            ("sqlite+aiosqlite:///file:x?uri=true", "names no file"),
            ("sqlite://x.db", "too few slashes"),
            ("sqlite:///x.db?mode=ro", "unknown parameter `mode`"),
            ("postgresql://me:secret@h/x?sslmode=require", "demands TLS"),
            (
                "postgresql://me:secret@h/x?sslmode=verify-full",
                "demands TLS",
            ),
            ("postgresql+asyncpg://me:secret@h/x?ssl=true", "demands TLS"),
            (
                "postgresql://me:secret@h/x?colour=red",
                "unknown parameter `colour`",
            ),
            ("postgresql://me:sec?ret@h/x", "unknown parameter"),
            ("postgresql://me:secret@h:port/x", "can't be understood"),
        ] {
            let error = DatabaseUrl::parse(text).unwrap_err();
            assert_eq!(error.code, INVALID, "{text}");
            assert!(error.message.contains(part), "{text}: {error}");
            assert!(error.next.is_some() && error.cause.is_none(), "{text}");
            assert!(!error.to_string().contains("ret"), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_is_never_printed() {
        let url = DatabaseUrl::parse("postgresql://me:secret@h:5433/shop?password=hidden").unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "postgresql://h:5433/shop postgresql://h:5433/shop"
        );
        let url = DatabaseUrl::parse("sqlite:////srv/x.db").unwrap();
        assert_eq!(url.to_string(), "sqlite:////srv/x.db");
    }
}
