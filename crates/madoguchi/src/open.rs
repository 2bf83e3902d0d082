//! From configuration to a desk: the data directory, the store, the counters.

use std::{path::PathBuf, sync::Arc};

use host::{Desk, background, ledger};
use kit::{
    BoxFuture, Context, Counter, Error, Result, Store,
    counter::Migrations,
    sql::{Budget, ReadJob, WriteJob},
    time::Clock,
};
use store::{Database, Options, url::DatabaseUrl};

use crate::{
    cli::{Global, Offer},
    config::{self, Config, Sources},
    counters::{self, Registration},
};

pub fn configuration(global: &Global, offer: &Offer) -> Result<Config> {
    let sources = Sources::of_process(global.config.as_deref(), global.data.as_deref());
    let mut config = config::load(&sources, &counters::all())?;
    if let Some(level) = global.log_level {
        config.settings.log.level = level;
    }
    let tools = &mut config.settings.tools;
    tools.read_only |= offer.read_only;
    if !offer.tools.is_empty() {
        tools.only.clone_from(&offer.tools);
    }
    tools.exclude.extend(offer.exclude_tools.iter().cloned());
    if let (Some(root), Some(todo)) = (&offer.root, config.counters.get_mut("todo")) {
        let root = root.to_string_lossy().into_owned();
        todo.insert("root".into(), toml::Value::String(root));
    }
    Ok(config)
}

/// `--data`, else the platform's own directory.
pub fn data_directory(global: &Global) -> Result<PathBuf> {
    match &global.data {
        Some(named) => Ok(named.clone()),
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

pub fn database_url(global: &Global, config: &Config) -> Result<DatabaseUrl> {
    match config.settings.database.url.as_str() {
        "" => Ok(DatabaseUrl::Sqlite(
            data_directory(global)?.join("madoguchi.db"),
        )),
        url => DatabaseUrl::parse(url),
    }
}

/// The counters as they describe themselves, without any data behind them.
pub fn described(config: &Config, offer: &Offer, only: Option<&str>) -> Result<Vec<Counter>> {
    let mut described = Vec::new();
    for registration in chosen(only, offer)? {
        let settings = config.counters.get(registration.name).cloned();
        described.push(registration.open(settings.unwrap_or_default(), Some(Arc::new(Shut)))?);
    }
    if offer.fixture && only.is_none_or(|only| only == "fixture") {
        described.push(fixture::counter());
    }
    Ok(described)
}

/// A store for looking at counters only.
struct Shut;

impl Store for Shut {
    fn read(&self, _: Budget, _: ReadJob<'static>) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the store is shut",
        ))))
    }

    fn write(&self, _: Budget, _: WriteJob<'static>) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the store is shut",
        ))))
    }

    fn migrate(&self, _: Migrations) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the store is shut",
        ))))
    }

    fn engine(&self) -> &'static str {
        "none"
    }
}

/// An open program: the desk, and the database to close at the end.
pub struct Opened {
    pub desk: Arc<Desk>,
    /// None when no open counter keeps rows.
    database: Option<Database>,
}

/// Opens the store, brings it up to date and prepares the counters: all of
/// them, or the one that is named.
pub async fn desk(
    global: &Global,
    config: Config,
    offer: &Offer,
    only: Option<&str>,
) -> Result<Opened> {
    let registrations = chosen(only, offer)?;
    check_names(&config)?;
    let keeps_rows = registrations.iter().any(|r| r.migrations.is_some());
    let database = if keeps_rows {
        Some(Database::open(&database_url(global, &config)?, Options::default()).await?)
    } else {
        None
    };
    let shared: Option<Arc<dyn Store>> = match &database {
        Some(database) => Some(Arc::new(database.clone())),
        None => None,
    };
    if let Some(store) = &shared {
        store.migrate(ledger::MIGRATIONS).await?;
        for migrations in registrations.iter().filter_map(|r| r.migrations) {
            store.migrate(migrations).await?;
        }
    }
    let mut open = Vec::new();
    for registration in &registrations {
        let settings = config.counters.get(registration.name).cloned();
        open.push(registration.open(settings.unwrap_or_default(), shared.clone())?);
    }
    if offer.fixture && only.is_none_or(|only| only == "fixture") {
        open.push(fixture::counter());
    }
    let desk = Desk::new(open, config.settings, Clock::system())?;
    Ok(Opened {
        desk: Arc::new(desk),
        database,
    })
}

