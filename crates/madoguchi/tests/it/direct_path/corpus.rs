//! Good and bad requests to compare the two paths with.

use serde_json::{Value, json};

pub struct Case {
    pub name: &'static str,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: String,
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn headers(method: &'static str, name: Option<&'static str>) -> Vec<(&'static str, &'static str)> {
    let mut headers = vec![
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

fn call(name: &'static str, tool: &'static str, arguments: Value) -> Case {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
    Case {
        name,
        headers: headers("tools/call", Some(tool)),
        body: json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
            .to_string(),
    }
}

fn changed(name: &'static str, change: impl FnOnce(&mut Value)) -> Case {
    let mut case = call(name, "fixture_sum", json!({ "a": 1, "b": 2 }));
    let mut body: Value = serde_json::from_str(&case.body).unwrap();
    change(&mut body);
    case.body = body.to_string();
    case
}

fn with_headers(name: &'static str, headers: Vec<(&'static str, &'static str)>) -> Case {
    Case {
        headers,
        ..call(name, "fixture_sum", json!({ "a": 1, "b": 2 }))
    }
}

fn list(name: &'static str, params: Value) -> Case {
    Case {
        name,
        headers: headers("tools/list", None),
        body: json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": params })
            .to_string(),
    }
}

pub fn corpus() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(calls_and_lists());
    cases.extend(changed_envelopes());
    cases.extend(changed_parameters());
    cases.extend(changed_headers());
    for (name, body) in [
        ("empty", ""),
        ("no JSON", "{"),
        ("text", "\"x\""),
        (
            "duplicate id",
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}"#,
        ),
        ("not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\u{fffd}\"}"),
    ] {
        cases.push(Case {
            name,
            headers: headers("tools/call", Some("fixture_sum")),
            body: body.into(),
        });
    }
    let escaped = call("escaped name", "fixture_sum", json!({ "a": 1, "b": 2 }));
    cases.push(Case {
        body: escaped
            .body
            .replace("\"fixture_sum\"", "\"fixture_\\u0073um\""),
        ..escaped
    });
    cases
}

fn calls_and_lists() -> Vec<Case> {
    vec![
        call("structured", "fixture_sum", json!({ "a": 1, "b": 2 })),
        call("content", "test_simple_text", json!({})),
        call("several blocks", "test_multiple_content_types", json!({})),
        call(
            "awkward text",
            "fixture_echo",
            json!({ "text": "\u{0}\"\\\n\u{1f600}é\u{2028}" }),
        ),
        call("tool error", "test_error_handling", json!({})),
        call("broken rule", "fixture_sum", json!({ "a": "1", "b": 2 })),
        call("missing argument", "fixture_sum", json!({ "a": 1 })),
        call(
            "whole real number",
            "fixture_sum",
            json!({ "a": 1.0, "b": 2 }),
        ),
        call(
            "asks back",
            "test_input_required_result_elicitation",
            json!({}),
        ),
        call("needs a capability", "test_missing_capability", json!({})),
        call("not allowed", "fixture_outside", json!({})),
        call("unknown tool", "fixture_nothing", json!({})),
        call(
            "arguments in headers, none there",
            "test_custom_header",
            json!({ "value": "x" }),
        ),
        list("list", json!({ "_meta": meta() })),
        list(
            "list, foreign cursor",
            json!({ "_meta": meta(), "cursor": "p999" }),
        ),
        list(
            "list, empty cursor",
            json!({ "_meta": meta(), "cursor": "" }),
        ),
        list("list without metadata", json!({})),
    ]
}

fn changed_envelopes() -> Vec<Case> {
    vec![
        // Ids.
        changed("text id", |body| body["id"] = "é\"".into()),
        changed("negative id", |body| body["id"] = (-5).into()),
        changed("real id", |body| body["id"] = 1.5.into()),
        changed("null id", |body| body["id"] = Value::Null),
        changed("object id", |body| body["id"] = json!({})),
        changed("no id", |body| {
            drop(body.as_object_mut().unwrap().remove("id"))
        }),
        // Envelopes.
        changed("wrong jsonrpc", |body| body["jsonrpc"] = "1.0".into()),
        changed("no jsonrpc", |body| {
            drop(body.as_object_mut().unwrap().remove("jsonrpc"))
        }),
        changed("extra member", |body| body["extra"] = 1.into()),
        changed("no params", |body| {
            drop(body.as_object_mut().unwrap().remove("params"))
        }),
        changed("params are a list", |body| body["params"] = json!([])),
        changed("another method", |body| {
            body["method"] = "tools/list".into()
        }),
        changed("unknown method", |body| {
            body["method"] = "tools/none".into()
        }),
    ]
}

fn changed_parameters() -> Vec<Case> {
    vec![
        // Parameters.
        changed("no name", |body| {
            drop(body["params"].as_object_mut().unwrap().remove("name"))
        }),
        changed("number as name", |body| body["params"]["name"] = 5.into()),
        changed("another name", |body| {
            body["params"]["name"] = "fixture_echo".into()
        }),
        changed("no arguments", |body| {
            drop(body["params"].as_object_mut().unwrap().remove("arguments"))
        }),
        changed("null arguments", |body| {
            body["params"]["arguments"] = Value::Null
        }),
        changed("arguments are a list", |body| {
            body["params"]["arguments"] = json!([])
        }),
        changed("arguments are text", |body| {
            body["params"]["arguments"] = "x".into()
        }),
        changed("foreign state", |body| {
            body["params"]["requestState"] = "x".into()
        }),
        changed("state is a number", |body| {
            body["params"]["requestState"] = 5.into()
        }),
        changed("unasked answers", |body| {
            body["params"]["inputResponses"] = json!({ "x": 1 })
        }),
        changed("extra parameter", |body| body["params"]["extra"] = 1.into()),
        // Metadata.
        changed("no metadata", |body| {
            drop(body["params"].as_object_mut().unwrap().remove("_meta"))
        }),
        changed("empty metadata", |body| body["params"]["_meta"] = json!({})),
        changed("metadata is a list", |body| {
            body["params"]["_meta"] = json!([])
        }),
        changed("other version in metadata", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
                "2025-11-25".into();
        }),
        changed("version is a number", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = 5.into();
        }),
        changed("capabilities are text", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = "x".into();
        }),
        changed("odd capability", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                json!({ "sampling": 5 });
        }),
        changed("client info", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "x", "version": "1" });
        }),
        changed("client info is text", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = "x".into();
        }),
        changed("progress token", |body| {
            body["params"]["_meta"]["progressToken"] = 1.into()
        }),
        changed("null progress token", |body| {
            body["params"]["_meta"]["progressToken"] = Value::Null
        }),
        changed("log level", |body| {
            body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "debug".into();
        }),
    ]
}

