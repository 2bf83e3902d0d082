//! Where data is kept: the data directory and the database.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use desk::settings;
use kit::{Error, Result, time::Clock};
use store::{Options, url::DatabaseUrl};

use crate::config::invalid;

/// `--data`, else the platform's own directory.
pub fn data_directory(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(named) => Ok(named.to_owned()),
        None => dirs::data_dir()
            .map(|data| data.join("madoguchi"))
            .ok_or_else(|| {
                Error::new(
                    "NO_DATA_DIRECTORY",
                    "This platform names no data directory.",
                )
                .next("Name one with --data DIR.")
            }),
    }
}

/// The database that is configured, else the file in the data directory.
pub fn database_url(configured: &str, data: Option<&Path>) -> Result<DatabaseUrl> {
    match configured {
        "" => Ok(DatabaseUrl::Sqlite(
            data_directory(data)?.join("madoguchi.db"),
        )),
        url => DatabaseUrl::parse(url),
    }
}

/// How the configured database is opened. `clock` keeps the time of its server, if there
/// is one.
pub fn database_options(configured: &settings::Database, clock: &Clock) -> Result<Options> {
    let listen = match configured.listen_url.trim() {
        "" => None,
        url => match DatabaseUrl::parse(url)? {
            DatabaseUrl::Postgres(address) => Some(address),
            DatabaseUrl::Sqlite(_) => {
                let message = "database.listen_url is not an address of PostgreSQL.";
                return Err(invalid(message.into())
                    .next("Write the address of the server behind PgBouncer, or remove the key."));
            }
        },
    };
    let password_file = configured.password_file.trim();
    Ok(Options {
        password_file: (!password_file.is_empty()).then(|| password_file.into()),
        listen,
        clock: clock.clone(),
        ..own_database_options(configured)
    })
}

/// How the database of one counter is opened. Its password and where to listen are
/// in its own address.
pub fn own_database_options(configured: &settings::Database) -> Options {
    Options {
        pool: usize::try_from(configured.pool.get()).unwrap_or(usize::MAX),
        pgbouncer: configured.pgbouncer,
        wait_for_primary: Duration::from_secs(configured.wait_for_primary.into()),
        ..Options::default()
    }
}

/// A file or directory beside the database, with the database's name in its own.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    database.with_file_name(name)
}
