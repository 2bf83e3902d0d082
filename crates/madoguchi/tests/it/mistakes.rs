//! Requests that are wrong, and what is said about them on each transport.

use serde_json::{Value, json};

use crate::harness::{
    Desk, LEGACY, MODERN, Pipe, Session, Socket, initialize, initialized, modern, plain, request,
};

/// Known methods with parameters of another form.
fn mistyped() -> Vec<(&'static str, Value)> {
    vec![
        (
            "tools/call",
            json!({ "name": "fixture_sum", "arguments": "x" }),
        ),
        (
            "tools/call",
            json!({ "name": "fixture_sum", "arguments": [1] }),
        ),
        ("tools/call", json!({ "arguments": {} })),
        ("tools/call", json!({ "name": 5 })),
        ("prompts/get", json!({})),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": 1 })),
        ("completion/complete", json!({ "ref": "x" })),
    ]
}

#[tokio::test]
async fn parameters_of_the_wrong_form() {
    let desk = Desk::start().await;
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    let mut socket = Socket::open(&desk, "fixture").await;
    let mut command = desk.place.command();
    command.args(["stdio", "fixture", "--fixture"]);
    let mut pipe = Pipe::with_handshake(&mut command, LEGACY);
    for (method, params) in mistyped() {
        let said = [
            ("modern", desk.rpc("fixture", method, params.clone()).await),
            ("session", session.request(method, params.clone()).await),
            (
                "socket",
                socket.request(&plain(3, method, params.clone())).await,
            ),
            (
                "modern socket",
                socket.request(&modern(4, method, params.clone())).await,
            ),
            ("stdio", pipe.request(&plain(5, method, params.clone()))),
        ];
        for (on, answer) in said {
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{on} {method} {params}: {answer}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(method), "{on}: {message}");
        }
    }
    // What is not known at all stays that, and so does what another era had.
    for (era, method, params) in [
        ("modern", "tools/none", json!({})),
        ("modern", "logging/setLevel", json!({})),
        ("modern", "resources/subscribe", json!({})),
        ("modern", "initialize", json!({})),
        ("session", "tools/none", json!({})),
        ("session", "subscriptions/listen", json!({ "x": 1 })),
    ] {
        let answer = match era {
            "modern" => desk.rpc("fixture", method, params).await,
            _ => session.request(method, params).await,
        };
        assert_eq!(answer["error"]["code"], -32601, "{era} {method}: {answer}");
    }
}

/// A handshake that is none is refused as any other request.
#[tokio::test]
async fn a_handshake_of_the_wrong_form() {
    let desk = Desk::start().await;
    let hello = plain(9, "initialize", json!({ "capabilities": {} }));
    for accept in ["*/*", "application/json, text/event-stream"] {
        let headers = [("accept", accept)];
        let body = hello.to_string();
        let answer = request(desk.port, "POST", "/mcp/fixture", &headers, body).await;
        let answer = answer.message();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["id"], 9);
    }
    let mut socket = Socket::open(&desk, "fixture").await;
    assert_eq!(socket.request(&hello).await["error"]["code"], -32602);
}

/// A message that is none, over HTTP: the id is given back, and the status.
#[tokio::test]
async fn texts_that_are_no_message_are_refused() {
    let desk = Desk::start().await;
    for (body, id) in [
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
        (r#"{"id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!({})),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
            json!(7),
        ),
        (r#""x""#, Value::Null),
    ] {
        for headers in [vec![], vec![("mcp-session-id", "x")]] {
            let answer = request(desk.port, "POST", "/mcp/fixture", &headers, body).await;
            assert_eq!(answer.status, 400, "{body}: {}", answer.text());
            let answer = answer.message();
            assert_eq!(answer["error"]["code"], -32600, "{body}");
            assert_eq!(answer["id"], id, "{body}");
        }
    }
}

/// What a caller sent is quoted, but never at any length.
#[tokio::test]
async fn long_texts_are_not_repeated_in_errors() {
    let desk = Desk::start().await;
    let long = "あ".repeat(50_000);
    let mut socket = Socket::open(&desk, "fixture").await;
    let sum = |arguments: Value| json!({ "name": "fixture_sum", "arguments": arguments });
    let reference = json!({ "ref": { "type": long }, "argument": { "name": "x", "value": "y" } });
    for (method, params) in [
        ("tools/call", json!({ "name": long, "arguments": {} })),
        ("tools/call", sum(json!(long))),
        ("tools/call", sum(json!({ "a": long, "b": 1 }))),
        ("prompts/get", json!({ "name": long })),
        (
            "prompts/get",
            json!({ "name": "x", "arguments": { &long: 1 } }),
        ),
        ("resources/read", json!({ "uri": long })),
        ("resources/read", json!({ "uri": format!("test://{long}") })),
        ("completion/complete", json!({ "ref": long })),
        ("completion/complete", reference),
        ("tools/list", json!({ "cursor": long })),
        ("resources/list", json!({ "cursor": long })),
        (long.as_str(), json!({})),
        (
            "tools/call",
            json!({ "name": "fixture_sum", "requestState": long }),
        ),
    ] {
        for message in [
            plain(1, method, params.clone()),
            modern(1, method, params.clone()),
        ] {
            let answer = socket.request(&message).await;
            let is_refused = !answer["error"].is_null() || answer["result"]["isError"] == true;
            assert!(is_refused, "{answer}");
            check_short(&answer.to_string());
        }
    }
    // A session, a discovery and the handshake, over HTTP.
    let call = json!({ "name": long, "arguments": {} });
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    check_short(&session.request("tools/call", call).await.to_string());
    check_short(&session.request(&long, json!({})).await.to_string());
    let hello = initialize(1, &long).to_string();
    let answer = request(desk.port, "POST", "/mcp/fixture", &[], hello).await;
    check_short(&answer.text());
    let mut call = modern(1, "tools/call", json!({ "name": "fixture_sum" }));
    call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = long.as_str().into();
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
    ];
    let body = call.to_string();
    let answer = request(desk.port, "POST", "/mcp/fixture", &headers, body).await;
    check_short(&answer.text());
    check_short(&socket.request(&call).await.to_string());
    let path = format!("/mcp/{}", "x".repeat(5000));
    let answer = request(desk.port, "POST", &path, &[], initialized().to_string()).await;
    check_short(&answer.text());
}

#[track_caller]
fn check_short(answer: &str) {
    assert!(answer.len() < 2000, "{} bytes: {answer:.300}", answer.len());
}
