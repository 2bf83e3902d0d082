//! How one counter is configured, opened and reached.

use std::{any::Any, pin::Pin, process::ExitCode, sync::Arc};

use desk::settings::Listener;
use kit::{BoxFuture, Counter, Error, Result, Store, counter::Migrations};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::archive::Part;

pub struct Registration {
    /// Also the name of its section in the configuration.
    pub name: &'static str,
    /// Its tables, for counters that keep rows in the store.
    pub migrations: Option<Migrations>,
    /// Environment variables that its document names, with the key each one
    /// sets. They win over the file.
    pub variables: &'static [(&'static str, &'static str)],
    /// The key that names its directory, and the name of that directory when
    /// `--data` is given and the key is not set.
    pub folder: Option<(&'static str, &'static str)>,
    /// How the files in that directory are copied while others use them.
    pub folder_files: Option<FolderFiles>,
    /// The key that names a directory of its own, and the name of that directory
    /// inside the data directory when the key is not set.
    pub inside_data: Option<(&'static str, &'static str)>,
    /// For a counter that keeps files, unless everything is on PostgreSQL.
    pub on_postgres: Option<OnPostgres>,
    /// The key that moves this counter alone to another database.
    pub own_database: Option<&'static str>,
    pub own_port: Option<OwnPort>,
    pub flags: Vec<Flag>,
    pub command: Option<OwnCommand>,
    /// What it is for, in a few words of English and Japanese.
    pub in_short: Option<[&'static str; 2]>,
    /// What `madoguchi import` reads for it, as the help says it.
    pub imports: Option<&'static str>,
    pub settings_schema: fn() -> Value,
    pub default_settings: fn() -> toml::Table,
    open: Open,
}

type Open = Box<dyn Fn(toml::Table, Option<Arc<dyn Store>>) -> Result<Counter> + Send + Sync>;

/// How a counter that keeps files otherwise moves to PostgreSQL with all the others.
/// Setting the key of its directory keeps it in files.
#[derive(Clone, Copy)]
pub struct OnPostgres {
    pub migrations: Migrations,
    /// An error if its data is still in files.
    pub check: fn(toml::Table, Arc<dyn Store>) -> BoxFuture<'static, Result<()>>,
}

/// A port that a counter's document gives it, and what the port offers besides
/// the protocol.
pub struct Port {
    /// 0: off unless the command line gives one.
    pub number: u16,
    /// The host name in the document. Clients may use it if the operator adds it
    /// to the allowed hosts.
    pub host: Option<&'static str>,
    /// Whether it serves the files of `assets/` in the data directory.
    pub assets: bool,
    pub only_websocket: bool,
}

/// A counter's port with the names under which it is configured.
pub struct OwnPort {
    pub counter: &'static str,
    pub port: Port,
    /// The section of the configuration: `COUNTER_listener`.
    pub section: String,
    /// What moves it, or switches it off, on the command line: `--COUNTER-port`.
    pub flag: String,
}

impl OwnPort {
    pub fn default_listener(&self) -> Listener {
        Listener {
            port: self.port.number,
            ..Listener::default()
        }
    }
}

/// A command-line flag of `serve`, `stdio`, `tools` and `call` that sets one key
/// of the counter's settings.
pub struct Flag {
    /// Without the dashes.
    pub name: &'static str,
    /// What stands for its value in the help.
    pub value: &'static str,
    pub key: &'static str,
    /// Whether it names the project, which is by default the directory in which the
    /// server starts.
    pub is_project: bool,
    pub help: &'static str,
}

/// The files of a counter that keeps its data in a directory of its own.
#[derive(Clone, Copy)]
pub struct FolderFiles {
    /// Keeps everybody from changing them; `None` if there are none.
    pub freeze: fn(toml::Table) -> Result<Option<FrozenFolder>>,
    /// Whether a process serves them now.
    pub is_served: fn(toml::Table) -> Result<bool>,
    /// Copies them into the tables of a database. It has none of them yet, or if the flag
    /// is set, an old copy.
    pub to_database: fn(toml::Table, Arc<dyn Store>, bool) -> Copying,
    /// Copies the tables into files, of which there are none yet.
    pub to_files: fn(toml::Table, Arc<dyn Store>) -> Copying,
    /// Whether the tables have nothing that could be copied.
    pub is_database_empty: fn(Arc<dyn Store>) -> BoxFuture<'static, Result<bool>>,
}

/// Returns how many rooms and messages there were.
pub type Copying = BoxFuture<'static, Result<[usize; 2]>>;

/// The files as they are, until `lock` is dropped; they can be read after that.
pub struct FrozenFolder {
    pub parts: Vec<Part>,
    pub lock: Box<dyn Any>,
}

/// A command for people, `madoguchi COUNTER …`.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommand {
    /// Adds its help and arguments.
    pub define: fn(clap::Command) -> clap::Command,
    pub run: RunCommand,
}

