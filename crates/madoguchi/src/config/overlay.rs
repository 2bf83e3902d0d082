//! Environment variables that override the file.

use kit::Result;
use serde_json::Value;

use super::errors::{holds_secret, invalid, unknown};
use crate::counters::Registration;

const PREFIX: &str = "MADOGUCHI_";

/// Variables that are read elsewhere and set no key.
const NOT_KEYS: [&str; 2] = ["MADOGUCHI_DATA", "MADOGUCHI_KEY"];

/// Whether the environment sets anything at all.
pub fn is_given(counters: &[Registration], environment: &[(String, String)]) -> bool {
    environment.iter().any(|(name, _)| {
        let ours = name
            .strip_prefix(PREFIX)
            .is_some_and(|rest| rest.contains("__"));
        let mut variables = counters.iter().flat_map(|counter| counter.variables);
        ours || variables.any(|(variable, _)| variable == name)
    })
}

/// Sets every `MADOGUCHI_<SECTION>__<KEY>` in `table`.
pub fn environment(
    table: &mut toml::Table,
    schema: &Value,
    environment: &[(String, String)],
) -> Result<()> {
    let sections = schema.get("properties").and_then(Value::as_object);
    for (name, text) in environment {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            continue;
        };
        // Tests and wrappers use the prefix for their own variables.
        if NOT_KEYS.contains(&name.as_str()) || !rest.contains("__") {
            continue;
        }
        let (section, key) = rest.split_once("__").unwrap_or((rest, ""));
        let (section, key) = (section.to_lowercase(), key.to_lowercase());
        let Some(properties) = sections
            .and_then(|sections| sections.get(&section))
            .and_then(|section| section.get("properties"))
            .and_then(Value::as_object)
        else {
            let names = sections
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str());
            return Err(unknown(name, &section, names));
        };
        let Some(kind) = properties.get(&key) else {
            let names = properties.keys().map(String::as_str);
            return Err(unknown(name, &key, names));
        };
        set(table, &section, &key, kind, (name, text))?;
    }
    Ok(())
}

/// Sets the keys for which a counter's document names variables.
pub fn variables(
    table: &mut toml::Table,
    schema: &Value,
    (section, variables): (&str, &[(&str, &str)]),
    environment: &[(String, String)],
) -> Result<()> {
    for (name, key) in variables {
        let given = environment.iter().find(|(given, _)| given == name);
        let kind = schema.pointer(&format!("/properties/{section}/properties/{key}"));
        if let (Some((name, text)), Some(kind)) = (given, kind)
            && !text.is_empty()
        {
            set(table, section, key, kind, (name, text))?;
        }
    }
    Ok(())
}

fn set(
    table: &mut toml::Table,
    section: &str,
    key: &str,
    kind: &Value,
    (name, text): (&str, &str),
) -> Result<()> {
    let value = parse(text, kind).ok_or_else(|| {
        let wanted = kind.get("type").and_then(Value::as_str).unwrap_or("value");
        invalid(match holds_secret(key) {
            true => format!("{name} is not a valid {wanted}."),
            false => format!("{name} is `{text}`, which is not a valid {wanted}."),
        })
    })?;
    let entry = table
        .entry(section)
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let toml::Value::Table(entry) = entry {
        entry.insert(key.to_owned(), value);
    }
    Ok(())
}

/// Text as the schema's type: lists are comma-separated, tables are TOML.
fn parse(text: &str, schema: &Value) -> Option<toml::Value> {
    let as_toml = || -> Option<toml::Value> {
        let table: toml::Table = format!("value = {text}").parse().ok()?;
        table.get("value").cloned()
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => text.trim().parse().ok().map(toml::Value::Integer),
        Some("number") => text.trim().parse().ok().map(toml::Value::Float),
        Some("boolean") => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(toml::Value::Boolean(true)),
            "false" | "0" | "no" | "off" => Some(toml::Value::Boolean(false)),
            _ => None,
        },
        Some("array") if text.trim_start().starts_with('[') => as_toml(),
        Some("array") => Some(toml::Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| toml::Value::String(item.to_owned()))
                .collect(),
        )),
        Some("object") => as_toml(),
        _ => Some(toml::Value::String(text.to_owned())),
    }
}
