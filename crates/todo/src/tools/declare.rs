//! How this counter's tools are declared and run.

use std::sync::Arc;

use kit::{Context, Handler, Hints, Reply, Result, Run, Tool, Warning};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    errors,
    state::CounterState,
    txn::{Txn, UndoScope, Written},
};

/// Overwrites or deletes something; a second call may do more.
pub const DESTROYS: Hints = Hints {
    destructive: true,
    ..Hints::ADDS
};

/// Arguments of any tool that hold free text.
const FREE_TEXT: &[&str] = &[
    "title",
    "description",
    "subtasks",
    "content",
    "context",
    "decision",
    "rationale",
    "consequences",
    "reason",
    "query",
    "operations",
];

/// What all tools of this counter have in common.
pub fn published(mut tool: Tool) -> Arc<Tool> {
    if let Some(output) = &mut tool.output {
        loosen(output);
        shorten_unlisted(output);
    }
    if tool.rules.is_empty() {
        tool.rules = errors::RULES;
    }
    Arc::new(tool.personal(FREE_TEXT))
}

/// Drops `required`, which the seed's output schemas do not have, except in warnings.
fn loosen(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    schema.remove("required");
    if let Some(items) = schema.get_mut("items") {
        loosen(items);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let others = properties
            .iter_mut()
            .filter(|(name, _)| *name != "warnings");
        others.for_each(|(_, property)| loosen(property));
    }
}

/// See [`Unlisted`]: without its fields, a schema need not name the warnings either.
fn shorten_unlisted(schema: &mut Value) {
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|properties| properties.keys().all(|name| name == "warnings")) {
        *schema = json!({ "type": "object" });
    }
}

/// The answer to a change: what the tool says, and how to undo it.
#[derive(Serialize, JsonSchema)]
pub struct Changed<O> {
    #[serde(flatten)]
    output: O,
    // For `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    change_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

impl<O> From<Written<O>> for Changed<O> {
    fn from(written: Written<O>) -> Self {
        let Written {
            output,
            change_id,
            warnings,
        } = written;
        Self {
            output,
            change_id,
            warnings,
        }
    }
}

/// Publishes an object without its fields. The list of tools has to be short, and
/// the answers of our own tools explain themselves. For the same reason, fields
/// that the seed does not have are left out of the schemas of its tools.
#[derive(JsonSchema)]
pub struct Unlisted {}

/// A tool that changes files in one transaction.
pub fn writes<I, O>(state: &Arc<CounterState>, apply: Apply<I, O>) -> Handler<I, Changed<O>>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    Handler::from_run(run(state, move |state, context, input| {
        change(state, context, input, apply)
    }))
}

/// The same for a tool that the seed does not have.
pub fn writes_unlisted<I, O>(state: &Arc<CounterState>, apply: Apply<I, O>) -> Handler<I, Unlisted>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    Handler::from_run(run(state, move |state, context, input| {
        change(state, context, input, apply)
    }))
}

type Apply<I, O> = fn(&mut Txn<'_>, &I) -> Result<O>;

fn change<I, O>(
    state: &CounterState,
    context: &Context,
    input: &I,
    apply: Apply<I, O>,
) -> Result<Changed<O>> {
    let written = state.write(context, UndoScope::LastChange, |txn| apply(txn, input))?;
    Ok(written.into())
}

/// A tool that may wait for files.
pub fn blocking<I, O>(state: &Arc<CounterState>, handler: Handle<I, O>) -> Handler<I, O>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    Handler::from_run(run(state, handler))
}

/// The same for a tool that the seed does not have.
pub fn unlisted<I, O>(state: &Arc<CounterState>, handler: Handle<I, O>) -> Handler<I, Unlisted>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    Handler::from_run(run(state, handler))
}

type Handle<I, O> = fn(&CounterState, &Context, &I) -> Result<O>;

/// Runs a handler on a thread that may wait for files.
fn run<I, O, H>(state: &Arc<CounterState>, handler: H) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    H: Fn(&CounterState, &Context, &I) -> Result<O> + Copy + Send + Sync + 'static,
{
    let state = Arc::clone(state);
    Run::Async(Arc::new(move |context, arguments| {
        let state = Arc::clone(&state);
        Box::pin(async move {
            state
                .run_blocking(move |state| {
                    let input: I = kit::handler::typed(arguments)?;
                    let output = handler(state, &context, &input);
                    state.index_in_background();
                    Reply::structured(&output?)
                })
                .await
        })
    }))
}