/// Runs on the thread that made it.
pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

type RunCommand = for<'a> fn(
    &'a CommandContext<'a>,
    &'a clap::ArgMatches,
) -> LocalBoxFuture<'a, Result<ExitCode>>;

/// What a counter's own command works with.
pub struct CommandContext<'a> {
    pub settings: toml::Table,
    /// The database that has the counter's data, if it is not in files.
    pub store: Option<Arc<dyn Store>>,
    /// The id and the name of an API key, from either of them.
    pub find_key: &'a dyn Fn(String) -> LocalBoxFuture<'a, Result<(String, String)>>,
}

impl Registration {
    /// A counter that keeps its rows in the store.
    pub fn with_store<S>(
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

    /// A counter that keeps files of its own, or nothing.
    pub fn on_files<S>(name: &'static str, counter: fn(S) -> Counter) -> Self
    where
        S: Default + Serialize + DeserializeOwned + JsonSchema + 'static,
    {
        let open: Open = Box::new(move |settings, _| Ok(counter(typed(name, settings)?)));
        Self::new::<S>(name, None, open)
    }

    /// A counter that keeps files, or its rows on PostgreSQL.
    pub fn on_files_or_postgres<S>(
        name: &'static str,
        on_postgres: OnPostgres,
        counter: fn(S, Option<Arc<dyn Store>>) -> Counter,
    ) -> Self
    where
        S: Default + Serialize + DeserializeOwned + JsonSchema + 'static,
    {
        let open: Open =
            Box::new(move |settings, store| Ok(counter(typed(name, settings)?, store)));
        Self {
            on_postgres: Some(on_postgres),
            ..Self::new::<S>(name, None, open)
        }
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
            folder_files: None,
            inside_data: None,
            on_postgres: None,
            own_database: None,
            own_port: None,
            flags: Vec::new(),
            command: None,
            in_short: None,
            imports: None,
            settings_schema: kit::schema::settings::<S>,
            default_settings: || toml::Table::try_from(S::default()).unwrap_or_default(),
            open,
        }
    }

    pub fn port(mut self, port: Port) -> Self {
        self.own_port = Some(OwnPort {
            counter: self.name,
            port,
            section: format!("{}_listener", self.name),
            flag: format!("--{}-port", self.name),
        });
        self
    }

    pub fn variables(mut self, variables: &'static [(&'static str, &'static str)]) -> Self {
        self.variables = variables;
        self
    }

    pub fn folder(mut self, key: &'static str, inside_data: &'static str) -> Self {
        self.folder = Some((key, inside_data));
        self
    }

    pub fn folder_files(mut self, files: FolderFiles) -> Self {
        self.folder_files = Some(files);
        self
    }

    pub fn inside_data(mut self, key: &'static str, name: &'static str) -> Self {
        self.inside_data = Some((key, name));
        self
    }

    pub fn own_database(mut self, key: &'static str) -> Self {
        self.own_database = Some(key);
        self
    }

    pub fn flag(mut self, flag: Flag) -> Self {
        self.flags.push(flag);
        self
    }

    pub fn in_short(mut self, english: &'static str, japanese: &'static str) -> Self {
        self.in_short = Some([english, japanese]);
        self
    }

    pub fn imports(mut self, what: &'static str) -> Self {
        self.imports = Some(what);
        self
    }

    pub fn command(mut self, command: OwnCommand) -> Self {
        self.command = Some(command);
        self
    }

    pub fn open(&self, settings: toml::Table, store: Option<Arc<dyn Store>>) -> Result<Counter> {
        (self.open)(settings, store)
    }
}

/// A counter's section of the configuration as its settings type.
pub fn typed<S: DeserializeOwned>(name: &str, settings: toml::Table) -> Result<S> {
    settings.try_into().map_err(|error: toml::de::Error| {
        let message = error.message().trim_end_matches('.');
        Error::new("INVALID_CONFIG", format!("[{name}]: {message}."))
            .next("`madoguchi config default` lists all keys.")
    })
}
