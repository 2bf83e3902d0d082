//! Opens what the configuration describes: the stores, the counters, the desk.

use std::{
    path::Path,
    sync::{Arc, PoisonError},
};

use desk::{
    Desk, audit, background,
    state::{DeskState, OpenState},
};
use kit::{Context, Result, Store, time::Clock};
use store::{Database, url::DatabaseUrl};
use telemetry::{Environment, Exporter, HeadShipper};

use crate::{
    cli::{CounterOptions, Global},
    config::{self, Config, Sources},
    counters::{self, OnPostgres, Registration},
    database_trouble,
    descriptions::{check_names, chosen},
    location::{self, data_directory, database_options, database_url, own_database_options},
    marks::{self, Marked},
    own_state::{self, Databases, open_store},
};

pub fn configuration(global: &Global, options: &CounterOptions) -> Result<Config> {
    let sources = Sources::of_process(global.config.as_deref(), global.data.as_deref());
    let mut config = config::load(&sources, counters::all())?;
    if let Some(level) = global.log_level {
        config.settings.log.level = level;
        config.log_level_is_set = true;
    }
    let tools = &mut config.settings.tools;
    tools.read_only |= options.read_only;
    if !options.tools.is_empty() {
        tools.only.clone_from(&options.tools);
    }
    tools.exclude.extend(options.exclude_tools.iter().cloned());
    for flag in &options.flags.0 {
        if let Some(settings) = config.counters.get_mut(flag.counter) {
            let value = flag.value.to_string_lossy().into_owned();
            settings.insert(flag.key.into(), toml::Value::String(value));
        }
    }
    Ok(config)
}

/// The desk's own rows alone, for commands about keys and approvals.
pub struct OwnRows {
    pub state: Arc<DeskState>,
    databases: Databases,
}

pub fn own_rows(global: &Global, config: &Config) -> OwnRows {
    let databases = Databases::default();
    OwnRows {
        state: Arc::new(own_state(
            global,
            config,
            &Clock::system(),
            None,
            &databases,
        )),
        databases,
    }
}

impl OwnRows {
    pub async fn state(&self) -> Result<&OpenState> {
        self.state.get().await
    }

    pub async fn close(&self) -> Result<()> {
        close(&self.databases).await
    }
}

fn own_state(
    global: &Global,
    config: &Config,
    clock: &Clock,
    shared: Option<Arc<dyn Store>>,
    databases: &Databases,
) -> DeskState {
    let (database, data) = (config.settings.database.clone(), global.data.clone());
    let clock = clock.clone();
    let embedded = match database_url(&database.url, data.as_deref()) {
        Ok(DatabaseUrl::Sqlite(path)) => Some(path),
        // An invalid URL is reported when it is opened.
        Ok(DatabaseUrl::Postgres(_)) | Err(_) => None,
    };
    let state = own_state::state(
        move || {
            let url = database_url(&database.url, data.as_deref())?;
            Ok((url, database_options(&database, &clock)?))
        },
        config.settings.identity.secret.clone(),
        shared,
        databases,
    );
    match embedded {
        Some(path) => state
            .with_limits_in(location::beside(&path, "-limits"))
            .in_file(path),
        None => state,
    }
}

/// An open program: the desk, and the databases to close at the end.
pub struct Opened {
    pub desk: Arc<Desk>,
    /// The desk's own first; empty while nothing is kept in a database.
    databases: Databases,
    /// Counters that were moved to a database of the operator's own.
    moved: Vec<&'static str>,
    exporter: Option<Exporter>,
    shipper: Option<HeadShipper>,
}

/// A desk without counters, for commands that change its own rows and leave records.
pub fn own_desk(global: &Global, config: Config) -> Result<Opened> {
    let databases = Databases::default();
    let clock = Clock::system();
    let own = Arc::new(own_state(global, &config, &clock, None, &databases));
    let trail = audit_place(global, &config, &own)?;
    let desk = Desk::new(Vec::new(), config.settings, clock, own)?.audited(&trail)?;
    Ok(Opened {
        desk: Arc::new(desk),
        databases,
        moved: Vec::new(),
        exporter: None,
        shipper: None,
    })
}

