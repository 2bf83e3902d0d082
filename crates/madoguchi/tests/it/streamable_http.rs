//! Streamable HTTP as clients without an SDK speak it.

use serde_json::{Value, json};

use crate::harness::{
    Desk, LEGACY, MODERN, Session, initialize, initialized, mentions, modern, plain, plain_call,
    request, result, structured,
};

fn list_movies() -> Value {
    json!({ "name": "get_movie_list", "arguments": {} })
}

#[tokio::test]
async fn sessions_of_the_handshake_era() {
    let desk = Desk::start().await;
    for version in ["2025-03-26", "2025-06-18", LEGACY] {
        let mut session = Session::open(&desk, "cinema", version).await;
        assert_eq!(session.version, version);
        assert_eq!(session.server["serverInfo"]["name"], "cinema");
        let tools = session.request("tools/list", json!({})).await;
        assert!(result(&tools)["tools"].as_array().unwrap().len() >= 5);
        let movies = session.request("tools/call", list_movies()).await;
        assert!(structured(result(&movies))["movies"].is_array());
        assert_eq!(result(&movies).get("resultType"), None, "{movies}");
        let pong = session.request("ping", json!({})).await;
        assert_eq!(pong["result"], json!({}));

        // An ended session is gone, so that its client starts anew.
        let headers = [("mcp-session-id", session.id.as_str())];
        let ended = request(desk.port, "DELETE", "/mcp/cinema", &headers, "").await;
        // Clients take 202 for a failure.
        assert!(matches!(ended.status, 200 | 204), "{}", ended.status);
        let again = plain(9, "ping", json!({}));
        assert_eq!(session.send(&again).await.status, 404);
    }
}

/// A client of the handshake era may also leave the session id out.
#[tokio::test]
async fn handshake_era_without_a_session() {
    let desk = Desk::start().await;
    let headers = [("mcp-protocol-version", LEGACY)];
    let call = plain(1, "tools/call", list_movies()).to_string();
    let answer = request(desk.port, "POST", "/mcp/cinema", &headers, call).await;
    let message = answer.message();
    assert!(structured(result(&message))["movies"].is_array());
}

/// A revision nobody knows is answered with one that both may.
#[tokio::test]
async fn unknown_revisions() {
    let desk = Desk::start().await;
    let hello = initialize(1, "1999-01-01").to_string();
    let answer = request(desk.port, "POST", "/mcp/cinema", &[], hello).await;
    assert_eq!(result(&answer.message())["protocolVersion"], LEGACY);
}

#[tokio::test]
async fn a_read_only_desk() {
    let desk = Desk::setup().argument("--read-only").start().await;
    let tools = desk.rpc("cinema", "tools/list", json!({})).await;
    let tools = result(&tools)["tools"].as_array().unwrap();
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
    let booking = json!({ "seat_ids": ["A1"] });
    let answer = desk.call("cinema", "reserve_seats", booking).await;
    crate::harness::refused(&answer, "TOOL_NOT_OFFERED");
}

/// No counter of that name: the nearest one is named.
#[tokio::test]
async fn unknown_counters() {
    let desk = Desk::start().await;
    let answer = request(desk.port, "POST", "/mcp/cinma", &[], "{}").await;
    assert_eq!(answer.status, 404);
    mentions(&answer.text(), &["Did you mean cinema?"]);
}

/// The protocol wants JSON and event streams named. Who names less gets JSON,
/// wherever one message is the whole answer.
#[tokio::test]
async fn clients_that_say_little_about_what_they_read() {
    let desk = Desk::start().await;
    let port = desk.port;
    let post = |headers: Vec<(&'static str, &'static str)>, message: Value| async move {
        request(port, "POST", "/mcp/fixture", &headers, message.to_string()).await
    };
    let progress = json!({
        "name": "test_tool_with_progress",
        "arguments": {},
        "_meta": { "progressToken": 1 },
    });
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    for accept in [
        "",
        "*/*",
        "application/json",
        "application/json, text/plain, */*",
    ] {
        let legacy = vec![("accept", accept), ("mcp-protocol-version", LEGACY)];
        let modern_call = |method, name| {
            vec![
                ("accept", accept),
                ("mcp-protocol-version", MODERN),
                ("mcp-method", method),
                ("mcp-name", name),
            ]
        };
        for (headers, message) in [
            (vec![("accept", accept)], initialize(1, LEGACY)),
            (legacy.clone(), plain(1, "ping", json!({}))),
            (legacy.clone(), plain(1, "tools/call", progress.clone())),
            (
                modern_call("tools/call", "test_tool_with_progress"),
                modern(1, "tools/call", progress.clone()),
            ),
            (
                modern_call("tools/list", ""),
                modern(1, "tools/list", json!({})),
            ),
        ] {
            let answer = post(headers, message).await;
            assert_eq!(answer.status, 200, "{accept:?}: {}", answer.text());
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.messages().len(), 1, "{}", answer.text());
            result(&answer.message());
            // A session's answers would be streams.
            assert_eq!(answer.header("mcp-session-id"), None);
        }
        assert_eq!(post(legacy, initialized()).await.status, 202);
    }
    // A session stays one, whatever is said later.
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    let id: &'static str = session.id.clone().leak();
    let headers = vec![("accept", "application/json"), ("mcp-session-id", id)];
    let answer = post(headers, plain(5, "tools/call", progress)).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(result(&answer.message())["isError"], false);
    result(&session.request("ping", json!({})).await);

    // No answer, rather than one that can't be read.
    let mut headers = vec![
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "subscriptions/listen"),
    ];
    headers.push(("accept", "application/json"));
    let answer = post(headers, modern(1, "subscriptions/listen", listen)).await;
    assert_eq!(answer.status, 406, "{}", answer.text());
    for accept in ["text/html", "text/event-stream"] {
        let answer = post(vec![("accept", accept)], plain(1, "ping", json!({}))).await;
        assert_eq!(answer.status, 406, "{accept}: {}", answer.text());
    }
}

