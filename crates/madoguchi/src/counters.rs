//! The one list of counters. A new one is a folder of its own and a line here.

use std::sync::Arc;

use kit::{Counter, Error, Result, Store, counter::Migrations};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Every counter, in the order in which they are shown.
pub fn all() -> Vec<Registration> {
    vec![
        Registration::with_store("cinema", cinema::MIGRATIONS, |settings, store| {
            Ok(cinema::counter(settings, store))
        }),
        Registration::with_store("innervoice", innervoice::MIGRATIONS, innervoice::counter),
        Registration::with_store("merchant", merchant::MIGRATIONS, merchant::counter)
            .variables(merchant::SEED_VARIABLES)
            .own_database("database_url")
            .inside_data("index_dir", "search"),
        Registration::on_files("rooms", rooms::counter)
            .variables(rooms::SEED_VARIABLES)
            .folder("data_dir", "rooms"),
        Registration::on_files("todo", todo::counter),
    ]
}

/// How one counter is configured and opened.
pub struct Registration {
    /// Also the name of its section in the configuration.
    pub name: &'static str,
    /// Its tables, for counters that keep rows in the store.
    pub migrations: Option<Migrations>,
    /// Environment variables that its document names, with the key each one
    /// sets. They win over the file.
    pub variables: &'static [(&'static str, &'static str)],
    /// The key that names its directory, and the one it has inside a data
    /// directory that was named on the command line.
    pub folder: Option<(&'static str, &'static str)>,
    /// The key that names a directory of its own, and the one it has inside the
    /// data directory unless it is set.
    pub inside_data: Option<(&'static str, &'static str)>,
    /// The key that moves this counter alone to another database.
    pub own_database: Option<&'static str>,
    pub settings_schema: fn() -> Value,
    pub default_settings: fn() -> toml::Table,
    open: Open,
}

type Open = Box<dyn Fn(toml::Table, Option<Arc<dyn Store>>) -> Result<Counter> + Send + Sync>;

impl Registration {
    /// A counter that keeps its rows in the store.
    fn with_store<S>(
        name: &'static str,
        migrations: Migrations,
        counter: fn(S, Arc<dyn Store>) -> Result<Counter>,
    ) -> Self
    where
        S: Default + Serialize + DeserializeOwned + JsonSchema + 'static,
    {
        let open: Open = Box::new(move |settings, store| {
            let store = store.ok_or_else(|| Error::internal("no store was opened"))?;
            counter(typed(name, settings)?, store)
        });
        Self::new::<S>(name, Some(migrations), open)
    }

    /// A counter that keeps files of its own.
    fn on_files<S>(name: &'static str, counter: fn(S) -> Counter) -> Self
    where
        S: Default + Serialize + DeserializeOwned + JsonSchema + 'static,
    {
        let open: Open = Box::new(move |settings, _| Ok(counter(typed(name, settings)?)));
        Self::new::<S>(name, None, open)
    }

    fn new<S>(name: &'static str, migrations: Option<Migrations>, open: Open) -> Self
    where
        S: Default + Serialize + JsonSchema + 'static,
    {
        Self {
            name,
            migrations,
            variables: &[],
            folder: None,
            inside_data: None,
            own_database: None,
            settings_schema: kit::schema::settings::<S>,
            default_settings: || toml::Table::try_from(S::default()).unwrap_or_default(),
            open,
        }
    }

    fn variables(mut self, variables: &'static [(&'static str, &'static str)]) -> Self {
        self.variables = variables;
        self
    }

    fn folder(mut self, key: &'static str, inside_data: &'static str) -> Self {
        self.folder = Some((key, inside_data));
        self
    }

    fn inside_data(mut self, key: &'static str, name: &'static str) -> Self {
        self.inside_data = Some((key, name));
        self
    }

    fn own_database(mut self, key: &'static str) -> Self {
        self.own_database = Some(key);
        self
    }

    pub fn open(&self, settings: toml::Table, store: Option<Arc<dyn Store>>) -> Result<Counter> {
        (self.open)(settings, store)
    }
}

pub fn typed<S: DeserializeOwned>(name: &str, settings: toml::Table) -> Result<S> {
    settings.try_into().map_err(|error: toml::de::Error| {
        let message = error.message().trim_end_matches('.');
        Error::new("INVALID_CONFIG", format!("[{name}]: {message}."))
            .next("`madoguchi config default` shows what can be set.")
    })
}
