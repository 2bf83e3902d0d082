//! What comes from the network is not trusted.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{Desk, Socket, mentions, modern, plain, request, result};

async fn status(desk: &Desk, headers: &[(&str, &str)]) -> u16 {
    let call = plain(1, "tools/list", json!({})).to_string();
    request(desk.port, "POST", "/mcp/cinema", headers, call)
        .await
        .status
}

#[tokio::test]
async fn hosts_and_origins_of_others_are_refused() {
    let desk = Desk::with_config("[http]\nallowed_hosts = [\"desk.example\", \"127.0.0.1\"]\nallowed_origins = [\"https://app.example\"]\n").await;
    assert_eq!(status(&desk, &[]).await, 200);
    assert_eq!(status(&desk, &[("host", "desk.example")]).await, 200);
    assert_eq!(status(&desk, &[("host", "evil.example")]).await, 403);
    assert_eq!(status(&desk, &[("host", "localhost")]).await, 403);
    assert_eq!(
        status(&desk, &[("origin", "https://app.example")]).await,
        200
    );
    for host in ["desk.example", "127.0.0.1"] {
        let own = format!("http://{host}:{}", desk.port);
        assert_eq!(status(&desk, &[("origin", &own)]).await, 200, "{own}");
        for other in [
            format!("http://{host}:3000"),
            format!("http://{host}"),
            format!("https://{host}:{}", desk.port),
        ] {
            assert_eq!(status(&desk, &[("origin", &other)]).await, 403, "{other}");
        }
    }
    for other in ["https://evil.example", "https://app.example:8443", "null"] {
        assert_eq!(status(&desk, &[("origin", other)]).await, 403, "{other}");
    }
    let twice = [("host", "desk.example"), ("host", "127.0.0.1")];
    assert_eq!(status(&desk, &twice).await, 400);
    // WebSockets know no same-origin policy, so the check is ours alone.
    for origin in ["https://evil.example", "http://127.0.0.1:3000"] {
        let headers = [
            ("origin", origin),
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let answer = request(desk.port, "GET", "/ws/cinema", &headers, "").await;
        assert_eq!(answer.status, 403, "{origin}");
        assert!(answer.text().contains("allowed_origins in [http]"));
    }
    // A probe may come by any name.
    let headers = [("host", "10.0.0.7")];
    assert_eq!(
        request(desk.port, "GET", "/livez", &headers, "")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn large_heads_are_refused() {
    let config = "[http]\nmax_head_bytes = 10000\n";
    let desk = Desk::with_config(config).await;
    let get = async |length: usize| {
        let padding = "x".repeat(length);
        let headers = [("x-padding", padding.as_str())];
        request(desk.port, "GET", "/readyz", &headers, "")
            .await
            .status
    };
    assert_eq!(get(9_000).await, 200);
    assert_eq!(get(11_000).await, 431);
    // One that never ends, too.
    let mut stream = desk.connect().await;
    stream
        .write_all(b"GET /readyz HTTP/1.1\r\nx-padding: ")
        .await
        .unwrap();
    let endless = async { while stream.write_all(&[b'x'; 1000]).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(20), endless)
        .await
        .expect("still read");
    // So are too many headers.
    let many: Vec<String> = (0..150).map(|n| format!("x-{n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "1")).collect();
    assert_eq!(
        request(desk.port, "GET", "/readyz", &many, "").await.status,
        431
    );
}

#[tokio::test]
async fn large_and_deep_bodies_are_refused() {
    let desk = Desk::with_config("[http]\nmax_body_bytes = 10000\n").await;
    let post = |body: String| request(desk.port, "POST", "/mcp/cinema", &[], body);
    assert_eq!(post(" ".repeat(20_000)).await.status, 413);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{{"a":{}{}}}}}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    let answer = post(deep).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.message()["error"]["code"], -32600);
    let answer = post("{\"jsonrpc\":".into()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.message()["error"]["code"], -32700);
    let answer = post(format!("[{}]", "[".repeat(100))).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.message()["error"]["code"], -32600);
}

#[tokio::test]
async fn a_client_that_sends_too_slowly_is_disconnected() {
    let desk =
        Desk::with_config("[http]\nheader_timeout_seconds = 4\nbody_timeout_seconds = 4\n").await;
    // Headers that never end, and a connection on which nothing comes.
    for start in ["POST /mcp/cinema HTTP/1.1\r\nhost: 127.0.0.1\r\n", ""] {
        let mut stream = desk.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        let began = Instant::now();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(20),
            "{start:?} was kept for {took:?}"
        );
    }
    // A body that never ends.
    let mut stream = desk.connect().await;
    let head = "POST /mcp/cinema HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn no_more_connections_than_allowed() {
    // Callers without a key have half of them.
    let desk = Desk::with_config("[http]\nmax_connections = 6\n").await;
    // The harness's own connections are closed, but the desk may not know yet.
    wait_for(&desk, "madoguchi_connections ", 1).await;
    let mut held = Vec::new();
    while held.len() < 3 {
        // That of the question itself may take a moment, too.
        held.extend(Socket::try_open(&desk, "cinema").await);
    }
    let before = metric(&desk, "madoguchi_connections_refused_total ").await;
    let headers = [("host", "127.0.0.1")];
    let call = plain(1, "tools/list", json!({})).to_string();
    let answer = request(desk.port, "POST", "/mcp/cinema", &headers, call).await;
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    // Busy is not dead.
    for path in ["/livez", "/readyz"] {
        assert_eq!(desk.get(path).await.status, 200, "{path}");
    }
    let after = metric(&desk, "madoguchi_connections_refused_total ").await;
    assert_eq!(after, before + 1, "the one that was refused is counted");
    drop(held);
    wait_for(&desk, "madoguchi_connections ", 1).await;
    assert_eq!(status(&desk, &[]).await, 200);
}

