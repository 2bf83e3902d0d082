//! Checks arguments against the published schema, before any handler runs.

use jsonschema::{ValidationError, error::ValidationErrorKind};
use kit::{Error, Reply, Result, error::INVALID_ARGUMENT};
use serde_json::{Map, Value, json};

use crate::served_counter::PreparedTool;

pub fn input(tool: &PreparedTool, arguments: Map<String, Value>) -> Result<Value> {
    input_except(tool, arguments, &[])
}

/// The same, except for fields whose values are not known yet.
pub fn input_except(
    tool: &PreparedTool,
    arguments: Map<String, Value>,
    except: &[String],
) -> Result<Value> {
    let arguments = Value::Object(arguments);
    // In the common case, no error, no error iterator is built.
    let validator = tool.input()?;
    if validator.is_valid(&arguments) {
        return Ok(arguments);
    }
    let is_excepted = |error: &ValidationError<'_>| {
        let path = error.instance_path().to_string();
        let field = path.split('/').nth(1);
        field.is_some_and(|field| except.iter().any(|name| name == field))
    };
    let mut broken = validator.iter_errors(&arguments);
    if let Some(error) = broken.find(|error| !is_excepted(error)) {
        return Err(explain(tool, &error));
    }
    drop(broken);
    match except {
        [] => Err(Error::internal("arguments are neither valid nor broken")),
        _ => Ok(arguments),
    }
}

/// Checks the tool's own output schema, in builds with debug assertions such as
/// tests.
pub fn output(tool: &PreparedTool, reply: &Reply) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    let (Some(validator), Some(json)) = (tool.output()?, reply.json()) else {
        return Ok(());
    };
    let value: Value = serde_json::from_str(json).map_err(Error::internal)?;
    match validator.iter_errors(&value).next() {
        None => Ok(()),
        Some(error) => Err(Error::internal(format!(
            "{} broke its output schema at {}: {error}",
            tool.tool.name,
            error.instance_path()
        ))),
    }
}

fn explain(tool: &PreparedTool, error: &ValidationError<'_>) -> Error {
    let path = error.instance_path().to_string();
    let mut segments = path.split('/').skip(1);
    let keyword = error.kind().keyword();
    let field = match error.kind() {
        ValidationErrorKind::Required { property } => {
            property.as_str().unwrap_or_default().to_owned()
        }
        _ => segments.next().unwrap_or_default().to_owned(),
    };
    let rule = tool
        .tool
        .rules
        .iter()
        .find(|rule| rule.field == field && (rule.keyword == keyword || rule.keyword == "*"));
    let (code, message) = match rule {
        Some(rule) => (rule.code, rule.message.to_owned()),
        None => (INVALID_ARGUMENT, default_message(&field, keyword, error)),
    };
    let details = match error.kind() {
        ValidationErrorKind::Required { .. } => json!({ "field": field, "rule": keyword }),
        _ => json!({ "field": field, "rule": keyword, "value": shortened(error.instance()) }),
    };
    Error::new(code, message)
        .next(format!("See the input schema of {}.", tool.listed_name))
        .details(details)
}

fn default_message(field: &str, keyword: &str, error: &ValidationError<'_>) -> String {
    match keyword {
        "required" => format!("`{field}` is missing."),
        _ if field.is_empty() => format!("The arguments are not valid: {}.", without_value(error)),
        _ => format!("`{field}` is not valid: {}.", without_value(error)),
    }
}

/// The broken rule without the value, which may be long and is in the details.
fn without_value(error: &ValidationError<'_>) -> String {
    let text = error.masked_with("the value").to_string();
    text.trim_end_matches('.').to_owned()
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > 200 => {
            Value::String(text.chars().take(200).chain(['…']).collect())
        }
        Value::Array(_) | Value::Object(_) if value.to_string().len() > 400 => {
            Value::String("…".into())
        }
        other => other.clone(),
    }
}
