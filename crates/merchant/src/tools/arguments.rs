//! What people and models really send, turned into what the schemas say. What
//! is not understood stays as it is, and is refused by the schema.

use kit::arguments::{change, whole};
use serde_json::Value;

pub use kit::arguments::{Arguments, integer, text};

/// A list of integers, each perhaps as text, or all in one text with commas in
/// between; one alone is a list of one.
pub fn integers(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let parts = value.as_str()?.split([',', '、', '，']);
        let numbers: Option<Vec<Value>> = parts.map(|part| whole(&part.into())).collect();
        numbers.map(Value::Array)
    });
    list(arguments, name, whole);
}

/// A list of texts; one alone is a list of one.
pub fn texts(arguments: &mut Arguments, name: &str) {
    list(arguments, name, |value| match value {
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    });
}

/// `"true"` for true.
pub fn truth(arguments: &mut Arguments, name: &str) {
    if let Some(value) = arguments.get_mut(name)
        && let Some(text) = value.as_str()
    {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => *value = true.into(),
            "false" => *value = false.into(),
            _ => {}
        }
    }
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

fn list(arguments: &mut Arguments, name: &str, item: impl Fn(&Value) -> Option<Value>) {
    let Some(value) = arguments.get_mut(name) else {
        return;
    };
    if let Some(parsed) = parsed(value) {
        *value = parsed;
    }
    if matches!(value, Value::String(_) | Value::Number(_)) {
        *value = Value::Array(vec![value.take()]);
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
