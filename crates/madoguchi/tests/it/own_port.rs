//! A counter with a port of its own: the protocol at `/` and `/mcp`, and tools
//! called with plain JSON.

mod documents;
mod files;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Desk, LEGACY, configured_keys, initialize, initialized, mentions, modern,
    modern_headers, plain, refused, request, result, structured,
};

const FLAG: &str = "--fixture-port";

async fn desk() -> Desk {
    Desk::setup().own_port(FLAG).start().await
}

async fn post(desk: &Desk, path: &str, body: &str) -> Answer {
    request(desk.own_port, "POST", path, &[], body.to_owned()).await
}

fn sum() -> Value {
    json!({ "name": "fixture_sum", "arguments": { "a": 1, "b": 2 } })
}

#[tokio::test]
async fn every_protocol_era_works_at_both_paths() {
    let desk = desk().await;
    for path in ["/", "/mcp"] {
        let headers = modern_headers("tools/call", &sum());
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let call = modern(1, "tools/call", sum()).to_string();
        let answer = request(desk.own_port, "POST", path, &headers, call).await;
        assert_eq!(structured(result(&answer.message()))["sum"], 3);

        let hello = initialize(1, LEGACY).to_string();
        let hello = post(&desk, path, &hello).await;
        assert_eq!(hello.message()["result"]["protocolVersion"], LEGACY);
        let headers = [
            ("mcp-session-id", hello.header("mcp-session-id").unwrap()),
            ("mcp-protocol-version", LEGACY),
        ];
        let send =
            |message: Value| request(desk.own_port, "POST", path, &headers, message.to_string());
        assert_eq!(send(initialized()).await.status, 202);
        let answer = send(plain(2, "tools/call", sum())).await;
        assert_eq!(structured(result(&answer.message()))["sum"], 3);
        let ended = request(desk.own_port, "DELETE", path, &headers, "").await;
        // Clients take 202 for a failure.
        assert!(matches!(ended.status, 200 | 204), "{}", ended.status);
    }
    // Other counters are not here.
    assert_eq!(post(&desk, "/mcp/cinema", "{}").await.status, 404);
    // A person who looks finds a word of explanation.
    let page = request(desk.own_port, "GET", "/", &[("accept", "*/*")], "").await;
    assert!(page.text().contains("/mcp/tools/call"), "{}", page.text());
    let alive = request(desk.own_port, "GET", "/livez", &[("host", "10.0.0.7")], "").await;
    assert_eq!(alive.status, 200);
}

/// An agent that shakes hands but says no more about it, asks for nothing but
/// JSON, and reads the text of the first block.
#[tokio::test]
async fn an_agent_that_accepts_only_json_is_served() {
    let desk = desk().await;
    for accept in ["", "*/*", "application/json"] {
        let headers = [("accept", accept)];
        let send =
            |message: Value| request(desk.own_port, "POST", "/", &headers, message.to_string());
        for (message, is_call) in [
            (initialize(1, "2024-11-05"), false),
            (initialize(1, LEGACY), false),
            (plain(2, "tools/list", json!({})), false),
            (plain(3, "tools/call", sum()), true),
        ] {
            let answer = send(message).await;
            assert_eq!(answer.status, 200, "{accept:?}: {}", answer.text());
            assert_eq!(answer.header("content-type"), Some("application/json"));
            let message: Value = serde_json::from_slice(&answer.body).unwrap();
            let result = result(&message);
            if is_call {
                let text = result["content"][0]["text"].as_str().unwrap();
                let own: Value = serde_json::from_str(text).unwrap();
                assert_eq!(own["sum"], 3);
            }
        }
    }
}

