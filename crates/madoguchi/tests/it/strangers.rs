//! Connections of clients that have shown no valid key, where one is needed,
//! and of clients that do not read.

use std::time::Duration;

use futures::{StreamExt, stream::FuturesUnordered};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::harness::{
    Desk, Socket, configured_keys, connect_from, initialize, initialized, plain, plain_call,
    request, result, structured, tls, upgrade_head,
};

const KEY: &str = "phone key";
const BEARER: (&str, &str) = ("authorization", "Bearer phone key");

/// Shorter than the time-outs that hold for everybody, longer than a busy
/// machine takes for those that are set here.
const PATIENCE: Duration = Duration::from_secs(25);

/// Of another key, where one key can't do it alone.
const OTHER_KEY: &str = "other key";

/// With two keys, and with more settings for `[http]`.
async fn desk(http: &str) -> Desk {
    let keys = configured_keys(&[("phone", KEY), ("other", OTHER_KEY)]);
    let config = format!("[http]\n{http}\n{keys}");
    Desk::with_config(&config).await
}

fn list() -> Value {
    plain(1, "tools/list", json!({}))
}

async fn list_with(desk: &Desk, headers: &[(&str, &str)]) -> u16 {
    let list = list().to_string();
    request(desk.port, "POST", "/mcp/fixture", headers, list)
        .await
        .status
}

/// Reads until the desk ends the connection.
async fn ended(mut stream: impl AsyncReadExt + Unpin) {
    let mut all = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all));
    // A connection that is cut off ends, too.
    let _ = read.await.expect("still open");
}

#[tokio::test]
async fn a_socket_without_a_valid_key_is_closed_while_a_key_holder_may_stay_silent() {
    let desk = desk("require_key = true\nidentify_timeout_seconds = 4").await;
    let mut silent = Socket::with_bearer(&desk, "fixture", KEY).await;
    let mut keyless = Socket::open(&desk, "fixture").await;
    let mut wrong = Socket::with_bearer(&desk, "fixture", "wrong").await;
    for socket in [&mut keyless, &mut wrong] {
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    }
    // Who asks in time is answered first.
    let mut asking = Socket::open(&desk, "fixture").await;
    let answer = asking.request(&plain(7, "tools/list", json!({}))).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(401))
    );
    assert_eq!(u16::from(asking.closed().await.unwrap().code), 1008);
    result(&silent.request(&list()).await);
}

/// InnerVoice needs a key everywhere, though its listeners ask nobody for one.
#[tokio::test]
async fn a_counter_that_always_needs_a_key_closes_sockets_without_one() {
    let config = format!(
        "[http]\nidentify_timeout_seconds = 4\n{}",
        configured_keys(&[("phone", KEY)])
    );
    let flag = "--innervoice-port";
    let desk = Desk::setup().config(&config).own_port(flag).start().await;
    let mut silent = Socket::own_port(&desk, KEY).await;
    let mut free = Socket::open(&desk, "fixture").await;
    for (port, path) in [(desk.own_port, "/"), (desk.port, "/ws/innervoice")] {
        let mut keyless = Socket::keyless(port, path).await;
        assert_eq!(u16::from(keyless.closed().await.unwrap().code), 1008);
    }
    // A connection on which no request comes at all.
    ended(
        TcpStream::connect(("127.0.0.1", desk.own_port))
            .await
            .unwrap(),
    )
    .await;
    result(&silent.request(&list()).await);
    result(&free.request(&list()).await);
}

#[tokio::test]
async fn clients_without_keys_from_two_addresses_do_not_block_key_holders() {
    let settings = "require_key = true\nmax_connections = 8\nmax_unidentified_connections = 4\n\
        identify_timeout_seconds = 600\nheader_timeout_seconds = 600";
    let desk = desk(settings).await;
    let mut strangers = Vec::new();
    for number in 0..40 {
        let address = ["127.0.0.2", "127.0.0.3"][number % 2];
        let mut stream = connect_from(address, desk.port).await;
        // Sockets, half a head, and nothing at all.
        if number % 4 < 2 {
            let head = upgrade_head("/ws/fixture", "");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).await.unwrap();
            assert_eq!(&status, b"HTTP/1.1 101");
        } else if number % 4 == 2 {
            stream.write_all(b"GET /readyz HTTP/1.1\r\n").await.unwrap();
        }
        strangers.push(stream);
    }
    let mut sockets = Vec::new();
    for key in [KEY, OTHER_KEY] {
        for _ in 0..4 {
            let mut socket = Socket::with_bearer(&desk, "fixture", key).await;
            result(&socket.request(&list()).await);
            sockets.push(socket);
        }
        // One key has half of all places.
        if key == KEY {
            assert_eq!(list_with(&desk, &[BEARER]).await, 429);
        }
    }
    // All places are taken now, by key holders.
    let other = ("authorization", "Bearer other key");
    assert_ne!(list_with(&desk, &[other]).await, 200);
    assert_eq!(desk.get("/readyz").await.status, 200, "busy is not dead");
    drop(sockets);
    // Of the strangers at most four were left when the last of them came.
    let mut ends: FuturesUnordered<_> = strangers.into_iter().map(ended).collect();
    for _ in 0..36 {
        ends.next().await.unwrap();
    }
}

