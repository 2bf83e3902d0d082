//! `batch`: several changes in one write, all of them or none.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Error, Result, Tool, tool::InnerCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    arguments, create_adr, create_task,
    declare::{DESTROYS, writes_unlisted},
    delete_task, link_tasks, reorder_task, update_adr_status, update_context, update_task,
};
use crate::{errors, state::CounterState, txn::Txn};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{ "operations": [{ "tool": "create_task", "arguments": { "title": "a" } }] }]))]
pub struct Input {
    #[schemars(length(max = MOST_OPERATIONS))]
    operations: Vec<Operation>,
}

#[derive(Deserialize, JsonSchema)]
struct Operation {
    tool: String,
    #[schemars(with = "AnyObject")]
    arguments: Map<String, Value>,
}

#[derive(Serialize)]
pub struct Output {
    results: Vec<Value>,
}

// Publishes `{"type": "object"}` for values whose shape depends on the tool.
#[derive(JsonSchema)]
struct AnyObject {}

const MOST_OPERATIONS: usize = 50;
const TOOLS: [&str; 8] = [
    "create_task",
    "update_task",
    "delete_task",
    "reorder_task",
    "link_tasks",
    "update_context",
    "create_adr",
    "update_adr_status",
];

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "batch",
            title: "Batch",
            description: "Several changes, all or none; \"$1\" is what the first created. 一括で変更します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes_unlisted(state, apply),
    )
    .in_japanese("まとめて変更")
    .normalise(|_, arguments| arguments::list(arguments, "operations"))
    .inner_calls(inner_calls)
}

fn inner_calls<'a>(_: &Context, arguments: &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> {
    calls_in(arguments, "operations", |value| referred(value).is_some())
}

/// The calls in a list of `{"tool", "arguments"}`. `is_open` selects values that
/// are not known yet.
pub fn calls_in<'a>(
    arguments: &'a mut Map<String, Value>,
    name: &str,
    is_open: fn(&Value) -> bool,
) -> Vec<InnerCall<'a>> {
    let operations = arguments.get_mut(name).and_then(Value::as_array_mut);
    let operations = operations.into_iter().flatten().filter_map(|operation| {
        let (mut tool, mut arguments) = (None, None);
        for (name, value) in operation.as_object_mut()? {
            match (name.as_str(), value) {
                ("tool", Value::String(name)) => tool = Some(name),
                ("arguments", Value::Object(fields)) => arguments = Some(fields),
                _ => {}
            }
        }
        let arguments = arguments?;
        let open = arguments.iter().filter(|(_, value)| is_open(value));
        Some(InnerCall {
            tool: tool?,
            filled_in_later: open.map(|(name, _)| name.clone()).collect(),
            arguments,
        })
    });
    operations.collect()
}

fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    if input.operations.is_empty() || input.operations.len() > MOST_OPERATIONS {
        let message = "A batch has 1 to 50 operations.";
        let count = input.operations.len().to_string();
        return Err(errors::invalid_argument("operations", &count, message));
    }
    let mut results: Vec<Value> = Vec::with_capacity(input.operations.len());
    for (index, operation) in input.operations.iter().enumerate() {
        let result = run_operation(txn, operation, &results)
            .map_err(|error| with_operation(error, index))?;
        results.push(result);
    }
    Ok(Output { results })
}

fn run_operation(txn: &mut Txn<'_>, operation: &Operation, before: &[Value]) -> Result<Value> {
    let mut arguments = operation.arguments.clone();
    for value in arguments.values_mut() {
        if let Some(made) = reference(value, before)? {
            *value = made;
        }
    }
    let as_given: fn(&Context, &mut Map<String, Value>) = |_, _| {};
    match operation.tool.as_str() {
        "create_task" => run(txn, arguments, create_task::normalise, create_task::apply),
        "update_task" => run(txn, arguments, update_task::normalise, update_task::apply),
        "delete_task" => run(txn, arguments, as_given, delete_task::apply),
        "reorder_task" => run(txn, arguments, as_given, reorder_task::apply),
        "link_tasks" => run(txn, arguments, link_tasks::normalise, link_tasks::apply),
        "update_context" => run(txn, arguments, as_given, update_context::apply),
        "create_adr" => run(txn, arguments, create_adr::normalise, create_adr::apply),
        "update_adr_status" => run(
            txn,
            arguments,
            update_adr_status::normalise,
            update_adr_status::apply,
        ),
        other => {
            let message = format!("A batch can run {}.", TOOLS.join(", "));
            Err(errors::invalid_argument("tool", other, &message))
        }
    }
}

fn run<I: DeserializeOwned, O: Serialize>(
    txn: &mut Txn<'_>,
    mut arguments: Map<String, Value>,
    normalise: fn(&Context, &mut Map<String, Value>),
    apply: fn(&mut Txn<'_>, &I) -> Result<O>,
) -> Result<Value> {
    normalise(txn.context, &mut arguments);
    let input: I = kit::handler::typed(Value::Object(arguments))?;
    serde_json::to_value(apply(txn, &input)?).map_err(Error::internal)
}

/// The number in `$2`.
fn referred(value: &Value) -> Option<usize> {
    value.as_str()?.strip_prefix('$')?.parse().ok()
}

/// `$2` is what the second operation made.
fn reference(value: &Value, before: &[Value]) -> Result<Option<Value>> {
    let Some(number) = referred(value) else {
        return Ok(None);
    };
    let made = number
        .checked_sub(1)
        .and_then(|index| before.get(index))
        .and_then(|result| result.get("task_id").or_else(|| result.get("adr_number")));
    match made {
        Some(made) => Ok(Some(made.clone())),
        None => {
            let message = "This refers to an operation that created nothing or comes later.";
            Err(errors::invalid_argument(
                "arguments",
                &value.to_string(),
                message,
            ))
        }
    }
}

/// Adds the number of the operation to an error.
fn with_operation(mut error: Error, index: usize) -> Error {
    error.message = format!(
        "Operation {}: {} Nothing was changed.",
        index + 1,
        error.message
    );
    let mut details = error.details.take().unwrap_or_else(|| json!({}));
    if let Some(details) = details.as_object_mut() {
        details.insert("operation".into(), (index + 1).into());
    }
    error.details(details)
}
