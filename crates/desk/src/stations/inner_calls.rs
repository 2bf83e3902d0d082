//! Calls inside the arguments of another call, as in a batch, and tools whose work a
//! call does too. Each inner call passes the same stations as a separate call, before
//! any of them runs. If one is refused, the whole call is.

use std::sync::Arc;

use kit::{Context, Error, Result, error::INVALID_ARGUMENT, tool::InnerCall};
use serde_json::{Map, Value, json};

use super::{audit::OpenRecord, authorize, identify::Identified, unknown_arguments, validate};
use crate::served_counter::{FoundTool, PreparedTool, ServedCounter};

/// The other tools that a call uses. The caller may use all of them.
#[derive(Default)]
pub struct OtherTools<'w> {
    /// The tools that the arguments call, in order.
    pub inner: Vec<&'w Arc<PreparedTool>>,
    /// The tools whose work this call, or one inside, does too.
    pub implied: Vec<ImpliedTool<'w>>,
}

pub struct ImpliedTool<'w> {
    pub tool: &'w PreparedTool,
    /// The name of the tool that does its work.
    by: &'static str,
}

impl ImpliedTool<'_> {
    /// Tells a caller why a tool is refused that they did not name.
    pub fn explain(&self, error: Error) -> Error {
        explain(error, self.by, self.tool.listed_name)
    }
}

/// Finds and checks the other tools. Replaces aliases in inner calls by the tools' own
/// names, and normalises their arguments.
pub fn check<'w>(
    served: &'w ServedCounter,
    tool: &PreparedTool,
    who: &Identified,
    context: &Context,
    arguments: &mut Value,
    record: &mut OpenRecord<'_>,
) -> Result<OtherTools<'w>> {
    let mut others = OtherTools::default();
    let Some(arguments) = arguments.as_object_mut() else {
        return Ok(others);
    };
    others.implied = implied(served, who, tool, arguments)?;
    let Some(inner_calls) = &tool.tool.inner_calls else {
        return Ok(others);
    };
    let calls = inner_calls(context, arguments);
    let found: Vec<FoundTool<'_>> = calls.iter().map(|call| served.find(call.tool)).collect();
    record.set_inner_calls(found.iter().map(FoundTool::name));
    for (index, (mut call, found)) in calls.into_iter().zip(found).enumerate() {
        let checked = one(served, who, context, &mut call, &found).and_then(|tool| {
            let implied = implied(served, who, tool, call.arguments)?;
            Ok((tool, implied))
        });
        let (tool, implied) = checked.map_err(|error| numbered(error, index + 1))?;
        others.inner.push(tool);
        others.implied.extend(implied);
    }
    Ok(others)
}

fn implied<'w>(
    served: &'w ServedCounter,
    who: &Identified,
    tool: &PreparedTool,
    arguments: &Map<String, Value>,
) -> Result<Vec<ImpliedTool<'w>>> {
    let by = tool.listed_name;
    let names = tool.tool.implied_tools.map(|name| name(arguments));
    let tools = names.unwrap_or_default().iter().map(|name| {
        let tool = authorize::offered(served, who, name);
        let tool = tool.map_err(|error| explain(error, by, name))?;
        Ok(ImpliedTool { tool, by })
    });
    tools.collect()
}

fn explain(mut error: Error, by: &str, implied: &str) -> Error {
    error.message = format!(
        "{} With these arguments, {by} does what {implied} does.",
        error.message
    );
    error
}

fn one<'w>(
    served: &ServedCounter,
    who: &Identified,
    context: &Context,
    call: &mut InnerCall<'_>,
    found: &FoundTool<'w>,
) -> Result<&'w Arc<PreparedTool>> {
    let tool = match found {
        FoundTool::Tool(tool) => *tool,
        FoundTool::Hidden { name, reason } => return Err(authorize::not_offered(name, reason)),
        FoundTool::Unknown => return Err(unknown_tool(served, call.tool)),
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
    let arguments = std::mem::take(&mut *call.arguments);
    let valid = validate::input_except(tool, arguments, &call.filled_in_later)?;
    if let Value::Object(valid) = valid {
        *call.arguments = valid;
    }
    Ok(tool)
}

fn unknown_tool(served: &ServedCounter, name: &str) -> Error {
    let error = Error::new(
        INVALID_ARGUMENT,
        format!("There is no tool {}.", unknown_arguments::name(name)),
    );
    match served.nearest_tool(name) {
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
