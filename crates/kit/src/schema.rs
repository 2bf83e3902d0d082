//! JSON Schemas from Rust types, simple enough for every LLM provider: no `$ref`, no
//! `type: [x, "null"]`, no integer formats of one language.
//!
//! An `Option` is a field that may be missing. A [`Nullable`] is always there and may
//! be `null`. Every schema has a type.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::warning::Warning;

/// Marks a [`Nullable`] until its schema is flattened.
const NULLABLE: &str = "nullable";

/// A value of an answer, or `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Nullable<T>(pub Option<T>);

impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert(NULLABLE.into(), true.into());
        schema
    }
}

/// The schema of a tool's arguments.
pub fn input<T: JsonSchema>() -> Value {
    let mut schema = schema::<T>();
    shorten(&mut schema);
    schema
}

/// The schema of a section of the configuration.
pub fn settings<T: JsonSchema>() -> Value {
    schema::<T>()
}

/// The schema of a tool's `structuredContent`. Any answer may have warnings, so every
/// schema that lists fields lists them too. One that lists none is of a tool that
/// answers as another one does.
pub fn output<T: JsonSchema>() -> Option<Value> {
    let mut schema = schema::<T>();
    drop_zero_minimum(&mut schema);
    match schema.get_mut("properties") {
        Some(Value::Object(fields)) if !fields.is_empty() => {
            fields
                .entry("warnings")
                .or_insert_with(Warning::list_schema);
        }
        _ => {
            schema.as_object_mut()?.remove("properties");
        }
    }
    Some(schema)
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut value = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    flatten(&mut value);
    if let Some(object) = value.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    value
}

fn flatten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get("type") {
                let real: Vec<&Value> = types.iter().filter(|t| *t != "null").collect();
                if let [only] = real.as_slice() {
                    let only = (*only).clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::String(format)) = object.get("format")
                && matches!(
                    format.as_str(),
                    "uint"
                        | "uint8"
                        | "uint16"
                        | "uint32"
                        | "uint64"
                        | "int32"
                        | "int64"
                        | "double"
                        | "float"
                )
            {
                object.remove("format");
            }
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            // `Option<Struct>` and `Option<Enum>` come as anyOf [x, null].
            if let Some(Value::Array(choices)) = object.get("anyOf")
                && let [Value::Object(one), null] = choices.as_slice()
                && null.get("type") == Some(&Value::String("null".into()))
            {
                let one = one.clone();
                object.remove("anyOf");
                for (key, value) in one {
                    object.entry(key).or_insert(value);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            for (_, value) in object.iter_mut() {
                flatten(value);
            }
            if object.get(NULLABLE) == Some(&Value::Bool(true)) {
                or_null(object);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(flatten),
        _ => {}
    }
}

/// Removes what only costs a model attention, and puts the type and the description
/// of an argument first.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // An empty default only says that the argument is optional.
            if object.get("default").is_some_and(is_empty) {
                object.remove("default");
            }
            let mut first = Map::new();
            for keyword in ["type", "description"] {
                if let Some(text @ Value::String(_)) = object.get(keyword) {
                    first.insert(keyword.into(), text.clone());
                }
            }
            first.append(object);
            *object = first;
            object.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// Removes the lower bounds that come from unsigned types. Nobody checks an answer
/// by them.
fn drop_zero_minimum(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A score from 0 to 1 keeps its bounds.
            let is_number = object.get("type").is_some_and(|kind| kind == "number");
            if !(is_number && object.contains_key("maximum")) {
                object.retain(|keyword, value| keyword != "minimum" || value != 0);
            }
            object.values_mut().for_each(drop_zero_minimum);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_zero_minimum),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Turns a marked schema into a choice between it and `null`, which every validator
/// and most providers accept.
fn or_null(schema: &mut Map<String, Value>) {
    let mut value = std::mem::take(schema);
    value.remove(NULLABLE);
    if let Some(description) = value.remove("description") {
        schema.insert("description".into(), description);
    }
    schema.insert("anyOf".into(), json!([value, { "type": "null" }]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Answer {
        missing: Option<String>,
        /// A brand.
        brand: Nullable<String>,
        count: Option<Nullable<i64>>,
        /// A field of this name is not a mark.
        nullable: bool,
    }

    #[test]
    fn a_field_that_may_be_null_is_a_choice_of_two_types() {
        let schema = output::<Answer>().unwrap();
        let expected = json!({
            "missing": { "type": "string" },
            "brand": {
                "description": "A brand.",
                "anyOf": [{ "type": "string" }, { "type": "null" }]
            },
            "count": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            "nullable": { "description": "A field of this name is not a mark.", "type": "boolean" },
            "warnings": {
                "type": "array", "items": { "type": "object", "required": ["code", "message"] }
            }
        });
        assert_eq!(schema["properties"], expected);
        let absent: Nullable<String> = None.into();
        assert_eq!(serde_json::to_value(absent).unwrap(), Value::Null);
    }
}
