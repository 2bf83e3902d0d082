//! JSON Schemas from Rust types, flat enough for every LLM provider: no `$ref`,
//! no `type: [x, "null"]`, no integer formats of one language.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a tool's arguments.
pub fn input<T: JsonSchema>() -> Value {
    schema::<T>()
}

/// The schema of a tool's `structuredContent`.
pub fn output<T: JsonSchema>() -> Option<Value> {
    Some(schema::<T>())
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
        }
        Value::Array(items) => items.iter_mut().for_each(flatten),
        _ => {}
    }
}
