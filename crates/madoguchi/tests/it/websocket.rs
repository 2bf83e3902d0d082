//! MCP over WebSocket: both eras, requests without any handshake, and what
//! a socket must put up with.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{
    Desk, LEGACY, MODERN, Socket, clients, initialize, initialized, modern, plain, plain_call,
    refused, result, structured,
};

fn list_movies(id: u64) -> Value {
    plain_call(id, "get_movie_list", json!({}))
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python_client_of_the_first_sdk() {
    let desk = Desk::start().await;
    let address = desk.url("").replace("http", "ws");
    let output = clients::python_websocket(&desk.place, "websocket.py", &[&address]).await;
    output.ok();
}

/// Neither handshake nor metadata: what a small device sends.
#[tokio::test]
async fn bare_requests() {
    let desk = Desk::start().await;
    let mut socket = Socket::with_protocols(&desk, "cinema", "").await;
    assert_eq!(socket.protocol, None);
    let tools = socket.request(&plain(1, "tools/list", json!({}))).await;
    assert!(result(&tools)["tools"].as_array().unwrap().len() >= 5);
    let without_params = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
    assert_eq!(
        result(&socket.request(&without_params).await),
        result(&tools)
    );
    let movies = socket.request(&list_movies(2)).await;
    assert!(structured(result(&movies))["movies"].is_array());
    let wrong = json!({ "name": "get_movie_list", "arguments": { "date": "soon" } });
    let wrong = socket.request(&plain(3, "tools/call", wrong)).await;
    refused(result(&wrong), "INVALID_DATE");
    let unknown = socket
        .request(&plain(4, "tools/call", json!({ "name": "sell" })))
        .await;
    assert_eq!(unknown["error"]["code"], -32602);
    let unknown = socket.request(&plain(5, "tickets/print", json!({}))).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn handshake_era() {
    let desk = Desk::start().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let mut socket = Socket::open(&desk, "cinema").await;
        assert_eq!(socket.protocol.as_deref(), Some("mcp"));
        let hello = socket.request(&initialize(0, version)).await;
        assert_eq!(result(&hello)["protocolVersion"], version);
        assert_eq!(result(&hello)["serverInfo"]["name"], "cinema");
        socket.send(&initialized()).await;
        let movies = socket.request(&list_movies(1)).await;
        assert_eq!(result(&movies).get("resultType"), None, "{movies}");
        let pong = socket.request(&plain(2, "ping", json!({}))).await;
        assert_eq!(pong["result"], json!({}));
    }
}

#[tokio::test]
async fn modern_era() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "cinema").await;
    let about = socket
        .request(&modern(1, "server/discover", json!({})))
        .await;
    let versions = result(&about)["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)), "{about}");
    let call = json!({ "name": "get_movie_list", "arguments": {} });
    let movies = socket.request(&modern(2, "tools/call", call)).await;
    assert_eq!(result(&movies)["resultType"], "complete");
    assert!(structured(result(&movies))["movies"].is_array());
    let pong = socket.request(&modern(3, "ping", json!({}))).await;
    assert_eq!(pong["error"]["code"], -32601);
}

/// For clients that cannot set headers, the key is a subprotocol.
#[tokio::test]
async fn keys_as_subprotocols() {
    let digest = Sha256::digest(b"sesame");
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let config = format!(
        "[http]\nrequire_key = true\n[[identity.keys]]\nname = \"phone\"\nsha256 = \"{digest}\"\n"
    );
    let desk = Desk::with_config(&config).await;
    let mut socket = Socket::with_protocols(&desk, "cinema", "mcp, mcp.auth.sesame").await;
    assert_eq!(socket.protocol.as_deref(), Some("mcp"));
    let movies = socket.request(&list_movies(1)).await;
    assert!(structured(result(&movies))["movies"].is_array());

    for protocols in ["mcp, mcp.auth.sesam", "mcp", ""] {
        let mut socket = Socket::with_protocols(&desk, "cinema", protocols).await;
        let answer = socket.request(&list_movies(7)).await;
        assert_eq!(answer["error"]["code"], 401, "{answer}");
        assert_eq!(answer["error"]["message"], "Invalid API key");
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    }
}

#[tokio::test]
async fn binary_frames_are_messages_too() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "cinema").await;
    let message = list_movies(1).to_string();
    socket
        .send_frame(Message::binary(message.into_bytes()))
        .await;
    let answer = socket.receive().await;
    assert!(structured(result(&answer))["movies"].is_array());
}

