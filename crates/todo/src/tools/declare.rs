//! How this counter's tools are declared and run.

use std::sync::Arc;

use kit::{Context, Handler, Hints, Reply, Result, Run, Tool};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{errors, state::CounterState, txn::Txn};

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
    }
    if tool.rules.is_empty() {
        tool.rules = errors::RULES;
    }
    Arc::new(tool.personal(FREE_TEXT))
}

/// Drops from an output schema what the seed's schemas do not have: required
/// fields, and bounds that only come from Rust's unsigned integers.
fn loosen(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    schema.remove("required");
    if schema.get("type") == Some(&"integer".into()) && schema.get("minimum") == Some(&0.into()) {
        schema.remove("minimum");
        schema.remove("maximum");
    }
    if let Some(items) = schema.get_mut("items") {
        loosen(items);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(loosen);
    }
}

/// A tool that changes files in one transaction.
pub fn writes<I, O>(
    state: &Arc<CounterState>,
    apply: fn(&mut Txn<'_>, &I) -> Result<O>,
) -> Handler<I, O>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    blocking(state, move |state, context, input| {
        state.write(context, |txn| apply(txn, input))
    })
}

/// Runs a handler on a thread that may wait for files.
pub fn blocking<I, O, H>(state: &Arc<CounterState>, handler: H) -> Handler<I, O>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    H: Fn(&CounterState, &Context, &I) -> Result<O> + Copy + Send + Sync + 'static,
{
    let state = Arc::clone(state);
    Handler::from_run(Run::Async(Arc::new(move |context, arguments| {
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
    })))
}
