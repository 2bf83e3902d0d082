//! The settings in force and where each comes from, for the console.

use kit::{Error, Result};
use serde_json::{Map, Value};
use server::console::facts::{Origin, Setting};

use super::{Config, errors::holds_secret};
use crate::counters;

/// What stands for a value that is not shown.
const HIDDEN: &str = "•••";

/// Addresses of this desk, which hold no secret.
const SHOWN: [&str; 4] = [
    "http.public_url",
    "http.require_key",
    "http.allowed_origins",
    "limits.wrong_keys_per_minute",
];

impl Config {
    /// Call it when the command line was applied.
    pub fn in_force(&self) -> Result<Vec<Setting>> {
        let mut sections = object(serde_json::to_value(&self.settings))?;
        let mut defaults = object(serde_json::to_value(desk::Settings::default()))?;
        for counter in counters::all() {
            let own = self.counters.get(counter.name);
            sections.insert(counter.name.into(), to_json(&own)?);
            let default = (counter.default_settings)();
            defaults.insert(counter.name.into(), to_json(&default)?);
        }
        for port in counters::ports(counters::all()) {
            let section = port.section.clone();
            sections.insert(section.clone(), to_json(&self.own_listener(port))?);
            defaults.insert(section, to_json(&port.default_listener())?);
        }
        let mut settings = Vec::new();
        for (section, keys) in &sections {
            for (key, value) in keys.as_object().into_iter().flatten() {
                let in_table = |table: &toml::Table| {
                    let value = table.get(section)?.as_table()?.get(key)?;
                    serde_json::to_value(value).ok()
                };
                let default = defaults.get(section).and_then(|keys| keys.get(key));
                let given = in_table(&self.given).filter(|given| given == value);
                let origin = match given {
                    Some(given) if in_table(&self.in_file).as_ref() == Some(&given) => Origin::File,
                    Some(_) => Origin::Environment,
                    None if default == Some(value) => Origin::Default,
                    None => Origin::CommandLine,
                };
                let key = format!("{section}.{key}");
                let value = shown(&key, value);
                settings.push(Setting { key, value, origin });
            }
        }
        Ok(settings)
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(Error::internal)
}

fn object(value: serde_json::Result<Value>) -> Result<Map<String, Value>> {
    match value.map_err(Error::internal)? {
        Value::Object(object) => Ok(object),
        _ => Ok(Map::new()),
    }
}

fn shown(key: &str, value: &Value) -> String {
    let is_text = !value.is_boolean() && !value.is_number();
    let is_set = !matches!(value, Value::Null) && value != "" && *value != Value::Array(Vec::new());
    match value {
        _ if is_text && is_set && holds_secret(key) && !SHOWN.contains(&key) => HIDDEN.into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
