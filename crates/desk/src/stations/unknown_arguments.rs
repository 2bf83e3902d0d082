//! Arguments that a tool's published schema does not name. A call that changes
//! something is refused; a read ignores them and warns in its answer.

use kit::{Error, Reply, Result, Warning, text, tool::UNKNOWN};
use serde_json::{Map, Value, json};

use crate::served_counter::PreparedTool;

pub use kit::error::UNKNOWN_ARGUMENT;

/// How many unknown arguments an answer names, and with how many characters each.
const NAMED: usize = 5;
const LONGEST_NAME: usize = 60;

/// An argument that the schema does not name, with its path: `items[0].qty`.
pub struct UnknownArgument {
    field: String,
    /// The known argument in the same place that was probably meant.
    nearest: Option<String>,
}

/// Removes unknown arguments, in nested objects too, and returns them.
pub fn take(tool: &PreparedTool, arguments: &mut Map<String, Value>) -> Vec<UnknownArgument> {
    let mut unknown = Vec::new();
    take_from_object(&tool.tool.input, arguments, "", &mut unknown);
    unknown
}

fn take_from_object(
    schema: &Value,
    object: &mut Map<String, Value>,
    path: &str,
    unknown: &mut Vec<UnknownArgument>,
) {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else {
        // The schema does not say what the object holds.
        return;
    };
    let open = schema.get("additionalProperties");
    let is_open = open.is_some_and(|open| *open != Value::Bool(false));
    if !is_open && !object.keys().all(|name| known.contains_key(name)) {
        object.retain(|field, _| {
            let is_known = known.contains_key(field);
            if !is_known {
                // Only the first are named, and looking for the nearest takes time.
                let names = known.keys().map(String::as_str);
                let nearest = match unknown.len() < NAMED {
                    true => text::nearest(field, names),
                    false => None,
                };
                unknown.push(UnknownArgument {
                    field: format!("{path}{}", name(field)),
                    nearest: nearest.map(str::to_owned),
                });
            }
            is_known
        });
    }
    for (field, value) in object {
        if (value.is_object() || value.is_array())
            && let Some(schema) = known.get(field)
        {
            take_inside(schema, value, &format!("{path}{field}"), unknown);
        }
    }
}

fn take_inside(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<UnknownArgument>) {
    match value {
        Value::Object(object) => take_from_object(schema, object, &format!("{path}."), unknown),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items").filter(|items| items.is_object()) {
                for (index, item) in items.iter_mut().enumerate() {
                    if item.is_object() || item.is_array() {
                        take_inside(schema, item, &format!("{path}[{index}]"), unknown);
                    }
                }
            }
        }
        _ => {}
    }
}

/// An error if there are any: the call was probably meant to do something else.
pub fn refuse(tool: &PreparedTool, unknown: &[UnknownArgument]) -> Result<()> {
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let fields = &mut unknown.iter().map(|it| it.field.as_str());
    if let Some(error) = fields.find_map(tool.tool.explain_unknown) {
        return Err(error);
    }
    let named = unknown.iter().take(NAMED).map(|it| it.field.as_str());
    let named: Vec<&str> = named.collect();
    let list = named.join("`, `");
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tool_name = tool.listed_name;
    let nearest = first.nearest.as_deref();
    let known = known(tool);
    let rules = &mut tool.tool.rules.iter();
    let rule = rules.find(|rule| rule.keyword == UNKNOWN && rule.field == first.field);
    let next = match (rule, nearest, named.as_slice()) {
        (Some(rule), ..) => format!("{} Nothing was done.", rule.message),
        (None, Some(nearest), [_]) => format!("Did you mean `{nearest}`? Nothing was done."),
        _ => format!("Nothing was done. It takes: {}.", known.join(", ")),
    };
    Err(Error::new(
        UNKNOWN_ARGUMENT,
        format!("{tool_name} has no argument `{list}`{more}."),
    )
    .next(next)
    .japanese(format!(
        "{tool_name}に引数`{list}`はありません({}件)。何も行っていません。入力スキーマを確認してください。",
        unknown.len()
    ))
    .details(json!({
        "tool": tool_name,
        "field": named.first(),
        "nearest": nearest,
        "fields": named,
        "count": unknown.len(),
        "known": known,
    })))
}

/// Adds a warning for each to the answer of a read.
pub fn warn(tool: &PreparedTool, unknown: &[UnknownArgument], reply: Reply) -> Result<Reply> {
    if unknown.is_empty() {
        return Ok(reply);
    }
    let warnings = warnings(tool, unknown);
    Ok(match reply {
        Reply::Structured(json) => Reply::Structured(with_warnings(json, &warnings)?),
        Reply::Kept(kept) => Reply::Structured(with_warnings(kept.json.clone(), &warnings)?),
        Reply::Illustrated { json, blocks } => Reply::Illustrated {
            json: with_warnings(json, &warnings)?,
            blocks,
        },
        Reply::Content(mut blocks) => {
            let text = json!({ "warnings": warnings }).to_string();
            blocks.push(json!({ "type": "text", "text": text }));
            Reply::Content(blocks)
        }
        asks @ Reply::InputRequired { .. } => asks,
    })
}

fn with_warnings(json: String, warnings: &[Warning]) -> Result<String> {
    let mut answer: Value = serde_json::from_str(&json).map_err(Error::internal)?;
    let Some(fields) = answer.as_object_mut() else {
        return Ok(json);
    };
    let own = fields.entry("warnings").or_insert_with(|| json!([]));
    if let (Some(own), Value::Array(warnings)) = (own.as_array_mut(), json!(warnings)) {
        own.extend(warnings);
    }
    Ok(answer.to_string())
}

fn warnings(tool: &PreparedTool, unknown: &[UnknownArgument]) -> Vec<Warning> {
    let tool_name = tool.listed_name;
    let warning = |UnknownArgument { field, nearest }: &UnknownArgument| {
        let meant = match nearest {
            Some(nearest) => format!(" Did you mean `{nearest}`?"),
            None => String::new(),
        };
        let message = format!("{tool_name} has no argument `{field}`; it was ignored.{meant}");
        Warning::new(UNKNOWN_ARGUMENT, message)
            .detail("field", field.as_str())
            .detail("nearest", nearest.clone())
    };
    let mut warnings: Vec<Warning> = unknown.iter().take(NAMED).map(warning).collect();
    if let more @ 1.. = unknown.len().saturating_sub(NAMED) {
        let message = format!("{more} more arguments are unknown and were ignored.");
        let more = Warning::new(UNKNOWN_ARGUMENT, message)
            .detail("field", Value::Null)
            .detail("nearest", Value::Null);
        warnings.push(more);
    }
    warnings
}

/// The names of the tool's arguments.
fn known(tool: &PreparedTool) -> Vec<&str> {
    let properties = tool.tool.input.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect()
}

/// A name from the caller, cut short and without line breaks.
pub fn name(name: &str) -> String {
    let (kept, left_out) = text::cut(name, LONGEST_NAME);
    let end = if left_out > 0 { "…" } else { "" };
    format!("{}{end}", text::visible(kept))
}
