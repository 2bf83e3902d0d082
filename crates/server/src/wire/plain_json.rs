//! Tools without the protocol: one JSON object in, one out. For scripts and
//! programs that were written before there was a protocol to speak.

use std::sync::Arc;

use desk::{
    Desk,
    pipeline::{Admitted, Refusal, ToolCall},
    stations::identify::Identified,
};
use http::HeaderMap;
use kit::{Error, error::MISSING_CAPABILITY};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    client::PlainClient,
    definitions::PublishedCounter,
    errors::{self, Fault},
    inbound, language,
    tool_result::{ToolResult, text_block},
};

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Request {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

/// `{tools}`, all that the caller may use.
pub fn tool_list(published: &PublishedCounter, who: &Identified) -> String {
    let listed = published.listed_for(who, &published.definitions.tools.json);
    json!({ "tools": listed.items }).to_string()
}

/// Whether a list was asked for in JSON, if in anything.
pub fn check_list_request(body: &[u8]) -> Result<(), Fault> {
    if body.trim_ascii().is_empty() {
        return Ok(());
    }
    parse::<Map<String, Value>>(body, "Send {}, or nothing.").map(drop)
}

/// A call that is `{name, arguments}`.
pub struct PlainCall(Request);

impl PlainCall {
    pub fn read(body: &[u8]) -> Result<Self, Fault> {
        parse(body, r#"Send {"name": "…", "arguments": {…}}."#).map(Self)
    }

    /// The tool's own fields beside the protocol's.
    pub async fn serve(
        self,
        desk: &Arc<Desk>,
        published: &PublishedCounter,
        admitted: Admitted,
        headers: &HeaderMap,
    ) -> Result<String, Refusal> {
        let call = ToolCall {
            admitted,
            name: self.0.name,
            arguments: self.0.arguments.unwrap_or_default(),
            client: Arc::new(PlainClient {
                capabilities: json!({}),
                stateless: true,
            }),
            cancel: CancellationToken::new(),
            language: language::of_headers(headers),
        };
        let answer = desk.call(published, call).await?;
        let (call, error_shape) = (answer.call, published.error_shape());
        let result = ToolResult::new(answer.result, call, error_shape);
        let result =
            result.unwrap_or_else(|_| ToolResult::refused(cannot_be_asked(), call, error_shape));
        Ok(result.plain())
    }
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8], wanted: &str) -> Result<T, Fault> {
    let fault = |code, message| Fault {
        code,
        message,
        data: None,
    };
    if inbound::too_complex(body) {
        let message = "Invalid Request: nested too deeply.".to_owned();
        return Err(fault(-32600, message));
    }
    serde_json::from_slice(body).map_err(|error| {
        if error.is_data() {
            fault(-32602, format!("Invalid params: {error}. {wanted}"))
        } else {
            fault(-32700, format!("Parse error: {error}. {wanted}"))
        }
    })
}

fn cannot_be_asked() -> Error {
    Error::new(
        MISSING_CAPABILITY,
        "This tool asks back, and a plain call can't be asked.",
    )
    .next("Call it over MCP.")
}

/// A refusal, or a request that could not be read, in the same shape.
pub fn error_body(fault: &Fault) -> String {
    let error = errors::error_object(fault);
    let content = text_block(&fault.message);
    format!(r#"{{"error":{error},"content":{content},"isError":true}}"#)
}
