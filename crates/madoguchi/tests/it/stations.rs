//! Each station of the pipeline refuses on each transport, in the words of the
//! protocol.

use serde_json::{Value, json};

use crate::harness::{Desk, Pipe, Socket, modern, plain, refused, request, result, structured};

const KEY: &str = "correct horse battery staple";
/// SHA-256 of `KEY`.
const DIGEST: &str = "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a";

fn with_key(more: &str) -> String {
    format!(
        "[http]\nrequire_key = true\n[identity]\nkeys = [{{ name = \"phone\", sha256 = \"{DIGEST}\"{more} }}]\n"
    )
}

/// The same question on all three transports.
struct Wires {
    desk: Desk,
    key: Option<&'static str>,
}

struct Said {
    on: &'static str,
    message: Value,
}

impl Wires {
    async fn start(config: &str, key: Option<&'static str>) -> Self {
        let desk = Desk::with_config(config).await;
        Self { desk, key }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Vec<Said> {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = modern(7, "tools/call", params.clone());
        vec![
            Said {
                on: "http",
                message: self.http(tool, &call).await,
            },
            Said {
                on: "websocket",
                message: self.socket().await.request(&call).await,
            },
            Said {
                on: "stdio",
                message: self.stdio(&call),
            },
        ]
    }

    async fn http(&self, tool: &str, call: &Value) -> Value {
        let bearer = format!("Bearer {}", self.key.unwrap_or_default());
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        if self.key.is_some() {
            headers.push(("authorization", &bearer));
        }
        let path = "/mcp/fixture";
        request(self.desk.port, "POST", path, &headers, call.to_string())
            .await
            .message()
    }

    async fn socket(&self) -> Socket {
        match self.key {
            None => Socket::open(&self.desk, "fixture").await,
            Some(key) => Socket::with_bearer(&self.desk, "fixture", key).await,
        }
    }

    fn stdio(&self, call: &Value) -> Value {
        let mut command = self.desk.place.command();
        command
            .args(["stdio", "fixture", "--fixture", "--config"])
            .arg(self.desk.config());
        if let Some(key) = self.key {
            command.env("MADOGUCHI_KEY", key);
        }
        Pipe::start(&mut command).request(call)
    }
}

#[tokio::test]
async fn identify_refuses_a_wrong_key_with_the_requests_own_id() {
    let wires = Wires::start(&with_key(""), Some("wrong")).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        let message = said.message;
        assert_eq!(message["id"], 7, "{}", said.on);
        assert_eq!(message["error"]["code"], 401, "{}", said.on);
        assert_eq!(
            message["error"]["message"], "Invalid API key",
            "{}",
            said.on
        );
    }
}

#[tokio::test]
async fn identify_answers_401_on_http_and_closes_a_socket_with_1008() {
    let wires = Wires::start(&with_key(""), None).await;
    let call = plain(3, "tools/list", json!({})).to_string();
    let answer = request(wires.desk.port, "POST", "/mcp/fixture", &[], call).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer
            .header("www-authenticate")
            .unwrap()
            .starts_with("Bearer")
    );
    assert_eq!(answer.message()["id"], 3);

    let mut socket = Socket::open(&wires.desk, "fixture").await;
    let message = socket.request(&plain(4, "tools/list", json!({}))).await;
    assert_eq!(message["error"]["code"], 401);
    assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
}

#[tokio::test]
async fn identify_lets_the_right_key_pass_everywhere() {
    let wires = Wires::start(&with_key(""), Some(KEY)).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        assert_eq!(structured(result(&said.message))["sum"], 3, "{}", said.on);
    }
}

#[tokio::test]
async fn limit_refuses_with_the_time_to_wait() {
    let config = "[limits]\nrequests_per_minute = { fixture = 3 }\n";
    let wires = Wires::start(config, None).await;
    let list = modern(1, "tools/list", json!({}));
    let mut socket = wires.socket().await;
    for _ in 0..3 {
        result(&socket.request(&list).await);
        // Notifications are not counted.
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        socket.send(&note).await;
    }
    let refused = socket.request(&list).await;
    assert_eq!(refused["error"]["code"], 429);
    assert_eq!(refused["error"]["message"], "Rate limit exceeded");
    let wait = refused["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=60_000).contains(&wait), "{wait}");

    // Both come without a key: the same caller, so the same count.
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    let answer = request(
        wires.desk.port,
        "POST",
        "/mcp/fixture",
        &headers,
        list.to_string(),
    )
    .await;
    assert_eq!(answer.status, 429);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert_eq!(answer.message()["id"], 1);

    // Another counter has no limit.
    let answer = request(
        wires.desk.port,
        "POST",
        "/mcp/cinema",
        &headers,
        list.to_string(),
    )
    .await;
    assert_eq!(answer.status, 200);

    let mut command = wires.desk.place.command();
    command
        .args(["stdio", "fixture", "--fixture", "--config"])
        .arg(wires.desk.config());
    let mut pipe = Pipe::start(&mut command);
    for _ in 0..3 {
        result(&pipe.request(&list));
    }
    assert_eq!(pipe.request(&list)["error"]["code"], 429);
}

#[tokio::test]
async fn resolve_names_the_nearest_tool() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_sums", json!({})).await {
        let error = &said.message["error"];
        assert_eq!(error["code"], -32602, "{}", said.on);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("Did you mean fixture_sum?"),
            "{}: {message}",
            said.on
        );
    }
}

