//! JSON with comments.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::Value;

use super::text::{Entry, Problem};

/// Comments and trailing commas, which editors' own files have; nothing else that is
/// not JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub fn parse(text: &str) -> Result<Value, Problem> {
    let value = read(text)?.to_serde_value();
    Ok(value.unwrap_or_else(|| Value::Object(Entry::new())))
}

fn read(text: &str) -> Result<CstRootNode, Problem> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| Problem::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        message: error.kind().to_string(),
    })?;
    match root.value() {
        Some(value) if value.as_object().is_none() => {
            Err(Problem::Form("It is not a JSON object.".into()))
        }
        _ => Ok(root),
    }
}

pub fn set(text: &str, path: &[&str], name: &str, entry: &Entry) -> Result<String, Problem> {
    let root = read(text)?;
    let mut object = root.object_value_or_set();
    for key in path {
        object = object
            .object_value_or_create(key)
            .ok_or_else(|| Problem::Form(format!("`{key}` is not an object.")))?;
    }
    match object
        .get(name)
        .and_then(|property| property.object_value())
    {
        Some(existing) => update(&existing, entry),
        None => {
            if let Some(other) = object.get(name) {
                other.remove();
            }
            object.append(name, input(&Value::Object(entry.clone())));
        }
    }
    let mut edited = root.to_string();
    if text.trim().is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    Ok(edited)
}

fn update(existing: &CstObject, entry: &Entry) {
    for (key, value) in entry {
        match existing.get(key) {
            None => {
                existing.append(key, input(value));
            }
            Some(property) => {
                let current = property.value().and_then(|it| it.to_serde_value());
                if current.as_ref() != Some(value) {
                    property.set_value(input(value));
                }
            }
        }
    }
}

pub fn remove(text: &str, path: &[&str], name: &str) -> Result<String, Problem> {
    let root = read(text)?;
    let mut object = root.object_value();
    for key in path {
        object = object.and_then(|object| object.object_value(key));
    }
    if let Some(property) = object.and_then(|object| object.get(name)) {
        property.remove();
    }
    Ok(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entry) => {
            let properties = entry.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(properties.collect())
        }
    }
}
