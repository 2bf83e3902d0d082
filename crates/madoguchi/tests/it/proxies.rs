//! Limits and audit go by the client's address, which trusted proxies name.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{
    Answer, Desk, Socket, call, configured_keys, connect_from, modern_headers, request_over,
};

/// The tests' own address is that of a proxy; others of this machine are not.
const PROXY: &str = "127.0.0.1";
const OTHER: &str = "127.0.0.2";

fn config(more: &str) -> String {
    let keys = configured_keys(&[("phone", "phone key")]);
    format!("[http]\nrequire_key = true\ntrusted_proxies = [\"{PROXY}\"]\n{more}\n{keys}")
}

/// A call of a tool that writes, with these headers.
async fn calls(desk: &Desk, from: &str, headers: &[(&str, &str)]) -> Answer {
    let message = call(1, "fixture_write", json!({}));
    let mut all = modern_headers("tools/call", &message["params"]);
    all.extend(headers.iter().map(|(n, v)| match *n {
        "authorization" => ("authorization", format!("Bearer {v}")),
        "forwarded" => ("forwarded", (*v).to_owned()),
        _ => ("x-forwarded-for", (*v).to_owned()),
    }));
    let all: Vec<_> = all.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let stream = connect_from(from, desk.port).await;
    let body = message.to_string();
    let answer = request_over(stream, desk.port, "POST", "/mcp/fixture", &all, body).await;
    answer.unwrap()
}

#[tokio::test]
async fn wrong_keys_count_for_the_client_behind_the_proxy() {
    let desk = Desk::with_config(&config("[limits]\nwrong_keys_per_minute = 2")).await;
    let guess = async |from: &str, header: (&str, &str)| {
        let headers = [("authorization", "guess"), header];
        calls(&desk, from, &headers).await.status
    };
    let list = |client| ("x-forwarded-for", client);
    assert_eq!(guess(PROXY, list("192.0.2.7")).await, 401);
    // The same client, whatever it writes before its address, and in whichever header.
    assert_eq!(guess(PROXY, list("203.0.113.9, 192.0.2.7:99")).await, 401);
    assert_eq!(guess(PROXY, list("192.0.2.7")).await, 429);
    assert_eq!(guess(PROXY, ("forwarded", "for=192.0.2.7")).await, 429);
    let right = [("authorization", "phone key"), list("192.0.2.7")];
    assert_eq!(calls(&desk, PROXY, &right).await.status, 200);
    // Another client, and nobody who is no proxy.
    assert_eq!(guess(PROXY, list("192.0.2.8")).await, 401);
    assert_eq!(guess(OTHER, list("192.0.2.7")).await, 401);
    assert_eq!(guess(OTHER, list("192.0.2.8")).await, 401);
    assert_eq!(guess(OTHER, list("192.0.2.9")).await, 429);
    // An IPv6 network counts as one.
    let v6 = |last: &'static str| ("forwarded", last);
    assert_eq!(guess(PROXY, v6("for=\"[2001:db8::1]:9\"")).await, 401);
    assert_eq!(guess(PROXY, v6("for=\"[2001:db8::2]\"")).await, 401);
    assert_eq!(guess(PROXY, v6("for=\"[2001:db8::3]\"")).await, 429);
}

#[tokio::test]
async fn the_audit_trail_has_the_address_of_the_client() {
    let desk = Desk::with_config(&config("")).await;
    let key = ("authorization", "phone key");
    let through = [key, ("x-forwarded-for", "192.0.2.7")];
    assert_eq!(calls(&desk, PROXY, &through).await.status, 200);
    assert_eq!(calls(&desk, OTHER, &through).await.status, 200);
    let mut socket = Socket::behind(
        desk.port,
        "/ws/fixture",
        &[
            ("authorization", "Bearer phone key"),
            ("forwarded", "for=\"[2001:db8::1]:443\""),
        ],
    )
    .await;
    socket.request(&call(1, "fixture_write", json!({}))).await;
    let tail = |arguments: &[&str]| {
        let arguments = [&["audit", "tail", "--json"], arguments].concat();
        let text = desk.place.run(&arguments).ok().stdout;
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
        records.collect::<Vec<Value>>()
    };
    let mut records = tail(&["--personal"]);
    for _ in 0..100 {
        if records.len() >= 3 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        records = tail(&["--personal"]);
    }
    let address = |record: &Value| record["personal"]["client_address"].clone();
    let mut addresses: Vec<Value> = records.iter().map(address).collect();
    addresses.sort_by_key(Value::to_string);
    // The other one came from this machine itself, which says nothing.
    let expected = [json!("192.0.2.7"), json!("2001:db8::1"), Value::Null];
    assert_eq!(addresses, expected, "{records:?}");
    assert!(tail(&[]).iter().all(|it| it.get("personal").is_none()));
    let verified = desk.place.run(&["audit", "verify"]).ok();
    assert!(!verified.stdout.contains("broken"), "{verified:?}");
}

/// A proxy sends the requests of many clients over one connection.
#[tokio::test]
async fn on_the_connection_of_a_proxy_each_request_speaks_for_itself() {
    let desk = Desk::with_config(&config("")).await;
    let mut stream = desk.connect().await;
    let mut send = async |key: &str, padding: usize| {
        let params = json!({ "text": "x".repeat(padding) });
        let message = call(1, "fixture_write", params);
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in modern_headers("tools/call", &message["params"]) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !key.is_empty() {
            head.push_str(&format!("authorization: Bearer {key}\r\n"));
        }
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut answer = vec![0; 64 * 1024];
        let read = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    };
    let answer = send("phone key", 0).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = send("", 0).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    // A large body is read of key holders only.
    let answer = send("phone key", 100_000).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = send("", 100_000).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[tokio::test]
async fn a_proxy_may_open_more_connections_than_a_client() {
    let limits = "max_connections_per_address = 2\nidentify_timeout_seconds = 4";
    let desk = Desk::with_config(&config(limits)).await;
    let key = [("authorization", "phone key")];
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(Socket::with_bearer(&desk, "fixture", "phone key").await);
    }
    assert_eq!(calls(&desk, PROXY, &key).await.status, 200);
    // Without a key, a socket is closed even behind a proxy.
    let mut stranger = Socket::keyless(desk.port, "/ws/fixture").await;
    assert!(stranger.closed().await.is_some());
}

#[test]
fn a_proxy_that_is_no_address_is_refused() {
    let place = crate::harness::Place::new();
    let config = place.file(
        "madoguchi.toml",
        "[http]\ntrusted_proxies = [\"10.0.0.0/99\"]\n",
    );
    let check = place.run(&["config", "check", config.to_str().unwrap()]);
    check.fails_with("`10.0.0.0/99` in [http] trusted_proxies is not valid.");
}
