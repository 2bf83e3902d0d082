//! Calls inside the arguments of another call, as in a batch. Each passes the same
//! stations as a separate call, before any of them runs. If one is refused, the whole
//! call is.

use std::sync::Arc;

use kit::{Context, Error, Result, error::INVALID_ARGUMENT, tool::InnerCall};
use serde_json::{Map, Value, json};

use super::{audit::OpenRecord, authorize, identify::Identified, unknown_arguments, validate};
use crate::window::{FoundTool, PreparedTool, Window};

/// The tools that the arguments call, in order. Replaces aliases by the tools' own
/// names, and normalises arguments.
pub fn check<'w>(
    window: &'w Window,
    tool: &PreparedTool,
    who: &Identified,
    context: &Context,
    arguments: &mut Value,
    record: &mut OpenRecord<'_>,
) -> Result<Vec<&'w Arc<PreparedTool>>> {
    let (Some(inner_calls), Some(arguments)) = (&tool.tool.inner_calls, arguments.as_object_mut())
    else {
        return Ok(Vec::new());
    };
    let calls = inner_calls(context, arguments);
    let found: Vec<FoundTool<'_>> = calls.iter().map(|call| window.find(call.tool)).collect();
    record.set_inner_calls(found.iter().map(FoundTool::name));
    let pairs = calls.into_iter().zip(found);
    let checked = pairs.enumerate().map(|(index, (call, found))| {
        one(window, who, context, call, &found).map_err(|error| numbered(error, index + 1))
    });
    checked.collect()
}

fn one<'w>(
    window: &Window,
    who: &Identified,
    context: &Context,
    call: InnerCall<'_>,
    found: &FoundTool<'w>,
) -> Result<&'w Arc<PreparedTool>> {
    let tool = match found {
        FoundTool::Tool(tool) => *tool,
        FoundTool::Hidden { name, reason } => return Err(authorize::not_offered(name, reason)),
        FoundTool::Unknown => return Err(unknown_tool(window, call.tool)),
    };
    if tool.tool.inner_calls.is_some() {
        let name = tool.listed_name;
        return Err(Error::new(
            INVALID_ARGUMENT,
            format!("{name} runs other tools, and can't be one of them."),
        )
        .next("Put its calls where it stands.")
        .details(json!({ "tool": name })));
    }
    authorize::check(who, tool)?;
    tool.tool.name.clone_into(call.tool);
    tool.tool.normalised(context, call.arguments);
    unknown_arguments::refuse(tool, &unknown_arguments::take(tool, call.arguments))?;
    let arguments = std::mem::take(call.arguments);
    let valid = validate::input_except(tool, arguments, &call.filled_in_later)?;
    if let Value::Object(valid) = valid {
        *call.arguments = valid;
    }
    Ok(tool)
}

fn unknown_tool(window: &Window, name: &str) -> Error {
    let error = Error::new(
        INVALID_ARGUMENT,
        format!("There is no tool {}.", unknown_arguments::name(name)),
    );
    match window.nearest_tool(name) {
        Some(nearest) => error.next(format!("Did you mean {nearest}?")),
        None => error.next("See tools/list."),
    }
}

/// Adds which of the calls failed.
fn numbered(mut error: Error, number: usize) -> Error {
    error.message = format!("Operation {number}: {} Nothing was changed.", error.message);
    error.japanese = error
        .japanese
        .map(|text| format!("{number}番目の操作: {text}何も変更していません。"));
    let mut details = match error.details.take() {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    details.insert("operation".into(), number.into());
    error.details(Value::Object(details))
}