fn changed_headers() -> Vec<Case> {
    let version = ("mcp-protocol-version", "2026-07-28");
    let method = ("mcp-method", "tools/call");
    let name = ("mcp-name", "fixture_sum");
    vec![
        with_headers("no headers", vec![]),
        with_headers("no version", vec![method, name]),
        with_headers(
            "other version",
            vec![("mcp-protocol-version", "2025-11-25"), method, name],
        ),
        with_headers(
            "unknown version",
            vec![("mcp-protocol-version", "v999"), method, name],
        ),
        with_headers("no method", vec![version, name]),
        with_headers(
            "other method",
            vec![version, ("mcp-method", "tools/list"), name],
        ),
        with_headers(
            "method in capitals",
            vec![version, ("mcp-method", "TOOLS/CALL"), name],
        ),
        with_headers("method twice", vec![version, method, method, name]),
        with_headers("no name", vec![version, method]),
        with_headers(
            "other name",
            vec![version, method, ("mcp-name", "fixture_echo")],
        ),
        with_headers(
            "name in base64",
            vec![version, method, ("mcp-name", "=?base64?Zml4dHVyZV9zdW0=?=")],
        ),
        with_headers(
            "name twice",
            vec![version, method, name, ("mcp-name", "other")],
        ),
        with_headers(
            "unknown session",
            vec![version, method, name, ("mcp-session-id", "x")],
        ),
        with_headers(
            "accepts JSON only",
            vec![version, method, name, ("accept", "application/json")],
        ),
        with_headers(
            "accepts anything",
            vec![version, method, name, ("accept", "*/*")],
        ),
        with_headers(
            "not JSON",
            vec![version, method, name, ("content-type", "text/plain")],
        ),
        with_headers(
            "JSON with charset",
            vec![
                version,
                method,
                name,
                ("content-type", "application/json; charset=utf-8"),
            ],
        ),
    ]
}