#[tokio::test]
async fn tools_can_be_called_with_plain_json() {
    let desk = desk().await;
    let listed = desk.rpc("fixture", "tools/list", json!({})).await;
    for body in ["{}", ""] {
        let answer = post(&desk, "/mcp/tools/list", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.message()["tools"], result(&listed)["tools"]);
    }
    let answer = post(&desk, "/mcp/tools/call", &sum().to_string()).await;
    assert_eq!(answer.status, 200);
    let answer = answer.message();
    assert_eq!(answer["sum"], 3, "{answer}");
    assert_eq!(structured(&answer)["sum"], 3);
    assert_eq!(answer["isError"], false);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["sum"], 3);

    // Blocks without structure.
    let answer = post(&desk, "/mcp/tools/call", r#"{"name":"test_simple_text"}"#).await;
    assert_eq!(answer.message()["content"][0]["type"], "text");
    assert_eq!(answer.message().get("structuredContent"), None);

    // A tool's refusal is an answer like any other.
    let wrong = r#"{"name":"fixture_sum","arguments":{"a":"x","b":2}}"#;
    let answer = post(&desk, "/mcp/tools/call", wrong).await;
    assert_eq!(answer.status, 200);
    let answer = answer.message();
    assert_eq!(answer["error"]["details"]["field"], "a", "{answer}");
    refused(&answer, "INVALID_ARGUMENT");
    let asks = r#"{"name":"test_missing_capability","arguments":{}}"#;
    let answer = post(&desk, "/mcp/tools/call", asks).await.message();
    refused(&answer, "MISSING_CLIENT_CAPABILITY");

    for (body, status, code) in [
        ("{", 400, -32700),
        ("", 400, -32700),
        ("[]", 400, -32602),
        (r#"{"arguments":{}}"#, 400, -32602),
        (r#"{"name":"fixture_sum","arguments":"x"}"#, 400, -32602),
        (r#"{"name":"fixture_sums"}"#, 404, -32602),
    ] {
        let answer = post(&desk, "/mcp/tools/call", body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        let answer = answer.message();
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        assert_eq!(answer["isError"], true, "{body}: {answer}");
    }
    let deep = format!(r#"{{"name":"x","arguments":{{"a":{}"#, "[".repeat(100));
    assert_eq!(post(&desk, "/mcp/tools/call", &deep).await.status, 400);
    // A page of another origin can send these without asking; "" is none at all.
    for path in ["/mcp/tools/call", "/mcp/tools/list"] {
        for kind in [
            "text/plain",
            "",
            "application/jsonx",
            "application/x-www-form-urlencoded",
        ] {
            let headers = [("content-type", kind)];
            let answer = request(desk.own_port, "POST", path, &headers, sum().to_string()).await;
            assert_eq!(answer.status, 415, "{path} {kind}");
            let message = answer.message();
            assert_eq!(message["isError"], true, "{message}");
            let text = message["error"]["message"].as_str().unwrap();
            assert!(text.contains("application/json"), "{text}");
        }
    }
    let headers = [("content-type", "Application/JSON; charset=utf-8")];
    let call = sum().to_string();
    let answer = request(desk.own_port, "POST", "/mcp/tools/call", &headers, call).await;
    assert_eq!(answer.message()["sum"], 3);
    let answer = request(desk.own_port, "GET", "/mcp/tools/call", &[], "").await;
    assert_eq!(answer.status, 405);
}

/// The stations are those of every other way in.
#[tokio::test]
async fn plain_calls_pass_the_same_stations() {
    let config = "[limits]\nrequests_per_minute = { fixture = 4 }\n\
        [log]\nlevel = \"debug\"\n[tools]\nexclude = [\"fixture_echo\"]\n\
        [identity]\nkeys = [{ name = \"phone\", sha256 = \"c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a\", tools = [\"fixture_echo\"] }]\n";
    let desk = Desk::setup().config(config).own_port(FLAG).start().await;
    let wrong = [("authorization", "Bearer nobody")];
    let answer = request(desk.own_port, "POST", "/mcp/tools/list", &wrong, "{}").await;
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert!(answer.header("www-authenticate").is_some());

    let key = [("authorization", "Bearer correct horse battery staple")];
    let call = sum().to_string();
    let answer = request(desk.own_port, "POST", "/mcp/tools/call", &key, call).await;
    refused(&answer.message(), "FORBIDDEN");

    let hidden = r#"{"name":"fixture_echo","arguments":{"text":"x"}}"#;
    let answer = post(&desk, "/mcp/tools/call", hidden).await.message();
    refused(&answer, "TOOL_NOT_OFFERED");
    post(&desk, "/mcp/tools/call", &sum().to_string()).await;
    let on_record =
        |entry: &Value| entry["message"] == "call done" && entry["tool"] == "fixture_sum";
    desk.logs("a record of the call", on_record).await;

    // Whatever is asked counts, on whichever port.
    post(&desk, "/mcp/tools/list", "{}").await;
    post(&desk, "/", &plain(1, "tools/list", json!({})).to_string()).await;
    let answer = post(&desk, "/mcp/tools/list", "{}").await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(answer.header("retry-after").is_some());
    let data = &answer.message()["error"]["data"];
    assert!(data["retry_after_ms"].is_u64(), "{data}");
}

#[tokio::test]
async fn the_guard_of_an_own_port_names_its_section() {
    let desk = desk().await;
    let evil = [("host", "evil.example")];
    for (path, method) in [
        ("/mcp/tools/list", "POST"),
        ("/assets/x.png", "GET"),
        ("/", "POST"),
    ] {
        let answer = request(desk.own_port, method, path, &evil, "").await;
        assert_eq!(answer.status, 403, "{path}");
        mentions(&answer.text(), &["[fixture_listener]"]);
    }
    let own = format!("http://127.0.0.1:{}", desk.own_port);
    let main = format!("http://127.0.0.1:{}", desk.port);
    for (origin, status) in [
        (own.as_str(), 200),
        (main.as_str(), 403),
        ("http://localhost:3000", 403),
        ("https://evil.example", 403),
    ] {
        let origin = [("origin", origin)];
        let answer = request(desk.own_port, "POST", "/mcp/tools/list", &origin, "{}").await;
        assert_eq!(answer.status, status, "{origin:?}");
    }
}

#[tokio::test]
async fn a_taken_own_port_names_its_flag() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    let place = crate::harness::Place::new();
    let serve = "serve --port 0 --merchant-port 0 --innervoice-port 0 --fixture";
    let said = place.run_line(&format!("{serve} {FLAG} {taken}")).failed();
    assert!(said.contains(FLAG) && said.contains(&taken), "{said}");
}

/// Each listener is configured for itself.
#[tokio::test]
async fn an_own_port_has_a_section_of_its_own() {
    let config = format!(
        "[merchant_listener]\nrequire_key = true\nallowed_hosts = [\"shop.example\"]\n{}",
        configured_keys(&[("phone", "phone key")])
    );
    let flag = "--merchant-port";
    let desk = Desk::setup().config(&config).own_port(flag).start().await;
    let key = ("authorization", "Bearer phone key");
    let host = ("host", "shop.example");
    for (headers, status) in [
        (vec![host, key], 200),
        (vec![host], 401),
        (vec![("host", "localhost"), key], 403),
    ] {
        for path in ["/mcp/tools/list", "/mcp"] {
            let list = plain(1, "tools/list", json!({})).to_string();
            let answer = request(desk.own_port, "POST", path, &headers, list).await;
            assert_eq!(
                answer.status,
                status,
                "{path} {headers:?}: {}",
                answer.text()
            );
        }
    }
    let answer = request(desk.own_port, "GET", "/assets/x.png", &[host], "").await;
    assert_eq!(answer.status, 401);
    // The main port asks nobody for a key, for the same counter.
    let list = desk.rpc("merchant", "tools/list", json!({})).await;
    assert!(result(&list)["tools"].is_array());

    let place = crate::harness::Place::new();
    for (text, said) in [
        (
            "[merchant_listener]\naddress = \"0.0.0.0\"",
            "[merchant_listener]",
        ),
        ("[merchant_listener]\nprt = 1", "Did you mean `port`?"),
    ] {
        let file = place.file("wrong.toml", text);
        place
            .run(&["config", "check", file.to_str().unwrap()])
            .fails_with(said);
    }
    let off = [("MADOGUCHI_MERCHANT_LISTENER__PORT", "0")];
    let report = place.run_with(&["doctor", "--json"], &off).json();
    let findings = report["findings"].as_array().unwrap();
    let port = findings.iter().find(|f| f["what"] == "merchant_listener");
    assert_eq!(port.unwrap()["message"], "switched off");
}
