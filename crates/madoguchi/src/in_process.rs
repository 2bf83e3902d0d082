//! A call of a tool by the local user, in this process.

use std::sync::Arc;

use desk::{
    Desk, language, methods::TOOLS_CALL, pipeline::ToolCall, stations::identify::Credentials,
};
use kit::{Error, Result, context::Client};
use serde_json::{Map, Value, json};
use server::wire::{
    client::PlainClient,
    definitions::PublishedCounter,
    errors::Fault,
    tool_result::{Recipient, direct_response},
};

/// A refusal of the desk, for the person at the command line.
pub fn refused(counter: &str, code: i64, message: &str) -> Error {
    const UNKNOWN_TOOL: i64 = -32602;
    let ends = message.ends_with(['.', '?', '!']);
    let message = format!("{message}{}", if ends { "" } else { "." });
    let error = Error::new("REFUSED", message);
    match code {
        401 => error.next(
            "Create a key where the desk runs, and pass it with --key KEY or MADOGUCHI_KEY: \
             madoguchi keys create NAME",
        ),
        UNKNOWN_TOOL => error.next(format!("List the tools: madoguchi tools {counter}")),
        _ => error,
    }
}

/// A client that can't be asked anything, and to which no progress is shown.
pub fn silent_client() -> Arc<dyn Client> {
    Arc::new(PlainClient {
        capabilities: json!({}),
        stateless: true,
    })
}

/// The response as a client would get it. It passes the whole pipeline.
pub async fn call(
    desk: &Arc<Desk>,
    client: Arc<dyn Client>,
    counter: &str,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Value> {
    let served = desk
        .counter(counter)
        .ok_or_else(|| Error::internal("the counter that was opened is missing"))?;
    let refused = |fault: Fault| refused(counter, i64::from(fault.code), &fault.message);
    let admitted = desk
        .admit(served, &Credentials::LocalUser, TOOLS_CALL.name)
        .await
        .map_err(|refusal| refused(Fault::from(&refusal)))?;
    let call = ToolCall {
        admitted,
        name: tool.to_owned(),
        arguments,
        client,
        cancel: Default::default(),
        language: language::of_environment(),
    };
    let answer = desk.call(served, call).await;
    let answer = answer.map_err(|refusal| refused(Fault::from(&refusal)))?;
    let to = Recipient {
        counter: &PublishedCounter::new(served),
        caller: "local",
        tool,
        stateless: true,
    };
    let (_, text) = direct_response("1", answer, &to, false);
    serde_json::from_str(&text).map_err(Error::internal)
}
