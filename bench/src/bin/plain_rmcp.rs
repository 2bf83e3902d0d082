//! The official Rust SDK with nothing around it, in its quickest arrangement:
//! the tool is built once, answers are plain JSON, there are no sessions.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::{Router, serve::ListenerExt as _};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Server {
    tool: Arc<Tool>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == self.tool.name).then(|| Tool::clone(&self.tool))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::clone(
            &self.tool,
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != self.tool.name {
            return Err(ErrorData::invalid_params("no such tool", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let terms: Terms = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let sum = terms.a.wrapping_add(terms.b);
        Ok(CallToolResult::structured(json!({ "sum": sum })).into())
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let port: u16 = std::env::args()
        .nth(1)
        .context("plain_rmcp PORT")?
        .parse()?;
    let integer = |text| json!({ "type": "integer", "description": text });
    let input = json!({
        "type": "object",
        "properties": { "a": integer("One number."), "b": integer("The other number.") },
        "required": ["a", "b"],
    });
    let output = json!({
        "type": "object",
        "properties": { "sum": { "type": "integer" } },
        "required": ["sum"],
    });
    let tool = Tool::new("fixture_sum", "Adds two integers.", object(input))
        .with_raw_output_schema(Arc::new(object(output)));
    let server = Server {
        tool: Arc::new(tool),
    };
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::default(),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true),
    );
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