/// One who waits longest goes first, so a flood from many addresses, each with
/// one connection, leaves newcomers the time to show their key.
#[tokio::test]
async fn clients_without_keys_from_many_addresses_do_not_block_key_holders() {
    let settings = "require_key = true\nmax_unidentified_connections = 2\n\
        identify_timeout_seconds = 600\nheader_timeout_seconds = 600";
    let desk = desk(settings).await;
    let mut strangers = Vec::new();
    for number in 2..20 {
        let address = format!("127.0.0.{number}");
        strangers.push(connect_from(&address, desk.port).await);
        assert_eq!(list_with(&desk, &[BEARER]).await, 200);
    }
    let mut ends: FuturesUnordered<_> = strangers.into_iter().map(ended).collect();
    for _ in 0..16 {
        ends.next().await.unwrap();
    }
}

/// Where no key is needed either, those who have one find room.
#[tokio::test]
async fn anonymous_connections_leave_room_for_key_holders() {
    let desk = desk("max_connections = 16\nmax_connections_per_address = 0").await;
    let mut anonymous = Vec::new();
    while anonymous.len() < 8 {
        // The desk may not know yet that earlier connections are closed.
        anonymous.extend(Socket::try_open(&desk, "fixture").await);
    }
    assert_eq!(list_with(&desk, &[]).await, 503);
    assert!(Socket::try_open(&desk, "fixture").await.is_none());
    assert_eq!(list_with(&desk, &[BEARER]).await, 200);
    let mut socket = Socket::with_bearer(&desk, "fixture", KEY).await;
    result(&socket.request(&list()).await);
}

#[tokio::test]
async fn slow_and_idle_clients_are_disconnected_unless_they_have_a_key() {
    let desk = desk("require_key = true\nidentify_timeout_seconds = 4").await;
    let body = list().to_string();
    let post = |more: &str| {
        let length = body.len();
        format!(
            "POST /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\n{more}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let connect = async |start: &str| {
        let mut stream = desk.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        stream
    };
    let mut slow = connect(&post("authorization: Bearer phone key\r\n")).await;
    for start in [
        String::new(),
        "POST /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\n".into(),
        // The head without the body,
        post(""),
        post("authorization: Bearer wrong\r\n"),
        // and whole requests, after which the connection stays open.
        format!("{}{body}", post("")),
        "GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".into(),
        "GET /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n".into(),
    ] {
        ended(connect(&start).await).await;
    }
    // The key came with the head; the body may take its time.
    slow.write_all(body.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    slow.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
}

#[tokio::test]
async fn unfinished_tls_handshakes_do_not_block_key_holders() {
    let config = format!(
        "[http]\nrequire_key = true\nmax_connections = 4\nmax_unidentified_connections = 2\n{}",
        configured_keys(&[("phone", KEY)])
    );
    let (desk, authority) = tls::start(&config).await;
    let mut silent = Vec::new();
    for start in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01"].repeat(10) {
        let mut stream = desk.connect().await;
        stream.write_all(start).await.unwrap();
        silent.push(stream);
    }
    let list = list().to_string();
    let answer = authority.request(desk.port, "POST", "/mcp/fixture", &[BEARER], list);
    assert_eq!(answer.await.status, 200);
    drop(silent);
}

#[tokio::test]
async fn a_client_that_never_reads_is_disconnected() {
    let config = "[http]\nwrite_timeout_seconds = 1\n[websocket]\nqueue = 4\n";
    let desk = Desk::with_config(config).await;
    // Many requests, and none of the answers is read.
    let get = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(100);
    never_read(&desk, b"", &get).await;
    // The same on a socket: a frame masked with zeros.
    let call = json!({ "name": "fixture_echo", "arguments": { "text": "x".repeat(30_000) } });
    let call = plain(1, "tools/call", call).to_string();
    let mut frame = vec![0x81, 0xfe];
    frame.extend(u16::try_from(call.len()).unwrap().to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(call.as_bytes());
    never_read(&desk, upgrade_head("/ws/fixture", "").as_bytes(), &frame).await;
    assert_eq!(desk.get("/readyz").await.status, 200);
}

/// Sends the same over and over until the desk hangs up.
async fn never_read(desk: &Desk, start: &[u8], again: &[u8]) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let to = ([127, 0, 0, 1], desk.port).into();
    let mut stream = socket.connect(to).await.unwrap();
    stream.write_all(start).await.unwrap();
    let flood = async { while stream.write_all(again).await.is_ok() {} };
    tokio::time::timeout(PATIENCE, flood)
        .await
        .expect("still open");
}

/// Requests of one connection that are under way have a limit.
#[tokio::test]
async fn a_connection_has_at_most_256_requests_in_flight() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "fixture").await;
    let sleep = json!({ "name": "fixture_sleep", "arguments": { "milliseconds": 30_000 } });
    for id in 1..=256 {
        socket.send(&plain(id, "tools/call", sleep.clone())).await;
    }
    let echo = json!({ "name": "fixture_echo", "arguments": { "text": "x" } });
    let refused = socket
        .request(&plain(257, "tools/call", echo.clone()))
        .await;
    assert_eq!(refused["error"]["code"], 429, "{refused}");
    assert!(
        refused["error"]["data"]["retry_after_ms"].is_u64(),
        "{refused}"
    );
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } });
    socket.send(&cancel).await;
    let answered = socket.request(&plain(258, "tools/call", echo)).await;
    assert_eq!(structured(result(&answered))["text"], "x");
}

