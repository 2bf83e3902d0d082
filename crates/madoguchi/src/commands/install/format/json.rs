//! JSON with comments.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    cst::{CstInputValue, CstObject, CstRootNode},
    parse_to_ast,
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
        None if object.get(name).is_some() => {
            return set(&remove(text, path, name)?, path, name, entry);
        }
        None => {
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

/// Cuts the property out of the text: `CstObjectProp::remove` would take comments along.
pub fn remove(text: &str, path: &[&str], name: &str) -> Result<String, Problem> {
    read(text)?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    let parsed = parsed.map_err(|_| Problem::Form("It is written in an unusual form.".into()))?;
    let Some(ast::Value::Object(root)) = &parsed.value else {
        return Ok(text.to_owned());
    };
    let mut object = root;
    for key in path {
        match object.get_object(key) {
            Some(inner) => object = inner,
            None => return Ok(text.to_owned()),
        }
    }
    let properties = &object.properties;
    let Some(index) = properties.iter().position(|it| it.name.as_str() == name) else {
        return Ok(text.to_owned());
    };
    let own = |index: usize| properties.get(index).map(|it| it.range.start..it.range.end);
    let property = own(index).unwrap_or_default();
    let comma = comma_after(text, property.end).or_else(|| {
        let previous = own(index.checked_sub(1)?)?;
        comma_after(text, previous.end)
    });
    let mut cuts = vec![property];
    cuts.extend(comma.map(|comma| comma..comma + 1));
    cuts.sort_by_key(|cut| cut.start);
    Ok(without(text, &cuts))
}

/// The comma that follows, behind spaces and comments.
fn comma_after(text: &str, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        let rest = text.get(at..)?;
        let blank = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        at += blank
            + match rest.as_bytes() {
                [b',', ..] => return Some(at + blank),
                [b'/', b'/', ..] => rest.find('\n')?,
                [b'/', b'*', ..] => rest.find("*/")? + 2,
                _ => return None,
            };
    }
}

/// The text without the pieces, and without the lines that are empty then.
fn without(text: &str, cuts: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        left.push_str(text.get(at..cut.start).unwrap_or_default());
        at = cut.end;
        let line = left.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = text.get(at..).unwrap_or_default();
        // What follows on the line may be the next piece.
        let next = cuts.iter().find(|next| next.start >= at).map(|it| it.start);
        let end = rest.find('\n').map(|newline| at + newline + 1);
        let is_blank = |range: Range<usize>| text.get(range).is_some_and(|it| it.trim().is_empty());
        if let Some(end) = end
            && next.is_none_or(|next| next >= end)
            && left
                .get(line..)
                .is_some_and(|start| start.trim().is_empty())
            && is_blank(at..end)
        {
            left.truncate(line);
            at = end;
        }
    }
    left.push_str(text.get(at..).unwrap_or_default());
    left
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
