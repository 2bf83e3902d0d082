//! `madoguchi call COUNTER TOOL [JSON]`: one tool call, in process or against a
//! running desk. Both ways pass the same pipeline.

mod connect;

use std::{io::Read, process::ExitCode, sync::Arc};

use desk::{language, methods::TOOLS_CALL, pipeline::ToolCall, stations::identify::Credentials};
use http_body_util::{BodyExt, Full};
use hyper::{Request, body::Bytes};
use hyper_util::rt::TokioIo;
use kit::{Error, Result};
use serde_json::{Map, Value, json};
use server::wire::{
    client::PlainClient,
    definitions::PublishedCounter,
    errors::Fault,
    tool_result::{Recipient, direct_response},
};

use crate::{
    cli::{Call, Global},
    open,
    output::{pretty, print},
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Call) -> Result<ExitCode> {
    let tool_arguments = parse(&arguments.arguments)?;
    let response = match &arguments.url {
        Some(url) => on_one_thread(remote(url, arguments, tool_arguments))?,
        None => on_one_thread(local(global, arguments, tool_arguments))?,
    };
    show(&response, arguments.json)
}

fn parse(text: &str) -> Result<Map<String, Value>> {
    let mut stdin = String::new();
    let text = if text == "-" {
        std::io::stdin()
            .read_to_string(&mut stdin)
            .map_err(Error::internal)?;
        stdin.as_str()
    } else {
        text
    };
    serde_json::from_str(text).map_err(|error| {
        Error::new(
            "INVALID_JSON",
            format!("The arguments are not a JSON object: {error}."),
        )
        .next(r#"Write them like '{"date": "2026-11-15"}'."#)
    })
}

async fn local(
    global: &Global,
    arguments: &Call,
    tool_arguments: Map<String, Value>,
) -> Result<Value> {
    let config = open::configuration(global, &arguments.options)?;
    desk::log::init(&config.settings.log);
    let opened = open::desk(global, config, &arguments.options, Some(&arguments.counter)).await?;
    let desk = Arc::clone(&opened.desk);
    desk::background::once(&desk).await;
    // So that an approval given in another process is noticed at once.
    tokio::spawn(desk::watch::watch(Arc::clone(&desk)));
    let window = desk
        .window(&arguments.counter)
        .ok_or_else(|| Error::internal("the counter that was opened is missing"))?;
    let refused = |fault: Fault| Error::new("REFUSED", fault.message);
    let admitted = desk
        .admit(window, &Credentials::LocalUser, TOOLS_CALL.name)
        .await
        .map_err(|refusal| refused(Fault::from(&refusal)))?;
    let call = ToolCall {
        admitted,
        name: arguments.tool.clone(),
        arguments: tool_arguments,
        client: Arc::new(PlainClient {
            capabilities: json!({}),
            stateless: true,
        }),
        cancel: Default::default(),
        language: language::of_environment(),
    };
    let answer = desk.call(window, call).await;
    // Also after an error, so that the call is recorded.
    opened.close().await?;
    let answer = answer.map_err(|refusal| refused(Fault::from(&refusal)))?;
    let to = Recipient {
        counter: &PublishedCounter::new(window),
        caller: "local",
        tool: &arguments.tool,
        stateless: true,
    };
    let (_, text) = direct_response("1", answer, &to, false);
    serde_json::from_str(&text).map_err(Error::internal)
}

async fn remote(url: &str, arguments: &Call, tool_arguments: Map<String, Value>) -> Result<Value> {
    let unreachable = |what: String| {
        Error::new("UNREACHABLE", format!("{url} can't be reached: {what}."))
            .next("Is `madoguchi serve` running there?")
    };
    let uri: hyper::Uri = format!("{}/mcp/{}", url.trim_end_matches('/'), arguments.counter)
        .parse()
        .map_err(|_| {
            Error::new("INVALID_URL", format!("`{url}` is not a URL."))
                .next("Write it like http://127.0.0.1:8010.")
        })?;
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    let stream = connect::connect(&uri, arguments.ca.as_deref()).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| unreachable(error.to_string()))?;
    tokio::spawn(connection);
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": arguments.tool,
            "arguments": tool_arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": server::wire::STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let mut request = Request::post(uri.path())
        .header("host", host)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", server::wire::STATELESS)
        .header("mcp-method", "tools/call")
        .header("mcp-name", &arguments.tool);
    if let Some(key) = &arguments.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let request = request
        .body(Full::new(Bytes::from(body.to_string())))
        .map_err(|error| Error::new("INVALID_TOOL_NAME", format!("{error}.")))?;
    let response = sender
        .send_request(request)
        .await
        .map_err(|error| unreachable(error.to_string()))?;
    let status = response.status();
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| unreachable(error.to_string()))?
        .to_bytes();
    serde_json::from_slice(&body).map_err(|_| {
        let text = String::from_utf8_lossy(&body);
        Error::new(
            "REFUSED",
            format!("The desk answered {status}: {}", text.trim()),
        )
    })
}

fn show(response: &Value, whole: bool) -> Result<ExitCode> {
    if let Some(error) = response.get("error") {
        let message = error
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or("refused");
        return Err(Error::new("REFUSED", message));
    }
    let null = Value::Null;
    let result = response.get("result").unwrap_or(&null);
    let shown = if whole {
        result
    } else {
        result
            .get("structuredContent")
            .or_else(|| result.get("content"))
            .unwrap_or(result)
    };
    print(&pretty(shown))?;
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
