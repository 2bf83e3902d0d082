//! What the caller should know about an answer that is otherwise good.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An entry of `warnings`, which every answer may have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// Stable, UPPER_SNAKE, like the code of an error.
    pub code: &'static str,
    /// One or two sentences.
    pub message: String,
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Warning {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Map::new(),
        }
    }

    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// The schema of `warnings` for outputs that have none of their own.
    pub(crate) fn list_schema() -> Value {
        json!({ "type": "array", "items": { "type": "object", "required": ["code", "message"] } })
    }
}

/// Short, since it is part of every tool's output schema.
impl JsonSchema for Warning {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Warning".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "required": ["code", "message"] })
    }
}
