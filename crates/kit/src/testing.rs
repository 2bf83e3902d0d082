//! A counter driven without any wire: validation and transports are the desk's,
//! and are tested there.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    context::Context,
    counter::Counter,
    error::{Error, Result},
    handler::Run,
    reply::Reply,
    sql::{Budget, Store},
};

/// Normalises `arguments` and runs the tool on the counter's own store, as the
/// desk would after all its stations let the call pass.
pub async fn call(
    counter: &Counter,
    context: &Context,
    tool: &str,
    arguments: Value,
) -> Result<Value> {
    let tool = counter
        .tool(tool)
        .ok_or_else(|| Error::new("UNKNOWN_TOOL", tool))?;
    let mut context = context.clone();
    context.zone = counter.time_zone.clone();
    let mut arguments = arguments;
    if let Some(object) = arguments.as_object_mut() {
        tool.normalised(&context, object);
    }
    let reply = match tool.run.clone() {
        Run::Query(handler) => {
            let context = context.clone();
            store(counter)?
                .query(Budget::default(), move |sql| {
                    handler(&context, sql, arguments)
                })
                .await?
        }
        Run::Transaction(handler) => {
            let context = context.clone();
            store(counter)?
                .transaction(Budget::default(), move |sql| {
                    handler(&context, sql, arguments.clone())
                })
                .await?
        }
        Run::Prepared(prepare) => {
            let (store, context) = (store(counter)?, context.clone());
            let ready = store
                .query(Budget::default(), move |sql| {
                    prepare(&context, sql, arguments)
                })
                .await?;
            store.transaction(Budget::default(), ready).await?
        }
        Run::Async(handler) => handler(context, arguments).await?,
    };
    match reply {
        Reply::Structured(json) => serde_json::from_str(&json).map_err(Error::internal),
        Reply::Content(content) => Ok(Value::Array(content)),
        Reply::InputRequired { .. } => Err(Error::new("INPUT_REQUIRED", "The tool asks back.")),
    }
}

fn store(counter: &Counter) -> Result<&Arc<dyn Store>> {
    counter
        .store
        .as_ref()
        .ok_or_else(|| Error::internal("the counter has no store"))
}
