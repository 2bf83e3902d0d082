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
    let sources = Sources::of_process(global.config.as_deref());
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

/// The counters as they are described, without any data behind them.
pub fn counters(config: &Config, offer: &Offer, only: Option<&str>) -> Result<Vec<Counter>> {
    let mut described = Vec::new();
    for registration in chosen(only, offer)? {
        let settings = config.counters.get(registration.name).cloned();
        described.push(registration.open(settings.unwrap_or_default(), Arc::new(Shut))?);
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
    pub database: Database,
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
    check_counter_names(&config)?;
    let database = Database::open(&database_url(global, &config)?, Options::default()).await?;
    let shared: Arc<dyn Store> = Arc::new(database.clone());
    shared.migrate(ledger::MIGRATIONS).await?;
    let mut open = Vec::new();
    for registration in &registrations {
        shared.migrate(registration.migrations).await?;
        let settings = config
            .counters
            .get(registration.name)
            .cloned()
            .unwrap_or_default();
        open.push(registration.open(settings, Arc::clone(&shared))?);
    }
    if offer.fixture && only.is_none_or(|only| only == "fixture") {
        open.push(fixture::counter());
    }
    check_offered_tools(&config, &open)?;
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
    let names: Vec<&str> = all.iter().map(|registration| registration.name).collect();
    if offer.fixture && only == "fixture" {
        return Ok(Vec::new());
    }
    if !names.contains(&only) {
        let hint = match kit::text::nearest(only, names.iter().copied()) {
            Some(nearest) => format!("Did you mean `{nearest}`?"),
            None => format!("There are: {}.", names.join(", ")),
        };
        return Err(
            Error::new("UNKNOWN_COUNTER", format!("There is no counter `{only}`.")).next(hint),
        );
    }
    Ok(all
        .into_iter()
        .filter(|registration| registration.name == only)
        .collect())
}

/// Policies and limits name counters; a misspelt one would silently do nothing.
fn check_counter_names(config: &Config) -> Result<()> {
    let all = counters::all();
    let known = |name: &str| name == "fixture" || all.iter().any(|r| r.name == name);
    let limits = config.settings.limits.requests_per_minute.keys();
    let policies = config.settings.approval.tools.keys();
    for name in limits.map(String::as_str).chain(policies.map(|tool| {
        tool.split_once('.')
            .map_or(tool.as_str(), |(counter, _)| counter)
    })) {
        if !known(name) {
            let nearest = kit::text::nearest(name, all.iter().map(|r| r.name));
            let hint = nearest.map_or_else(String::new, |name| format!("Did you mean `{name}`?"));
            return Err(Error::new(
                "INVALID_CONFIG",
                format!("A limit or policy names `{name}`, which is no counter."),
            )
            .next(hint));
        }
    }
    Ok(())
}

/// `--tools` and `--exclude-tools` name tools; a misspelt one is refused.
fn check_offered_tools(config: &Config, open: &[Counter]) -> Result<()> {
    let tools = &config.settings.tools;
    for name in tools.only.iter().chain(&tools.exclude) {
        if !open.iter().any(|counter| counter.tool(name).is_some()) {
            let names = open
                .iter()
                .flat_map(|counter| counter.tools.iter().map(|tool| tool.name));
            let hint = kit::text::nearest(name, names)
                .map_or_else(String::new, |nearest| format!("Did you mean `{nearest}`?"));
            return Err(
                Error::new("UNKNOWN_TOOL", format!("There is no tool `{name}`.")).next(hint),
            );
        }
    }
    Ok(())
}

impl Opened {
    /// Lets go of everything, once no more calls come.
    pub async fn close(&self) -> Result<()> {
        background::stop(&self.desk).await;
        self.database.close().await
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
