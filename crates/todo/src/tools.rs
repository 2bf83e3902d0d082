//! The counter's tools, one file each: input, output, description, handler.
//!
//! A tool that changes something has a function `apply`, which `batch` calls too.

mod arguments;
pub mod batch;
mod check;
pub mod create_adr;
pub mod create_task;
pub mod delete_task;
mod file_search;
pub mod get_adr;
pub mod get_context;
pub mod get_task;
pub mod link_tasks;
pub mod list_adrs;
pub mod list_tasks;
pub mod reorder_task;
pub mod search_adrs;
pub mod search_contexts;
pub mod search_tasks;
pub mod undo;
pub mod update_adr_status;
pub mod update_context;
pub mod update_task;

use std::sync::Arc;

use kit::{Context, Handler, Hints, Reply, Result, Run, Tool};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{state::CounterState, txn::Txn};

/// Overwrites or deletes something; a second call may do more.
const DESTROYS: Hints = Hints {
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

fn default_list_limit() -> usize {
    50
}

pub(crate) async fn on_a_thread<T: Send + 'static>(
    state: Arc<CounterState>,
    work: impl FnOnce(&Arc<CounterState>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let blocking = state.blocking.clone();
    blocking.run(move || work(&state)).await
}

/// A tool that changes files in one transaction.
fn writes<I, O>(
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
fn blocking<I, O, H>(state: &Arc<CounterState>, handler: H) -> Handler<I, O>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    H: Fn(&CounterState, &Context, &I) -> Result<O> + Copy + Send + Sync + 'static,
{
    let state = Arc::clone(state);
    Handler::untyped(Run::Async(Arc::new(move |context, arguments| {
        let state = Arc::clone(&state);
        Box::pin(on_a_thread(state, move |state| {
            let input: I = kit::handler::typed(arguments)?;
            let output = handler(state, &context, &input);
            state.look_ahead();
            Reply::structured(&output?)
        }))
    })))
}
