//! Normalises what people and models send to what schemas accept, as far as it is
//! the same for every counter. What is not understood stays as it is and is refused
//! by the schema.

use serde_json::{Map, Value};

use crate::text;

pub type Arguments = Map<String, Value>;

/// Removes arguments that count as not given. Clients with strict schemas make a
/// model send every property, so it sends `null` or `""` for optional ones, in
/// nested objects too. A required argument keeps its `""`.
pub fn drop_not_given(schema: &Value, arguments: &mut Arguments) {
    // A null is never a value, not even of an unknown argument.
    arguments.retain(|_, value| !value.is_null());
    drop_empty_options(schema, arguments);
}

fn drop_empty_options(schema: &Value, object: &mut Arguments) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    object.retain(|name, value| {
        let is_empty = value.is_null() || value == "";
        !is_empty || !properties.contains_key(name) || is_required(name)
    });
    for (name, value) in object {
        if let Some(schema) = properties.get(name) {
            drop_inside(schema, value);
        }
    }
}

fn drop_inside(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(object) => drop_empty_options(schema, object),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| drop_inside(schema, item));
            }
        }
        _ => {}
    }
}

/// Turns a number into text, and trims white space.
pub fn text(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(text) => Some(text.trim().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    });
}

/// The same for an id or a time: full-width characters also become ASCII.
pub fn narrow(arguments: &mut Arguments, name: &str) {
    text(arguments, name);
    change(arguments, name, |value| {
        Some(text::narrow(value.as_str()?).into())
    });
}

/// Turns `"20"` and `"２０"` into 20.
pub fn integer(arguments: &mut Arguments, name: &str) {
    change(arguments, name, whole);
}

/// The whole number in a text.
pub fn whole(value: &Value) -> Option<Value> {
    Some(text::narrow(value.as_str()?).parse::<i64>().ok()?.into())
}

/// Replaces an argument by what `change` returns, if it returns something.
pub fn change(arguments: &mut Arguments, name: &str, change: impl FnOnce(&Value) -> Option<Value>) {
    if let Some(value) = arguments.get_mut(name)
        && let Some(changed) = change(value)
    {
        *value = changed;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_options_count_as_not_given_and_everything_else_stays() {
        let schema = json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "note": { "type": "string" },
                "limit": { "type": "integer" },
                "free": { "type": "object" },
                "words": { "type": "array", "items": { "type": "string" } },
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": { "type": "string" },
                            "status": { "type": "string" }
                        },
                        "required": ["title"]
                    }
                }
            },
            "required": ["id"]
        });
        let mut arguments = json!({
            "id": "",
            "note": "",
            "limit": null,
            "free": { "kept": "", "also": null },
            "words": [""],
            "rows": [{ "title": "", "status": "" }, { "title": "b", "status": null }],
            "unknown": "",
            "nothing": null
        });
        drop_not_given(&schema, arguments.as_object_mut().unwrap());
        let left = json!({
            "id": "",
            "free": { "kept": "", "also": null },
            "words": [""],
            "rows": [{ "title": "" }, { "title": "b" }],
            "unknown": ""
        });
        assert_eq!(arguments, left);
    }

    #[test]
    fn values_are_turned_into_what_the_schema_wants() {
        let mut arguments = json!({
            "text": " a ", "id": 5, "wide": " Ａ５ ", "count": " ２０ ", "word": "x", "list": [1],
        });
        let arguments = arguments.as_object_mut().unwrap();
        for name in ["text", "id", "list", "missing"] {
            text(arguments, name);
        }
        narrow(arguments, "wide");
        for name in ["count", "word", "list"] {
            integer(arguments, name);
        }
        let expected = json!({
            "text": "a", "id": "5", "wide": "A5", "count": 20, "word": "x", "list": [1],
        });
        assert_eq!(Value::Object(arguments.clone()), expected);
    }
}
