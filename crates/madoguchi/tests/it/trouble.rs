//! A panic, a time-out, a cancel and a lost client: each is answered or cleaned
//! up, on each transport.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::harness::{
    Desk, LEGACY, Pipe, Session, Socket, call, modern, plain, refused, result, structured,
};

/// Waits for a line of the log with both words in it.
async fn logged(desk: &Desk, tool: &str, word: &str) -> String {
    let began = Instant::now();
    loop {
        let log = desk.log();
        let found = log
            .lines()
            .find(|line| line.contains(tool) && line.contains(word));
        if let Some(line) = found {
            return line.to_owned();
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "no {word} for {tool} in\n{log}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The desk still works.
async fn sums(desk: &Desk) {
    let result = desk
        .call("fixture", "fixture_sum", json!({ "a": 2, "b": 3 }))
        .await;
    assert_eq!(structured(&result)["sum"], 5);
}

fn stdio(desk: &Desk) -> Pipe {
    Pipe::start(desk.place.command().args(["stdio", "fixture", "--fixture"]))
}

#[tokio::test]
async fn a_panic_is_answered() {
    let desk = Desk::start().await;
    let over_http = desk.call("fixture", "fixture_panic", json!({})).await;
    refused(&over_http, "INTERNAL_ERROR");
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    let params = json!({ "name": "fixture_panic", "arguments": {} });
    refused(
        result(&session.request("tools/call", params).await),
        "INTERNAL_ERROR",
    );
    let mut socket = Socket::open(&desk, "fixture").await;
    let message = socket.request(&call(1, "fixture_panic", json!({}))).await;
    refused(result(&message), "INTERNAL_ERROR");
    let message = stdio(&desk).request(&call(1, "fixture_panic", json!({})));
    refused(result(&message), "INTERNAL_ERROR");
    sums(&desk).await;
}

#[tokio::test]
async fn a_time_out_is_answered() {
    let desk = Desk::start().await;
    let began = Instant::now();
    refused(
        &desk.call("fixture", "fixture_slow", json!({})).await,
        "TIMEOUT",
    );
    let mut socket = Socket::open(&desk, "fixture").await;
    let message = socket.request(&call(1, "fixture_slow", json!({}))).await;
    refused(result(&message), "TIMEOUT");
    let message = stdio(&desk).request(&call(1, "fixture_slow", json!({})));
    refused(result(&message), "TIMEOUT");
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "the tool would take 10 s"
    );
}

#[tokio::test]
async fn a_cancelled_call_stops() {
    let desk = Desk::start().await;
    let sleep = call(1, "fixture_sleep", json!({ "milliseconds": 60_000 }));
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
    });
    let mut socket = Socket::open(&desk, "fixture").await;
    socket.send(&sleep).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    socket.send(&cancel).await;
    logged(&desk, "fixture_sleep", "CANCELLED").await;
    // The connection goes on.
    let sum = socket
        .request(&call(2, "fixture_sum", json!({ "a": 1, "b": 1 })))
        .await;
    assert_eq!(structured(result(&sum))["sum"], 2);

    let mut pipe = stdio(&desk);
    pipe.send(&sleep);
    pipe.send(&cancel);
    let sum = pipe.request(&call(2, "fixture_sum", json!({ "a": 1, "b": 1 })));
    assert_eq!(structured(result(&sum))["sum"], 2);
    let began = Instant::now();
    pipe.finish();
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "the call was not cancelled"
    );
}

#[tokio::test]
async fn a_lost_client_ends_its_calls() {
    let desk = Desk::start().await;
    let sleep = call(1, "fixture_sleep", json!({ "milliseconds": 60_000 }));

    let mut socket = Socket::open(&desk, "fixture").await;
    socket.send(&sleep).await;
    // Messages are taken in order, so the call has begun.
    socket
        .request(&call(2, "fixture_sum", json!({ "a": 1, "b": 1 })))
        .await;
    drop(socket);
    logged(&desk, "fixture_sleep", "CANCELLED").await;

    let mut stream = desk.connect().await;
    let body = sleep.to_string();
    let head = format!(
        "POST /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: fixture_sleep\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(stream);
    logged(&desk, "fixture_sleep", "abandoned").await;
    sums(&desk).await;
}

#[tokio::test]
async fn a_closed_input_leaves_no_request_unanswered() {
    let desk = Desk::start().await;
    let mut pipe = stdio(&desk);
    for id in 0..50 {
        pipe.send(&call(id, "fixture_sleep", json!({ "milliseconds": 300 })));
    }
    let (messages, status, _) = pipe.finish();
    assert!(status.success());
    let mut ids: Vec<u64> = messages.iter().map(|m| m["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_request_without_era_is_served_on_stdio_and_websocket() {
    let desk = Desk::start().await;
    result(&stdio(&desk).request(&plain(1, "tools/list", json!({}))));
    let mut socket = Socket::open(&desk, "fixture").await;
    result(&socket.request(&plain(1, "tools/list", json!({}))).await);
}

/// One connection full of long calls, and one whose client never reads.
#[tokio::test]
async fn a_socket_with_many_calls_does_not_slow_others() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "fixture").await;
    for id in 0..256 {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        socket
            .send(&modern(id, "subscriptions/listen", filter))
            .await;
    }
    let one_more = socket
        .request(&call(999, "fixture_sum", json!({ "a": 1, "b": 1 })))
        .await;
    assert_eq!(one_more["error"]["code"], 429, "{one_more}");
    for id in 0..256 {
        let cancel = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
        });
        socket.send(&cancel).await;
    }
    let sum = socket
        .request(&call(1000, "fixture_sum", json!({ "a": 1, "b": 1 })))
        .await;
    assert_eq!(structured(result(&sum))["sum"], 2);

    for _ in 0..5 {
        let mut deaf = Socket::open(&desk, "fixture").await;
        for id in 0..500 {
            deaf.send(&call(id, "fixture_sum", json!({ "a": 1, "b": 1 })))
                .await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        drop(deaf);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!desk.log().contains("panic"), "{}", desk.log());
    sums(&desk).await;
}

#[tokio::test]
async fn a_very_long_title_holds_nobody_up() {
    let desk = Desk::start().await;
    let title = "b".repeat(2_000_000);
    let began = Instant::now();
    let found = desk
        .call("cinema", "get_movie_list", json!({ "search_query": title }))
        .await;
    assert_eq!(structured(&found)["movies"], json!([]));
    assert!(began.elapsed() < Duration::from_secs(20));
}
