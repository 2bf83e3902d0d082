//! Runs a tool as the desk would.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    context::Context,
    counter::Counter,
    error::{Error, Result},
    handler::Run,
    reply::Reply,
    sql::{Budget, Sql, Store},
    tool::Tool,
};

/// Normalises `arguments` and runs the tool on the counter's own store, as the
/// desk would after all its stations let the call pass.
pub async fn call(
    counter: &Counter,
    context: &Context,
    tool: &str,
    mut arguments: Value,
) -> Result<Value> {
    let tool = counter
        .tool(tool)
        .ok_or_else(|| Error::new("UNKNOWN_TOOL", tool))?;
    let context = in_zone(counter, context);
    if let Some(object) = arguments.as_object_mut() {
        tool.normalised(&context, object);
    }
    run(counter, tool, context, arguments).await
}

/// The context of a call at this counter.
pub fn in_zone(counter: &Counter, context: &Context) -> Context {
    let mut context = context.clone();
    context.zone = counter.time_zone.clone();
    context
}

/// The answer as JSON; content blocks as a list.
pub async fn run(
    counter: &Counter,
    tool: &Tool,
    context: Context,
    arguments: Value,
) -> Result<Value> {
    let reply = match tool.run.clone() {
        Run::Query(handler) => {
            let work = move |sql: &mut dyn Sql| handler(&context, sql, arguments);
            store(counter)?.query(Budget::default(), work).await?
        }
        Run::Transaction(handler) => {
            let work = move |sql: &mut dyn Sql| handler(&context, sql, arguments.clone());
            store(counter)?.transaction(Budget::default(), work).await?
        }
        Run::Prepared(prepare) => {
            let store = store(counter)?;
            let work = move |sql: &mut dyn Sql| prepare(&context, sql, arguments);
            let ready = store.query(Budget::default(), work).await?;
            store.transaction(Budget::default(), ready).await?
        }
        Run::Async(handler) => handler(context, arguments).await?,
    };
    match reply {
        Reply::Structured(json) | Reply::Illustrated { json, .. } => {
            serde_json::from_str(&json).map_err(Error::internal)
        }
        Reply::Kept(kept) => serde_json::from_str(&kept.json).map_err(Error::internal),
        Reply::Content(content) => Ok(Value::Array(content)),
        Reply::InputRequired { .. } => Err(Error::new("INPUT_REQUIRED", "The tool asks back.")),
    }
}

pub fn store(counter: &Counter) -> Result<&Arc<dyn Store>> {
    counter
        .store
        .as_ref()
        .ok_or_else(|| Error::internal("the counter has no store"))
}
