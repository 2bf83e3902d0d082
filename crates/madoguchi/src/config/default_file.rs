//! The default file: every key with its default and a description. It is generated
//! from the schema, so it is always complete.

use desk::Settings;
use kit::{Error, Result};
use serde_json::Value;

use super::schema;
use crate::counters::{self, Registration};

const WIDTH: usize = 96;

pub fn default_file(counters: &[Registration]) -> Result<String> {
    let schema = schema(counters);
    let mut defaults = toml::Table::try_from(Settings::default()).map_err(Error::internal)?;
    for counter in counters {
        defaults.insert(
            counter.name.to_owned(),
            toml::Value::Table((counter.default_settings)()),
        );
    }
    for port in counters::ports(counters) {
        let defaults_of_it =
            toml::Table::try_from(port.default_listener()).map_err(Error::internal)?;
        defaults.insert(port.section.clone(), toml::Value::Table(defaults_of_it));
    }
    let mut file = String::from(
        "# Madoguchi's configuration. Every key stands here with its default; leave out what you\n\
         # do not change. MADOGUCHI_<SECTION>__<KEY> in the environment wins over this file.\n",
    );
    let sections = schema.get("properties").and_then(Value::as_object);
    for (name, section) in sections.into_iter().flatten() {
        file.push('\n');
        comment(&mut file, section);
        file.push_str(&format!("[{name}]\n"));
        let keys = section.get("properties").and_then(Value::as_object);
        for (key, about) in keys.into_iter().flatten() {
            comment(&mut file, about);
            let default = defaults
                .get(name)
                .and_then(|section| section.get(key))
                .ok_or_else(|| Error::internal(format!("{name}.{key} has no default")))?;
            file.push_str(&format!("{key} = {}\n", inline(default)));
        }
    }
    Ok(file)
}

fn inline(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) if table.is_empty() => "{}".into(),
        toml::Value::Table(table) => {
            let entries: Vec<String> = table
                .iter()
                .map(|(key, value)| format!("{key} = {}", inline(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

fn comment(file: &mut String, schema: &Value) {
    let text = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() + 3 > WIDTH {
            file.push_str(&format!("# {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        file.push_str(&format!("# {line}\n"));
    }
}
