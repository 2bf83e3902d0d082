//! `madoguchi call COUNTER TOOL [JSON]`: one tool call, in process or against a
//! running desk. Both ways pass the same pipeline.

mod connect;
mod progress;
mod response;

use std::{io::Read, process::ExitCode, sync::Arc};

use connect::UNREACHABLE;
use http_body_util::Full;
use hyper::{Request, body::Bytes};
use hyper_util::rt::TokioIo;
use kit::{Error, Result};
use progress::Progress;
use serde_json::{Map, Value, json};

use crate::{
    cli::{Call, CounterOptions, Global},
    in_process, open,
    output::{pretty, print},
    running,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Call) -> Result<ExitCode> {
    let tool_arguments = parse(&arguments.arguments)?;
    let response = match &arguments.url {
        Some(url) => on_one_thread(remote(url, arguments, tool_arguments))
            .map_err(|error| with_running_desks(global, error))?,
        None => on_one_thread(local(global, arguments, tool_arguments))?,
    };
    show(&response, arguments)
}

/// Names the desks that run on this data, if the one that was called can't be reached.
fn with_running_desks(global: &Global, error: Error) -> Error {
    if error.code != UNREACHABLE {
        return error;
    }
    let config = open::configuration(global, &CounterOptions::default());
    let desks = config.map_or_else(|_| Vec::new(), |it| running::desks_beside(global, &it));
    let before = error.next.clone().unwrap_or_default();
    match desks.first() {
        Some(desk) => {
            let running = desk.in_words();
            let url = desk.console.as_deref().unwrap_or("URL");
            error.next(format!(
                "{before} On this data a desk runs at {running}: --url {url}"
            ))
        }
        None => error.next(format!("{before} Start it with: madoguchi serve")),
    }
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
    let mut config = open::configuration(global, &arguments.options)?;
    config.log_less();
    running::use_its_console(global, &mut config);
    desk::log::init(&config.settings.log);
    let opened = open::desk(global, config, &arguments.options, Some(&arguments.counter)).await?;
    desk::background::once(&opened.desk).await;
    // So that an approval given in another process is noticed at once.
    tokio::spawn(desk::watch::watch(Arc::clone(&opened.desk)));
    let (counter, tool) = (&arguments.counter, &arguments.tool);
    let client = Arc::new(Progress::default());
    let answer = in_process::call(&opened.desk, client, counter, tool, tool_arguments).await;
    // Also after an error, so that the call is recorded.
    opened.close().await?;
    answer
}

async fn remote(url: &str, arguments: &Call, tool_arguments: Map<String, Value>) -> Result<Value> {
    let unreachable = |what: String| {
        Error::new(UNREACHABLE, format!("{url} can't be reached: {what}."))
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
                "progressToken": 1,
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
    response::read(response, unreachable).await
}

fn show(response: &Value, arguments: &Call) -> Result<ExitCode> {
    if let Some(error) = response.get("error") {
        let message = error.get("message").and_then(Value::as_str);
        let code = error.get("code").and_then(Value::as_i64);
        return Err(in_process::refused(
            &arguments.counter,
            code.unwrap_or_default(),
            message.unwrap_or("refused"),
        ));
    }
    let null = Value::Null;
    let result = response.get("result").unwrap_or(&null);
    let shown = if arguments.json {
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
