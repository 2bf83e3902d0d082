//! Where an embedded installation keeps its parts.

use kit::{Error, Result};
use store::url::DatabaseUrl;

use crate::{
    cli::Global,
    config::Config,
    counters::{self, Registration},
    location,
    new_installation::Places,
};

/// `None` if the data is on PostgreSQL.
pub fn places(global: &Global, config: &Config) -> Result<Option<Places>> {
    let data = global.data.as_deref();
    let database = match location::database_url(&config.settings.database.url, data)? {
        DatabaseUrl::Sqlite(path) => path,
        DatabaseUrl::Postgres(_) => return Ok(None),
    };
    let (counter, key) = with_folder()?;
    let folder = settings(config, counter);
    let folder = folder.get(key).and_then(toml::Value::as_str);
    let folder = folder.ok_or_else(|| Error::internal("a counter has no directory"))?;
    Ok(Some(Places {
        database,
        data: location::data_directory(data)?,
        rooms: folder.into(),
    }))
}

/// The counter that keeps its data in files that belong to the installation, and the key
/// that names their directory.
pub fn with_folder() -> Result<(&'static Registration, &'static str)> {
    let mut all = counters::all().iter();
    all.find_map(|counter| {
        counter.folder_files?;
        Some((counter, counter.folder?.0))
    })
    .ok_or_else(|| Error::internal("no counter keeps files"))
}

/// A counter's section of the configuration.
pub fn settings(config: &Config, counter: &Registration) -> toml::Table {
    let section = config.counters.get(counter.name);
    section.cloned().unwrap_or_default()
}
