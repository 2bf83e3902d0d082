//! What a person does at the console runs as every other call, with the console as its
//! caller.

use std::sync::Arc;

use desk::{
    Desk, ServedCounter,
    methods::TOOLS_CALL,
    pipeline::{Answer, Refusal, ToolCall},
    stations::identify::Credentials,
};
use kit::context::{Language, NoClient};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Calls a tool for the person who looks at the page.
pub async fn call(
    desk: &Arc<Desk>,
    served: &ServedCounter,
    tool: &str,
    arguments: Map<String, Value>,
    language: Language,
) -> Result<Answer, Refusal> {
    let admitted = desk
        .admit(served, &Credentials::Console, TOOLS_CALL.name)
        .await?;
    let call = ToolCall {
        admitted,
        name: tool.to_owned(),
        arguments,
        client: Arc::new(NoClient),
        cancel: CancellationToken::new(),
        language: Some(language),
    };
    desk.call(served, call).await
}
