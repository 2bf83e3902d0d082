//! The configuration: a TOML file, and environment variables that override it. Both
//! are checked against a schema.
//!
//! `MADOGUCHI_<SECTION>__<KEY>` sets any key. Unknown keys are refused, with the
//! nearest valid name.

mod default_file;
mod errors;
mod in_force;
mod overlay;
mod removed;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use crate::counters::{self, OwnPort, Registration};
use desk::{
    Settings,
    settings::{Level, Listener},
};
use kit::{Error, Result};
use serde_json::{Map, Value};

pub use default_file::default_file;
pub use errors::invalid;
use errors::{holds_secret, unknown};

/// What was configured: the desk's sections, one for each counter, and one for
/// each counter's own port.
#[derive(Clone)]
pub struct Config {
    pub settings: Settings,
    pub counters: BTreeMap<String, toml::Table>,
    /// By the counter's name.
    own_ports: BTreeMap<&'static str, Listener>,
    /// The counters whose directory was named.
    pub keeps_files: BTreeSet<&'static str>,
    /// Whether the log level is not the default.
    pub log_level_is_set: bool,
    /// What the file says, and what the environment made of it.
    in_file: toml::Table,
    given: toml::Table,
    /// What the operator should change, though the program starts.
    pub warnings: Vec<String>,
}

impl Config {
    /// For commands that tell by themselves what they do: logs only warnings, unless
    /// a level is set.
    pub fn log_less(&mut self) {
        if !self.log_level_is_set {
            self.settings.log.level = Level::Warn;
        }
    }

    /// Logs the warnings. To be called when a program starts that serves.
    pub fn warn(&self) {
        for warning in &self.warnings {
            tracing::warn!("configuration: {warning}");
        }
    }

    /// Every listener, with the section that configures it.
    pub fn listeners(&self) -> Vec<(&'static str, Listener)> {
        let own = counters::ports(counters::all())
            .map(|own| (own.section.as_str(), self.own_listener(own)));
        std::iter::once(("http", self.settings.http.listener()))
            .chain(own)
            .collect()
    }

    /// How a counter's own port is configured.
    pub fn own_listener(&self, own: &OwnPort) -> Listener {
        let configured = self.own_ports.get(own.counter).cloned();
        configured.unwrap_or_else(|| own.default_listener())
    }
}

/// Where settings come from besides the defaults.
#[derive(Default)]
pub struct Sources {
    /// A data directory that was named; some counters keep files in it.
    pub data: Option<PathBuf>,
    pub file: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
}

impl Sources {
    /// The named file, else `madoguchi.toml` here, and the process's environment.
    pub fn of_process(named: Option<&Path>, data: Option<&Path>) -> Self {
        let text = |it: OsString| it.to_string_lossy().into_owned();
        let environment = std::env::vars_os();
        Self {
            data: data.map(Path::to_owned),
            file: file(named),
            // `vars` would panic at a variable that is not UTF-8.
            environment: environment.map(|(key, it)| (text(key), text(it))).collect(),
        }
    }
}

/// The named file, else `madoguchi.toml` here.
pub fn file(named: Option<&Path>) -> Option<PathBuf> {
    let here = || Some(PathBuf::from("madoguchi.toml")).filter(|file| file.exists());
    named.map(Path::to_owned).or_else(here)
}

/// Without the counters' sections, which hold passwords.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

pub fn load(sources: &Sources, counters: &[Registration]) -> Result<Config> {
    let mut table = match &sources.file {
        None => toml::Table::new(),
        Some(path) => read(path)?,
    };
    let mut environment = sources.environment.clone();
    let in_file = table.clone();
    let warnings = removed::take(&mut table, &mut environment);
    // Skipped if nothing is set, because building the schema takes time.
    if !table.is_empty() || overlay::is_given(counters, &environment) {
        let schema = schema(counters);
        overlay::environment(&mut table, &schema, &environment)?;
        for counter in counters {
            let variables = (counter.name, counter.variables);
            overlay::variables(&mut table, &schema, variables, &environment)?;
        }
        check(&table, &schema)?;
    }
    let given = table.clone();
    let mut sections = BTreeMap::new();
    let mut keeps_files = BTreeSet::new();
    for counter in counters {
        let own = match table.remove(counter.name) {
            Some(toml::Value::Table(own)) => own,
            _ => toml::Table::new(),
        };
        if counter.folder.is_some_and(|(key, _)| own.contains_key(key)) {
            keeps_files.insert(counter.name);
        }
        let mut settings = (counter.default_settings)();
        if let (Some((key, folder)), Some(data)) = (counter.folder, &sources.data) {
            let inside = data.join(folder).to_string_lossy().into_owned();
            settings.insert(key.to_owned(), toml::Value::String(inside));
        }
        settings.extend(own);
        sections.insert(counter.name.to_owned(), settings);
    }
    let mut own_ports = BTreeMap::new();
    for port in counters::ports(counters) {
        let mut settings =
            toml::Table::try_from(port.default_listener()).map_err(Error::internal)?;
        if let Some(toml::Value::Table(own)) = table.remove(&port.section) {
            settings.extend(own);
        }
        own_ports.insert(port.counter, settings.try_into().map_err(mistyped)?);
    }
    let log = table.get("log").and_then(toml::Value::as_table);
    let mut log_level_is_set = log.is_some_and(|log| log.contains_key("level"));
    let mut settings: Settings = table.try_into().map_err(mistyped)?;
    if let Some(level) = log_level(&sources.environment)? {
        settings.log.level = level;
        log_level_is_set = true;
    }
    Ok(Config {
        settings,
        counters: sections,
        own_ports,
        keeps_files,
        log_level_is_set,
        in_file,
        given,
        warnings,
    })
}

