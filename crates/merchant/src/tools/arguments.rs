//! What people and models really send, turned into what the schemas say. What
//! is not understood stays as it is, and the schema refuses it.

use kit::arguments::{change, whole};
use serde_json::Value;

pub use kit::arguments::{Arguments, integer, text};

/// A list of integers: numbers, texts, or one text with commas. A single one
/// becomes a list of one.
pub fn integers(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let parts = value.as_str()?.split([',', '、', '，']);
        let numbers: Option<Vec<Value>> = parts.map(|part| whole(&part.into())).collect();
        numbers.map(Value::Array)
    });
    list(arguments, name, whole);
}

/// A list of texts. A single one becomes a list of one.
pub fn texts(arguments: &mut Arguments, name: &str) {
    list(arguments, name, |value| match value {
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    });
}

/// `"true"` for true.
pub fn truth(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        match value.as_str()?.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        }
    });
}

/// An object or array that a model wrote down as text.
pub fn json(arguments: &mut Arguments, name: &str) {
    change(arguments, name, parsed);
}

pub fn trimmed(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(kit::text::narrow(value.as_str()?).into())
    });
}

/// Removes `null` and blank texts inside lists and objects, at any depth. Models
/// send them for what they do not mean.
pub fn drop_blanks(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| !is_blank(item));
            items.iter_mut().for_each(drop_blanks);
        }
        Value::Object(members) => {
            members.retain(|_, member| !is_blank(member));
            members.values_mut().for_each(drop_blanks);
        }
        _ => {}
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn list(arguments: &mut Arguments, name: &str, item: impl Fn(&Value) -> Option<Value>) {
    let Some(value) = arguments.get_mut(name) else {
        return;
    };
    if let Some(parsed) = parsed(value) {
        *value = parsed;
    }
    match value {
        Value::String(_) | Value::Number(_) => *value = Value::Array(vec![value.take()]),
        _ => drop_blanks(value),
    }
    if let Value::Array(items) = value {
        for entry in items {
            if let Some(tidy) = item(entry) {
                *entry = tidy;
            }
        }
    }
}

fn parsed(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    serde_json::from_str(text).ok()
}