/// Opens the stores, brings them up to date and prepares the counters: all of
/// them, or the one that is named.
pub async fn desk(
    global: &Global,
    config: Config,
    options: &CounterOptions,
    only: Option<&str>,
) -> Result<Opened> {
    let url = database_url(&config.settings.database.url, global.data.as_deref());
    let opened = open_all(global, config, options, only).await;
    opened.map_err(|error| match &url {
        Ok(url) => database_trouble::explained(error, url),
        Err(_) => error,
    })
}

async fn open_all(
    global: &Global,
    mut config: Config,
    options: &CounterOptions,
    only: Option<&str>,
) -> Result<Opened> {
    let registrations = chosen(only, options)?;
    check_names(&config)?;
    let databases = Databases::default();
    // Shared by the desk and its database, whose time it keeps.
    let clock = Clock::system();
    let mut shared: Option<Arc<dyn Store>> = None;
    let (mut open, mut moved) = (Vec::new(), Vec::new());
    for registration in registrations {
        let mut settings = config
            .counters
            .remove(registration.name)
            .unwrap_or_default();
        if let Some((key, name)) = registration.inside_data
            && text(&settings, key).is_none()
        {
            let inside = data_directory(global.data.as_deref())?.join(name);
            settings.insert(key.into(), inside.to_string_lossy().into_owned().into());
        }
        let own = registration
            .own_database
            .and_then(|key| text(&settings, key));
        let store = match (registration.migrations, own) {
            (None, _) => match on_postgres(global, &config, registration)? {
                None => {
                    folder(registration, &settings).map_or(Ok(()), Marked::check)?;
                    None
                }
                Some(moves) => {
                    let store =
                        shared_store(global, &config, &clock, &databases, &mut shared).await?;
                    store.migrate(moves.migrations).await?;
                    marks::check_tables(&store).await?;
                    if !folder(registration, &settings).is_some_and(Marked::is_moved) {
                        (moves.check)(settings.clone(), Arc::clone(&store)).await?;
                    }
                    Some(store)
                }
            },
            (Some(migrations), Some(url)) => {
                moved.push(registration.name);
                let options = own_database_options(&config.settings.database);
                let store = open_store(&DatabaseUrl::parse(url)?, options, &databases).await?;
                store.migrate(migrations).await?;
                Some(store)
            }
            (Some(migrations), None) => {
                let store = shared_store(global, &config, &clock, &databases, &mut shared).await?;
                store.migrate(migrations).await?;
                Some(store)
            }
        };
        open.push(registration.open(settings, store)?);
    }
    let own = Arc::new(own_state(global, &config, &clock, shared, &databases));
    let trail = audit_place(global, &config, &own)?;
    let desk = Desk::new(open, config.settings, clock, own)?.audited(&trail)?;
    Ok(Opened {
        desk: Arc::new(desk),
        databases,
        moved,
        exporter: None,
        shipper: None,
    })
}

/// The directory of a counter that keeps files.
fn folder<'a>(registration: &Registration, settings: &'a toml::Table) -> Option<Marked<'a>> {
    let (key, _) = registration.folder?;
    let folder = text(settings, key)?;
    Some(Marked::Folder(Path::new(folder)))
}

/// The store that all counters share, opened once.
async fn shared_store(
    global: &Global,
    config: &Config,
    clock: &Clock,
    databases: &Databases,
    shared: &mut Option<Arc<dyn Store>>,
) -> Result<Arc<dyn Store>> {
    if let Some(store) = shared {
        return Ok(Arc::clone(store));
    }
    let database = &config.settings.database;
    let url = database_url(&database.url, global.data.as_deref())?;
    let store = open_store(&url, database_options(database, clock)?, databases).await?;
    *shared = Some(Arc::clone(&store));
    Ok(store)
}

/// How a counter that keeps files otherwise is kept on PostgreSQL, if everything is there
/// and nobody named a directory for it.
fn on_postgres(
    global: &Global,
    config: &Config,
    registration: &Registration,
) -> Result<Option<OnPostgres>> {
    let Some(moves) = registration.on_postgres else {
        return Ok(None);
    };
    if config.keeps_files.contains(registration.name) {
        return Ok(None);
    }
    let url = database_url(&config.settings.database.url, global.data.as_deref())?;
    Ok(matches!(url, DatabaseUrl::Postgres(_)).then_some(moves))
}