/// 2024-11-05 had another way over HTTP; it is for stdio and WebSocket.
#[tokio::test]
async fn the_oldest_revision_is_not_spoken_here() {
    let desk = Desk::start().await;
    for accept in ["*/*", "application/json, text/event-stream"] {
        let hello = initialize(1, "2024-11-05").to_string();
        let headers = [("accept", accept)];
        let answer = request(desk.port, "POST", "/mcp/cinema", &headers, hello).await;
        assert_eq!(result(&answer.message())["protocolVersion"], LEGACY);
    }
    let headers = [("mcp-protocol-version", "2024-11-05")];
    let ping = plain(1, "ping", json!({})).to_string();
    let answer = request(desk.port, "POST", "/mcp/cinema", &headers, ping).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let about = desk.rpc("cinema", "server/discover", json!({})).await;
    let versions = result(&about)["supportedVersions"].to_string();
    assert!(!versions.contains("2024-11-05"), "{versions}");
    assert!(versions.contains("2025-03-26"), "{versions}");
}

#[tokio::test]
async fn an_unknown_session_cannot_be_ended() {
    let desk = Desk::start().await;
    let headers = [("mcp-session-id", "nobody")];
    for method in ["DELETE", "GET"] {
        let answer = request(desk.port, method, "/mcp/cinema", &headers, "").await;
        assert_eq!(answer.status, 404, "{method}");
    }
    assert_eq!(
        request(desk.port, "DELETE", "/mcp/cinema", &[], "")
            .await
            .status,
        400
    );
}

/// Several messages in one body, in the one revision that had it.
#[tokio::test]
async fn a_batch_ends_when_its_answers_are_long() {
    let desk = Desk::start().await;
    let post = async |messages: Vec<Value>| {
        let body = json!(messages).to_string();
        let answer = request(desk.port, "POST", "/mcp/rooms", &[], body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice::<Vec<Value>>(&answer.body).unwrap()
    };
    let call = |id: u64, tool: &str, arguments: Value| plain_call(id, tool, arguments);
    let speaker = json!({ "roomName": "r", "agentName": "a" });
    let mut message = speaker.clone();
    message["message"] = "long ".repeat(2_000).into();
    let mut messages = vec![
        call(1, "create_room", json!({ "roomName": "r" })),
        call(2, "enter_room", speaker),
    ];
    messages.extend((3..23).map(|id| call(id, "send_message", message.clone())));
    post(messages).await;

    let page = json!({ "roomName": "r", "limit": 1000 });
    let mut messages: Vec<Value> = (0..10)
        .map(|id| call(id, "get_messages", page.clone()))
        .collect();
    messages.push(call(10, "create_room", json!({ "roomName": "late" })));
    let answers = post(messages).await;
    assert_eq!(answers.len(), 11);
    let is_refused = |answer: &Value| answer["error"]["code"] == -32000;
    let refused = answers.iter().position(is_refused).unwrap();
    assert!((2..9).contains(&refused), "{refused}");
    assert!(answers[..refused].iter().all(|it| it["result"].is_object()));
    assert!(answers[refused..].iter().all(is_refused));
    assert_eq!(answers[10]["id"], 10);
    // Nothing was done for what was refused.
    let rooms = post(vec![call(1, "list_rooms", json!({}))]).await;
    assert!(!rooms[0].to_string().contains("late"), "{rooms:?}");
}

#[tokio::test]
async fn batches() {
    let desk = Desk::start().await;
    let post = |headers: Vec<(&'static str, &'static str)>, messages: Value| {
        let port = desk.port;
        async move { request(port, "POST", "/mcp/fixture", &headers, messages.to_string()).await }
    };
    let sum = json!({ "name": "fixture_sum", "arguments": { "a": 1, "b": 2 } });
    let both = json!([
        plain(1, "tools/call", sum),
        initialized(),
        plain(2, "tools/none", json!({})),
        { "jsonrpc": "1.0", "id": 3, "method": "ping" },
        initialize(4, "2025-03-26"),
    ]);
    let session = Session::open(&desk, "fixture", "2025-03-26").await;
    let id: &'static str = session.id.clone().leak();
    for headers in [
        vec![],
        vec![("mcp-protocol-version", "2025-03-26")],
        vec![("mcp-session-id", id)],
    ] {
        let answer = post(headers, both.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answers: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answers.len(), 4, "{answers:?}");
        assert_eq!(answers[0]["id"], 1);
        assert_eq!(structured(result(&answers[0]))["sum"], 3);
        assert_eq!(answers[1]["error"]["code"], -32601);
        assert_eq!(answers[2]["error"]["code"], -32600);
        assert_eq!(answers[3]["error"]["code"], -32600);
    }
    let answer = post(vec![], json!([initialized(), initialized()])).await;
    assert_eq!((answer.status, answer.body.len()), (202, 0));
    for messages in [json!([]), vec![plain(1, "ping", json!({})); 101].into()] {
        let answer = post(vec![], messages).await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.message()["error"]["code"], -32600);
    }
    // Of a session that is not there, nothing is answered.
    let ping = json!([plain(1, "ping", json!({}))]);
    let answer = post(vec![("mcp-session-id", "nobody")], ping.clone()).await;
    assert_eq!(answer.status, 404);
    for revision in ["2025-06-18", LEGACY, MODERN] {
        let answer = post(vec![("mcp-protocol-version", revision)], ping.clone()).await;
        assert_eq!(answer.status, 400, "{revision}");
        assert_eq!(answer.message()["error"]["code"], -32600, "{revision}");
    }
}