fn mistyped(error: toml::de::Error) -> Error {
    invalid(format!("{}.", error.message().trim_end_matches('.')))
}

fn read(path: &Path) -> Result<toml::Table> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        invalid(format!("{} can't be read: {error}.", path.display())).next(format!(
            "Name another with --config, or begin with the defaults: madoguchi config default > {}",
            path.display()
        ))
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map_or(1, |before| before.matches('\n').count() + 1);
        invalid(format!(
            "{} line {line}: {}.",
            path.display(),
            error.message()
        ))
        .next(format!(
            "Correct it, and check it: madoguchi config check {}",
            path.display()
        ))
    })
}

/// `LOG_LEVEL`, a name that many programs use.
fn log_level(environment: &[(String, String)]) -> Result<Option<Level>> {
    let Some((_, text)) = environment
        .iter()
        .find(|(name, value)| name == "LOG_LEVEL" && !value.is_empty())
    else {
        return Ok(None);
    };
    Level::parse(text).map(Some).ok_or_else(|| {
        invalid(format!(
            "LOG_LEVEL is `{text}`; use error, warn, info, debug or trace."
        ))
    })
}

/// The JSON Schema of the whole file.
pub fn schema(counters: &[Registration]) -> Value {
    let mut schema = kit::schema::settings::<Settings>();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for counter in counters {
            let mut section = (counter.settings_schema)();
            if let Some(object) = section.as_object_mut() {
                object.insert(
                    "description".into(),
                    format!("The {} counter.", counter.name).into(),
                );
            }
            properties.insert(counter.name.into(), section);
        }
        for port in counters::ports(counters) {
            let mut section = kit::schema::settings::<Listener>();
            if let Some(object) = section.as_object_mut() {
                let about = format!(
                    "The {} counter's own port. Sizes and times are those of [http].",
                    port.counter
                );
                object.insert("description".into(), about.into());
            }
            if let Some(name) = port.port.host {
                name_host(&mut section, name);
            }
            properties.insert(port.section.clone(), section);
        }
    }
    if let Some(object) = schema.as_object_mut() {
        let mut whole = Map::new();
        whole.insert(
            "$schema".into(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        whole.insert("title".into(), "Madoguchi configuration".into());
        whole.append(object);
        return Value::Object(whole);
    }
    schema
}

/// Adds how to allow the host name from the counter's document.
fn name_host(section: &mut Value, name: &str) {
    let about = section.pointer_mut("/properties/allowed_hosts/description");
    if let Some(Value::String(about)) = about {
        about.push_str(&format!(
            " To be called by the name in its document: [\"localhost\", \"{name}\"]."
        ));
    }
}

/// Checks keys by name, so that errors suggest one, and everything else by the schema.
fn check(table: &toml::Table, schema: &Value) -> Result<()> {
    unknown_keys(table, schema, "")?;
    let value = serde_json::to_value(table).map_err(Error::internal)?;
    let validator =
        jsonschema::draft202012::new(schema).map_err(|error| Error::internal(error.to_string()))?;
    match validator.iter_errors(&value).next() {
        None => Ok(()),
        Some(error) => {
            let key = error.instance_path().to_string();
            let key = key.trim_start_matches('/').replace('/', ".");
            Err(invalid(match holds_secret(&key) {
                true => format!("{key}: {}.", error.masked()),
                false => format!("{key}: {error}."),
            }))
        }
    }
}

fn unknown_keys(table: &toml::Table, schema: &Value, path: &str) -> Result<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    // A map whose keys the user chooses declares no properties.
    if properties.is_empty() {
        return Ok(());
    }
    for (key, value) in table {
        let full = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let Some(inner) = properties.get(key) else {
            return Err(unknown(&full, key, properties.keys().map(String::as_str)));
        };
        if let toml::Value::Table(inner_table) = value {
            unknown_keys(inner_table, inner, &full)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