/// The store of such a counter, for its own commands.
pub async fn moved_store(
    global: &Global,
    config: &Config,
    registration: &Registration,
    databases: &Databases,
) -> Result<Option<Arc<dyn Store>>> {
    let Some(moves) = on_postgres(global, config, registration)? else {
        let settings = config.counters.get(registration.name);
        let folder = settings.and_then(|settings| folder(registration, settings));
        folder.map_or(Ok(()), Marked::check)?;
        return Ok(None);
    };
    let store = shared_store(global, config, &Clock::system(), databases, &mut None).await?;
    store.migrate(moves.migrations).await?;
    marks::check_tables(&store).await?;
    Ok(Some(store))
}

/// Where the audit trail is: beside the embedded database, or on PostgreSQL.
pub fn audit_place(
    global: &Global,
    config: &Config,
    state: &Arc<DeskState>,
) -> Result<audit::AuditLocation> {
    let data = global.data.as_deref();
    Ok(match database_url(&config.settings.database.url, data)? {
        DatabaseUrl::Sqlite(_) => {
            audit::AuditLocation::Directory(data_directory(data)?.join("audit"))
        }
        DatabaseUrl::Postgres(_) => audit::AuditLocation::Table(Arc::clone(state)),
    })
}

fn text<'a>(settings: &'a toml::Table, key: &str) -> Option<&'a str> {
    let text = settings.get(key).and_then(toml::Value::as_str);
    text.filter(|text| !text.trim().is_empty())
}

fn all(databases: &Databases) -> Vec<Database> {
    let databases = databases.lock();
    databases.unwrap_or_else(PoisonError::into_inner).clone()
}

pub async fn close(databases: &Databases) -> Result<()> {
    let mut result = Ok(());
    for database in all(databases) {
        let closed = database.close().await;
        result = result.and(closed);
    }
    result
}

impl Opened {
    /// Stops background work and closes the databases, after the last call.
    pub async fn close(mut self) -> Result<()> {
        background::stop(&self.desk).await;
        if let Some(shipper) = self.shipper.take() {
            shipper.finish().await;
        }
        let closed = close(&self.databases).await;
        if let Some(exporter) = self.exporter.take() {
            exporter.finish().await;
        }
        closed
    }

    /// The databases that are open.
    pub fn stores(&self) -> Vec<Arc<dyn Store>> {
        let databases = all(&self.databases).into_iter();
        databases
            .map(|database| Arc::new(database) as Arc<dyn Store>)
            .collect()
    }

    /// Exports traces and metrics if the environment says where to, and heads of the
    /// audit trail if the settings do. Before the desk is used.
    pub fn export(&mut self) {
        let environment = Environment::of_process();
        self.exporter = Exporter::start(environment, &mut self.desk, env!("CARGO_PKG_VERSION"));
        self.shipper = HeadShipper::start(&self.desk);
    }

    /// Whether the databases can be read and written; `None` if there are none.
    pub async fn check_store(&self) -> Option<Result<&'static str>> {
        let databases = all(&self.databases);
        for database in &databases {
            if let Err(error) = database.examine().await {
                return Some(Err(error));
            }
        }
        databases.first().map(|first| Ok(first.engine()))
    }

    /// How changes of other processes arrive; `None` if the databases don't announce them.
    pub async fn check_announcements(&self) -> Option<Result<String>> {
        let first = all(&self.databases).into_iter().next()?;
        first.check_announcements().await
    }

    /// Loads sample data for empty counters, in the embedded store only.
    pub async fn first_demo(&self) -> Result<()> {
        for served in &self.desk.counters {
            let counter = &served.counter;
            let (Some(demo), Some(store)) = (&counter.demo, &counter.store) else {
                continue;
            };
            if store.engine() != "sqlite" || self.moved.contains(&counter.about.name) {
                continue;
            }
            let context = Context::of_the_desk(self.desk.clock.clone());
            if demo.is_empty(&context).await? {
                let message = demo.load(&context).await?;
                tracing::info!(counter = counter.about.name, "{message}");
            }
        }
        Ok(())
    }
}
