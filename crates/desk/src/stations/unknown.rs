//! Arguments that a tool's published schema does not name. A call that changes
//! something is refused; a read ignores them and warns in its answer.

use kit::{Error, Reply, Result, text};
use serde_json::{Map, Value, json};

use crate::window::PreparedTool;

pub const UNKNOWN_ARGUMENT: &str = "UNKNOWN_ARGUMENT";

/// How many unknown arguments an answer names, and with how many characters each.
const NAMED: usize = 5;
const LONGEST_NAME: usize = 60;

/// Removes unknown arguments and returns their names.
pub fn take(tool: &PreparedTool, arguments: &mut Map<String, Value>) -> Vec<String> {
    let schema = &tool.tool.input;
    // The schema allows any argument.
    let open = schema.get("additionalProperties");
    if open.is_some_and(|open| *open != Value::Bool(false)) {
        return Vec::new();
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    if arguments.keys().all(|name| is_known(name)) {
        return Vec::new();
    }
    let (kept, unknown): (Map<_, _>, Map<_, _>) = std::mem::take(arguments)
        .into_iter()
        .partition(|(name, _)| is_known(name));
    *arguments = kept;
    unknown.into_iter().map(|(name, _)| name).collect()
}

/// An error if there are any: the call was probably meant to do something else.
pub fn refuse(tool: &PreparedTool, unknown: &[String]) -> Result<()> {
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let named: Vec<String> = unknown.iter().take(NAMED).map(|it| name(it)).collect();
    let list = named.join("`, `");
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tool_name = tool.listed_name;
    let nearest = nearest(tool, first);
    let next = match (&nearest, named.as_slice()) {
        (Some(nearest), [_]) => format!("Did you mean `{nearest}`? Nothing was done."),
        _ => format!("Nothing was done. See the input schema of {tool_name}."),
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
    })))
}

/// Adds a warning for each to the answer of a read.
pub fn warn(tool: &PreparedTool, unknown: &[String], reply: Reply) -> Result<Reply> {
    if unknown.is_empty() {
        return Ok(reply);
    }
    let warnings = warnings(tool, unknown);
    Ok(match reply {
        Reply::Structured(json) => {
            let mut answer: Value = serde_json::from_str(&json).map_err(Error::internal)?;
            let Some(fields) = answer.as_object_mut() else {
                return Ok(Reply::Structured(json));
            };
            let own = fields.entry("warnings").or_insert_with(|| json!([]));
            if let Some(own) = own.as_array_mut() {
                let as_texts = wants_texts(tool);
                own.extend(warnings.into_iter().map(|warning| {
                    let message = warning.get("message").and_then(Value::as_str);
                    match message.filter(|_| as_texts) {
                        Some(message) => json!(format!("{UNKNOWN_ARGUMENT}: {message}")),
                        None => warning,
                    }
                }));
            }
            Reply::Structured(answer.to_string())
        }
        Reply::Content(mut blocks) => {
            let text = json!({ "warnings": warnings }).to_string();
            blocks.push(json!({ "type": "text", "text": text }));
            Reply::Content(blocks)
        }
        asks @ Reply::InputRequired { .. } => asks,
    })
}

fn warnings(tool: &PreparedTool, unknown: &[String]) -> Vec<Value> {
    let tool_name = tool.listed_name;
    let warning = |field: &String| {
        let (shown, nearest) = (name(field), nearest(tool, field));
        let meant = nearest.map_or(String::new(), |nearest| {
            format!(" Did you mean `{nearest}`?")
        });
        json!({
            "code": UNKNOWN_ARGUMENT,
            "message": format!("{tool_name} has no argument `{shown}`; it was ignored.{meant}"),
            "field": shown,
            "nearest": nearest,
        })
    };
    let mut warnings: Vec<Value> = unknown.iter().take(NAMED).map(warning).collect();
    if let more @ 1.. = unknown.len().saturating_sub(NAMED) {
        warnings.push(json!({
            "code": UNKNOWN_ARGUMENT,
            "message": format!("{more} more arguments are unknown and were ignored."),
            "field": null,
            "nearest": null,
        }));
    }
    warnings
}

/// Whether the tool's own warnings are plain texts, by its published schema.
fn wants_texts(tool: &PreparedTool) -> bool {
    let output = tool.tool.output.as_ref();
    let kind = output.and_then(|schema| schema.pointer("/properties/warnings/items/type"));
    kind.is_some_and(|kind| kind == "string")
}

fn nearest<'a>(tool: &'a PreparedTool, field: &str) -> Option<&'a str> {
    let known = tool.tool.input.get("properties").and_then(Value::as_object);
    text::nearest(
        field,
        known.into_iter().flatten().map(|(name, _)| name.as_str()),
    )
}

/// A name from the caller, cut short and without line breaks.
pub fn name(name: &str) -> String {
    let (kept, left_out) = text::cut(name, LONGEST_NAME);
    let end = if left_out > 0 { "…" } else { "" };
    format!("{}{end}", text::visible(kept))
}