async fn metric(desk: &Desk, name: &str) -> u64 {
    let text = desk.get("/metrics").await.text();
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let value = value.unwrap_or_else(|| panic!("no {name} in {text}"));
    value.trim().parse().unwrap()
}

async fn wait_for(desk: &Desk, name: &str, value: u64) {
    let began = Instant::now();
    while metric(desk, name).await != value {
        assert!(began.elapsed() < Duration::from_secs(20), "{name}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn large_messages_close_a_socket() {
    let desk =
        Desk::with_config("[websocket]\nmax_message_bytes = 10000\nmax_frame_bytes = 10000\n")
            .await;
    let mut socket = Socket::open(&desk, "cinema").await;
    result(&socket.request(&modern(1, "tools/list", json!({}))).await);
    socket.send(&json!({ "text": "x".repeat(20_000) })).await;
    socket.closed().await;
    assert_eq!(status(&desk, &[]).await, 200, "the desk goes on");
}

#[tokio::test]
async fn a_silent_socket_is_pinged_and_given_up() {
    let desk = Desk::with_config("[websocket]\nping_seconds = 1\n").await;
    // A client that never reads never answers a ping.
    let mut stream = desk.connect().await;
    let head = "GET /ws/cinema HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\n\
        upgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(15), stream.read_to_end(&mut all));
    read.await.expect("still open").unwrap();
    let end = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let ping = [0x89, 0x00];
    assert_eq!(all[end..], [ping, ping].concat(), "two pings, then the end");
}

#[tokio::test]
async fn a_taken_port_names_the_flag_that_moves_it() {
    let desk = Desk::start().await;
    let other = crate::harness::Place::new();
    other
        .run(&["serve", "--port", &desk.port.to_string()])
        .fails_with("--port");
    other
        .run(&[
            "serve",
            "--port",
            "0",
            "--merchant-port",
            "0",
            "--innervoice-port",
            "0",
        ])
        .fails_with("--port 8010");
}

#[tokio::test]
async fn other_machines_are_let_in_only_on_purpose() {
    let place = crate::harness::Place::new();
    let config = place.file("open.toml", "[http]\naddress = \"0.0.0.0\"\n");
    let said = place
        .run(&["serve", "--config", config.to_str().unwrap()])
        .failed();
    mentions(&said, &["UNSAFE_LISTENER", "trusted_network"]);
}