#[tokio::test]
async fn authorize_holds_a_key_to_its_tools() {
    let config = with_key(", tools = [\"fixture_echo\"]");
    let wires = Wires::start(&config, Some(KEY)).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        refused(result(&said.message), "FORBIDDEN");
    }
    for said in wires.call("fixture_echo", json!({ "text": "hi" })).await {
        assert_eq!(
            structured(result(&said.message))["text"],
            "hi",
            "{}",
            said.on
        );
    }
}

/// What is for the counter's own people needs a key that names it; the user who
/// started a process is one of them.
#[tokio::test]
async fn authorize_keeps_strangers_from_managing() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_manage", json!({})).await {
        let _ = match said.on {
            "stdio" => structured(result(&said.message)),
            _ => refused(result(&said.message), "FORBIDDEN"),
        };
    }
    let wires = Wires::start(&with_key(""), Some(KEY)).await;
    for said in wires.call("fixture_manage", json!({})).await {
        refused(result(&said.message), "FORBIDDEN");
    }
    let config = with_key(", tools = [\"fixture_manage\"]");
    let wires = Wires::start(&config, Some(KEY)).await;
    for said in wires.call("fixture_manage", json!({})).await {
        assert_eq!(
            structured(result(&said.message))["written"],
            true,
            "{}",
            said.on
        );
    }
}

#[tokio::test]
async fn authorize_hides_and_refuses_what_a_read_only_desk_does_not_offer() {
    let wires = Wires::start("[tools]\nread_only = true\n", None).await;
    for said in wires.call("fixture_write", json!({})).await {
        let error = refused(result(&said.message), "TOOL_NOT_OFFERED");
        assert!(
            error["message"].as_str().unwrap().contains("read-only"),
            "{}",
            said.on
        );
    }
    let list = wires.desk.rpc("fixture", "tools/list", json!({})).await;
    let tools = result(&list)["tools"].as_array().unwrap();
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
}

#[tokio::test]
async fn validate_names_field_rule_and_value() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_sum", json!({ "a": "x", "b": 2 })).await {
        let error = refused(result(&said.message), "INVALID_ARGUMENT");
        assert_eq!(error["details"]["field"], "a", "{}", said.on);
        assert_eq!(error["details"]["rule"], "type", "{}", said.on);
        assert_eq!(error["details"]["value"], "x", "{}", said.on);
    }
    for said in wires.call("fixture_sum", json!({ "a": 1 })).await {
        let error = refused(result(&said.message), "INVALID_ARGUMENT");
        assert_eq!(error["details"]["field"], "b", "{}", said.on);
        let text = result(&said.message)["content"][0]["text"]
            .as_str()
            .unwrap();
        assert!(
            text.starts_with("INVALID_ARGUMENT: `b` is missing."),
            "{text}"
        );
    }
}

#[tokio::test]
async fn approve_follows_the_policy() {
    let wires = Wires::start("[approval]\nhold_seconds = 0\n", None).await;
    for said in wires.call("fixture_outside", json!({})).await {
        refused(result(&said.message), "APPROVAL_REQUIRED");
    }
    let deny = "[approval]\ntools = { \"fixture.fixture_sum\" = \"deny\", \"fixture.fixture_outside\" = \"allow\" }\n";
    let wires = Wires::start(deny, None).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        refused(result(&said.message), "DENIED_BY_POLICY");
    }
    for said in wires.call("fixture_outside", json!({})).await {
        structured(result(&said.message));
    }
}

#[tokio::test]
async fn run_keeps_what_is_internal_to_itself_and_names_the_log_line() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_internal", json!({})).await {
        let error = refused(result(&said.message), "INTERNAL_ERROR");
        assert!(
            !said.message.to_string().contains("secret"),
            "{}",
            said.message
        );
        let call = result(&said.message)["_meta"]["madoguchi/call"]
            .as_str()
            .unwrap();
        assert_eq!(error["details"]["reference"], call, "{}", said.on);
        if said.on != "stdio" {
            let log = wires.desk.log();
            let lines: Vec<_> = log.lines().filter(|line| line.contains(call)).collect();
            assert_eq!(lines.len(), 1, "{log}");
            assert!(lines[0].contains("secret"), "{}", lines[0]);
        }
    }
}
