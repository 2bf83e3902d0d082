//! The least a server can do: it reads the two numbers and answers with the
//! bytes that Madoguchi answers with. No protocol check of any kind.

use anyhow::{Context as _, Result};
use axum::{
    Router,
    body::Bytes,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt as _,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    arguments: Terms,
}

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let port: u16 = std::env::args().nth(1).context("bare PORT")?.parse()?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/mcp", post(answer))).await?;
    Ok(())
}

async fn answer(body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Terms { a, b } = request.params.arguments;
    let (id, sum) = (request.id.get(), a.wrapping_add(b));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{{\"sum\":{sum}}}"}}],"structuredContent":{{"sum":{sum}}},"isError":false,"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"fixture","title":"Fixture","version":"0.1.0"}},"madoguchi/call":"0123456789abcdef"}}}}}}"#
    );
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