fn chosen(only: Option<&str>, offer: &Offer) -> Result<Vec<Registration>> {
    let all = counters::all();
    let Some(only) = only else {
        return Ok(all);
    };
    if offer.fixture && only == "fixture" {
        return Ok(Vec::new());
    }
    known(
        "counter",
        only,
        all.iter().map(|registration| registration.name),
    )?;
    Ok(all
        .into_iter()
        .filter(|registration| registration.name == only)
        .collect())
}

/// Limits, policies and tool lists name counters and tools; a misspelt name
/// would silently do nothing.
pub fn check_names(config: &Config) -> Result<()> {
    let settings = &config.settings;
    let counters = settings
        .limits
        .requests_per_minute
        .keys()
        .map(String::as_str);
    let policies = settings.approval.tools.keys().map(String::as_str);
    let tools = settings.tools.only.iter().chain(&settings.tools.exclude);
    let (counters, policies): (Vec<_>, Vec<_>) = (counters.collect(), policies.collect());
    let tools: Vec<_> = tools.map(String::as_str).collect();
    if counters.is_empty() && policies.is_empty() && tools.is_empty() {
        return Ok(());
    }
    let offer = Offer {
        fixture: true,
        ..Offer::default()
    };
    let all = described(config, &offer, None)?;
    let names = || all.iter().map(|counter| counter.about.name);
    for name in counters {
        known("counter", name, names())?;
    }
    for policy in policies {
        let (counter, tool) = policy.split_once('.').unwrap_or((policy, ""));
        known("counter", counter, names())?;
        let of_it = all.iter().filter(|c| c.about.name == counter);
        known("tool", tool, of_it.flat_map(tool_names))?;
    }
    for tool in tools {
        known("tool", tool, all.iter().flat_map(tool_names))?;
    }
    Ok(())
}

fn tool_names(counter: &Counter) -> impl Iterator<Item = &'static str> + Clone {
    counter
        .tools
        .iter()
        .flat_map(|tool| std::iter::once(tool.name).chain(tool.aliases.iter().copied()))
}

/// An error with the nearest name unless `name` is one of `names`.
fn known<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    let hint = match kit::text::nearest(name, names.clone()) {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => format!("There are: {}.", names.collect::<Vec<_>>().join(", ")),
    };
    let code = format!("UNKNOWN_{}", what.to_uppercase());
    Err(Error::new(code, format!("There is no {what} `{name}`.")).next(hint))
}

impl Opened {
    /// Lets go of everything, once no more calls come.
    pub async fn close(&self) -> Result<()> {
        background::stop(&self.desk).await;
        match &self.database {
            Some(database) => database.close().await,
            None => Ok(()),
        }
    }

    /// Whether the store reads and writes; `None` when there is none.
    pub async fn check_store(&self) -> Option<Result<&'static str>> {
        let database = self.database.as_ref()?;
        Some(database.check().await.map(|()| database.engine()))
    }

    /// Sample data for a store that holds nothing, on the embedded engine only.
    pub async fn first_demo(&self) -> Result<()> {
        for window in &self.desk.windows {
            let (Some(demo), Some(store)) = (&window.counter.demo, &window.counter.store) else {
                continue;
            };
            let context = Context::of_the_desk(self.desk.clock.clone());
            if store.engine() == "sqlite" && demo.is_empty(&context).await? {
                let message = demo.load(&context).await?;
                tracing::info!(counter = window.counter.about.name, "{message}");
            }
        }
        Ok(())
    }
}
