//! Where data is kept: the data directory and the database.

use std::path::{Path, PathBuf};

use kit::{Error, Result};
use store::url::DatabaseUrl;

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

/// A file or directory beside the database, with the database's name in its own.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    database.with_file_name(name)
}