/// Bad messages are answered, and the socket stays usable.
#[tokio::test]
async fn broken_messages() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "cinema").await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (text, code, id) in [
        ("{\"jsonrpc\": \"2.0\", \"id\"", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (deep.as_str(), -32600, Value::Null),
        (r#"{"id": 4, "method": "ping"}"#, -32600, json!(4)),
        (
            r#"{"jsonrpc": "1.0", "id": 5, "method": "ping"}"#,
            -32600,
            json!(5),
        ),
        (r#"{"jsonrpc": "2.0", "id": 6}"#, -32600, json!(6)),
    ] {
        socket.send_frame(Message::text(text)).await;
        let answer = socket.receive().await;
        assert_eq!(answer["error"]["code"], code, "{text} {answer}");
        assert_eq!(answer["id"], id, "{text}");
    }
    socket.send_frame(Message::binary(vec![0xff, 0xfe])).await;
    assert_eq!(socket.receive().await["error"]["code"], -32700);
    assert!(result(&socket.request(&list_movies(8)).await).is_object());
}

/// A message over the limit ends its own socket and no other.
#[tokio::test]
async fn oversize_messages() {
    let config = "[websocket]\nmax_message_bytes = 65536\n";
    let desk = Desk::with_config(config).await;
    let mut quiet = Socket::open(&desk, "fixture").await;
    let mut loud = Socket::open(&desk, "fixture").await;
    let echo = |length: usize| {
        let text = "x".repeat(length);
        plain_call(1, "fixture_echo", json!({ "text": text }))
    };
    let answer = loud.request(&echo(60_000)).await;
    assert_eq!(
        structured(result(&answer))["text"].as_str().unwrap().len(),
        60_000
    );
    loud.send(&echo(70_000)).await;
    let close = loud.closed().await;
    assert_eq!(close.map(|close| u16::from(close.code)), Some(1009));
    assert!(result(&quiet.request(&echo(1)).await).is_object());
}

/// Two sockets, the same ids: each gets its own answers.
#[tokio::test]
async fn two_sockets() {
    let desk = Desk::start().await;
    let mut one = Socket::open(&desk, "fixture").await;
    let mut two = Socket::open(&desk, "fixture").await;
    let call = |name: &str, arguments: Value| plain_call(1, name, arguments);
    one.send(&call("fixture_sleep", json!({ "milliseconds": 500 })))
        .await;
    let quick = two
        .request(&call("fixture_echo", json!({ "text": "two" })))
        .await;
    assert_eq!(structured(result(&quick))["text"], "two");
    let slow = one.receive().await;
    assert_eq!(structured(result(&slow))["slept_ms"], 500);
}

/// A client that hangs up is noticed, and its call ends.
#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "fixture").await;
    let sleep = json!({ "name": "fixture_sleep", "arguments": { "milliseconds": 30_000 } });
    socket.send(&plain(1, "tools/call", sleep)).await;
    // Messages are taken in order, so the call has begun.
    socket.request(&plain(2, "tools/list", json!({}))).await;
    drop(socket);
    desk.logs_giving_up("fixture_sleep").await;
}

/// Frames that break the rules end the socket, with the reason.
#[tokio::test]
async fn broken_frames() {
    let desk = Desk::start().await;
    for (what, frame, code) in [
        // All masked with zeros.
        ("not masked", &b"\x81\x02{}"[..], 1002),
        ("a reserved bit", b"\xc1\x82\0\0\0\0{}", 1002),
        ("an unknown kind", b"\x83\x82\0\0\0\0{}", 1002),
        ("the rest of nothing", b"\x80\x82\0\0\0\0{}", 1002),
        ("a ping in parts", b"\x09\x80\0\0\0\0", 1002),
        ("not UTF-8", b"\x81\x82\0\0\0\0\xff\xfe", 1007),
    ] {
        let mut stream = desk.connect().await;
        let head = "GET /ws/cinema HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\n\
            upgrade: websocket\r\nsec-websocket-version: 13\r\n\
            sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(frame).await.unwrap();
        let mut all = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut all));
        let _ = read.await.expect("still open");
        let end = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        let close = &all[end..];
        assert_eq!(close.first(), Some(&0x88), "{what}: {close:?}");
        let said = u16::from_be_bytes([close[2], close[3]]);
        assert_eq!(said, code, "{what}");
    }
    // A client that says goodbye hears it back.
    let mut socket = Socket::open(&desk, "cinema").await;
    socket.send_frame(Message::Close(None)).await;
    let close = socket.closed().await;
    assert!(close.is_none_or(|close| u16::from(close.code) == 1000));
}
