//! Cards for tools without their own: a list of the arguments.

use std::sync::Arc;

use kit::{
    Context,
    approval::{Card, CardLine},
};
use serde_json::Value;

use crate::served_counter::PreparedTool;

pub fn of_arguments(tool: &PreparedTool, arguments: &Value) -> Card {
    let arguments = arguments.as_object().into_iter().flatten();
    Card {
        summary: tool.tool.title.to_owned(),
        lines: arguments
            .map(|(name, value)| CardLine::new(name, text(value)))
            .collect(),
        ..Card::default()
    }
}

/// Lists every inner call with all of its arguments.
pub fn of_inner_calls(
    tool: &PreparedTool,
    context: &Context,
    arguments: &Value,
    inner: &[&Arc<PreparedTool>],
) -> Card {
    let mut lines = Vec::new();
    let mut arguments = arguments.as_object().cloned().unwrap_or_default();
    let find = tool.tool.inner_calls.as_ref();
    let calls = find.map(|find| find(context, &mut arguments));
    let calls = calls.into_iter().flatten().zip(inner);
    for (index, (call, tool)) in calls.enumerate() {
        let name = format!("{}. {}", index + 1, tool.listed_name);
        if call.arguments.is_empty() {
            lines.push(CardLine::new(&name, tool.tool.title));
        }
        let arguments = call.arguments.iter();
        lines.extend(
            arguments.map(|(argument, value)| {
                CardLine::new(&format!("{name}: {argument}"), text(value))
            }),
        );
    }
    let names: Vec<&str> = inner.iter().map(|tool| tool.listed_name).collect();
    let (title, count) = (tool.tool.title, names.len());
    Card {
        summary: format!("{title} ({count}): {}", names.join(", ")),
        lines,
        once_only: true,
        ..Card::default()
    }
}

/// For a call that needs approval because of what other tools do. A standing grant
/// would be for the called tool alone, which does not always do that.
pub fn with_implied(mut card: Card, names: &[&str]) -> Card {
    card.lines.push(CardLine::new("includes", names.join(", ")));
    card.once_only = true;
    card
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
