//! Each station of the pipeline refuses on each transport, in the words of the
//! protocol.

use serde_json::{Value, json};

use crate::harness::{
    Desk, Socket, call, configured_keys, mentions, modern, plain, refused, request, result,
    structured,
};

const KEY: &str = "correct horse battery staple";

fn with_key(more: &str) -> String {
    let keys = configured_keys(&[("phone", KEY)]);
    format!("[http]\nrequire_key = true\n{keys}{more}\n")
}

/// The same question on all three transports.
struct Wires {
    desk: Desk,
    key: Option<&'static str>,
}

impl Wires {
    async fn start(config: &str, key: Option<&'static str>) -> Self {
        let desk = Desk::with_config(config).await;
        Self { desk, key }
    }

    /// The answers over HTTP, WebSocket and stdio. They are printed too, so that a
    /// failed test shows which of them was wrong.
    async fn call(&self, tool: &str, arguments: Value) -> [Value; 3] {
        let call = call(7, tool, arguments);
        let answers = [
            self.desk.post("fixture", self.key, &call).await.message(),
            self.socket().await.request(&call).await,
            self.desk.stdio("fixture", self.key).request(&call),
        ];
        println!(
            "http {}\nwebsocket {}\nstdio {}",
            answers[0], answers[1], answers[2]
        );
        answers
    }

    async fn socket(&self) -> Socket {
        match self.key {
            None => Socket::open(&self.desk, "fixture").await,
            Some(key) => Socket::with_bearer(&self.desk, "fixture", key).await,
        }
    }
}

#[tokio::test]
async fn identify_refuses_a_wrong_key_with_the_requests_own_id() {
    let wires = Wires::start(&with_key(""), Some("wrong")).await;
    for message in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        assert_eq!(message["id"], 7);
        assert_eq!(message["error"]["code"], 401);
        assert_eq!(message["error"]["message"], "Invalid API key");
    }
}

#[tokio::test]
async fn identify_answers_401_on_http_and_closes_a_socket_with_1008() {
    let wires = Wires::start(&with_key(""), None).await;
    let call = plain(3, "tools/list", json!({})).to_string();
    let answer = request(wires.desk.port, "POST", "/mcp/fixture", &[], call).await;
    assert_eq!(answer.status, 401);
    let challenge = answer.header("www-authenticate").unwrap();
    assert!(challenge.starts_with("Bearer"), "{challenge}");
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
        assert_eq!(structured(result(&said))["sum"], 3);
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
    let answer = wires.desk.post("fixture", None, &list).await;
    assert_eq!(answer.status, 429);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert_eq!(answer.message()["id"], 1);

    // Another counter has no limit.
    assert_eq!(wires.desk.post("cinema", None, &list).await.status, 200);

    let mut pipe = wires.desk.stdio("fixture", None);
    for _ in 0..3 {
        result(&pipe.request(&list));
    }
    assert_eq!(pipe.request(&list)["error"]["code"], 429);
}

#[tokio::test]
async fn resolve_names_the_nearest_tool() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_sums", json!({})).await {
        let error = &said["error"];
        assert_eq!(error["code"], -32602);
        let message = error["message"].as_str().unwrap();
        mentions(message, &["Did you mean fixture_sum?"]);
    }
}

#[tokio::test]
async fn authorize_holds_a_key_to_its_tools() {
    let config = with_key("tools = [\"fixture_echo\"]");
    let wires = Wires::start(&config, Some(KEY)).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        refused(result(&said), "FORBIDDEN");
    }
    for said in wires.call("fixture_echo", json!({ "text": "hi" })).await {
        assert_eq!(structured(result(&said))["text"], "hi");
    }
}

/// What is for the counter's own people needs a key that names it; the user who
/// started a process is one of them.
#[tokio::test]
async fn authorize_keeps_strangers_from_managing() {
    let wires = Wires::start("", None).await;
    let [http, websocket, stdio] = wires.call("fixture_manage", json!({})).await;
    structured(result(&stdio));
    for said in [http, websocket] {
        refused(result(&said), "FORBIDDEN");
    }
    let wires = Wires::start(&with_key(""), Some(KEY)).await;
    for said in wires.call("fixture_manage", json!({})).await {
        refused(result(&said), "FORBIDDEN");
    }
    let config = with_key("tools = [\"fixture_manage\"]");
    let wires = Wires::start(&config, Some(KEY)).await;
    for said in wires.call("fixture_manage", json!({})).await {
        assert_eq!(structured(result(&said))["written"], true);
    }
}

#[tokio::test]
async fn authorize_hides_and_refuses_what_a_read_only_desk_does_not_offer() {
    let wires = Wires::start("[tools]\nread_only = true\n", None).await;
    for said in wires.call("fixture_write", json!({})).await {
        let error = refused(result(&said), "TOOL_NOT_OFFERED");
        mentions(error["message"].as_str().unwrap(), &["read-only"]);
    }
    let list = wires.desk.rpc("fixture", "tools/list", json!({})).await;
    let tools = result(&list)["tools"].as_array().unwrap();
    let mut hints = tools
        .iter()
        .map(|tool| &tool["annotations"]["readOnlyHint"]);
    assert!(hints.all(|hint| hint == true));
}

#[tokio::test]
async fn validate_names_field_rule_and_value() {
    let wires = Wires::start("", None).await;
    for said in wires.call("fixture_sum", json!({ "a": "x", "b": 2 })).await {
        let error = refused(result(&said), "INVALID_ARGUMENT");
        assert_eq!(error["details"]["field"], "a");
        assert_eq!(error["details"]["rule"], "type");
        assert_eq!(error["details"]["value"], "x");
    }
    for said in wires.call("fixture_sum", json!({ "a": 1 })).await {
        let error = refused(result(&said), "INVALID_ARGUMENT");
        assert_eq!(error["details"]["field"], "b");
        let text = &result(&said)["content"][0]["text"];
        let text = text.as_str().unwrap();
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
        refused(result(&said), "APPROVAL_REQUIRED");
    }
    let deny = "[approval]\ntools = { \"fixture.fixture_sum\" = \"deny\", \"fixture.fixture_outside\" = \"allow\" }\n";
    let wires = Wires::start(deny, None).await;
    for said in wires.call("fixture_sum", json!({ "a": 1, "b": 2 })).await {
        refused(result(&said), "DENIED_BY_POLICY");
    }
    for said in wires.call("fixture_outside", json!({})).await {
        structured(result(&said));
    }
}

#[tokio::test]
async fn run_keeps_what_is_internal_to_itself_and_names_the_log_line() {
    let wires = Wires::start("", None).await;
    let answers = wires.call("fixture_internal", json!({})).await;
    for (number, said) in answers.iter().enumerate() {
        let error = refused(result(said), "INTERNAL_ERROR");
        assert!(!said.to_string().contains("secret"), "{said}");
        let call = result(said)["_meta"]["madoguchi/call"].as_str().unwrap();
        assert_eq!(error["details"]["reference"], call);
        // A process on stdio has a log of its own.
        if number < 2 {
            let log = wires.desk.log();
            let lines: Vec<_> = log.lines().filter(|line| line.contains(call)).collect();
            assert_eq!(lines.len(), 1, "{log}");
            assert!(lines[0].contains("secret"), "{}", lines[0]);
        }
    }
}