/// What strangers send is refused anyway, so little of it is kept.
#[tokio::test]
async fn little_is_read_from_clients_without_a_key() {
    let desk = desk("require_key = true").await;
    let echo = |length: usize| {
        let text = "x".repeat(length);
        plain_call(7, "fixture_echo", json!({ "text": text }))
    };
    let post = async |length: usize, headers: &[(&str, &str)]| {
        let body = echo(length).to_string();
        let answer = request(desk.port, "POST", "/mcp/fixture", headers, body).await;
        (answer.status, answer.message()["id"].clone())
    };
    assert_eq!(post(1_000, &[]).await, (401, json!(7)));
    assert_eq!(post(100_000, &[]).await, (401, json!(null)));
    let wrong = [("authorization", "Bearer wrong")];
    assert_eq!(post(100_000, &wrong).await, (401, json!(null)));
    assert_eq!(post(100_000, &[BEARER]).await, (200, json!(7)));
    // A form of the console is small.
    let origin = desk.url("");
    let headers = [("origin", origin.as_str())];
    let form = format!("token={}", "x".repeat(100_000));
    let answer = request(desk.port, "POST", "/console/open", &headers, form).await;
    assert_eq!(answer.status, 413);
    // On a socket.
    let mut keyless = Socket::open(&desk, "fixture").await;
    keyless.send(&echo(100_000)).await;
    assert_eq!(u16::from(keyless.closed().await.unwrap().code), 1009);
    let mut keyed = Socket::with_bearer(&desk, "fixture", KEY).await;
    let answer = keyed.request(&echo(100_000)).await;
    assert_eq!(
        structured(result(&answer))["text"].as_str().unwrap().len(),
        100_000
    );
}

/// Until one of its requests was admitted, a socket hears nothing but the answer
/// that refuses it.
#[tokio::test]
async fn a_socket_without_a_key_gets_no_notifications() {
    let desk = desk("require_key = true").await;
    let hears = async |socket: &mut Socket| loop {
        let message = socket.receive().await;
        if message["method"] == "notifications/tools/list_changed" {
            return;
        }
    };
    let mut keyed = Socket::with_bearer(&desk, "fixture", KEY).await;
    let mut keyless = Socket::open(&desk, "fixture").await;
    let mut wrong = Socket::with_bearer(&desk, "fixture", "wrong").await;
    result(&keyed.request(&initialize(1, "2025-06-18")).await);
    for socket in [&mut keyed, &mut keyless, &mut wrong] {
        socket.send(&initialized()).await;
        // What else is no request, and must not be taken up either.
        socket
            .send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }))
            .await;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
        socket.send(&note).await;
    }
    let change = json!({ "name": "test_trigger_tool_change", "arguments": {} });
    for _ in 0..3 {
        result(&keyed.request(&plain(2, "tools/call", change.clone())).await);
    }
    // By now all who are told were told.
    keyed.send(&plain(3, "tools/call", change)).await;
    hears(&mut keyed).await;
    for socket in [&mut keyless, &mut wrong] {
        socket.send(&list()).await;
        let first = socket.receive().await;
        assert_eq!(first["error"]["code"], 401, "{first}");
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    }
}
