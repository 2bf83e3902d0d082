//! Sessions of the handshake era: not too many, and the idlest one goes first.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{
    Answer, Desk, LEGACY, Session, configured_keys, connect_from, initialize, initialized, plain,
    request, request_over,
};

async fn is_open(session: &mut Session) -> bool {
    let answer = session.send(&plain(9, "ping", json!({}))).await;
    assert!([200, 404].contains(&answer.status), "{}", answer.text());
    answer.status == 200
}

/// In the order of their use, so that asking does not change it.
async fn which_are_open(sessions: &mut [Session]) -> Vec<bool> {
    let mut open = Vec::new();
    for session in sessions {
        open.push(is_open(session).await);
    }
    open
}

async fn open(desk: &Desk, counter: &str) -> Session {
    Session::open(desk, counter, LEGACY).await
}

#[tokio::test]
async fn the_longest_unused_session_makes_room() {
    let config = "[http]\nmax_sessions_per_caller = 3\n";
    let desk = Desk::with_config(config).await;
    let mut sessions = Vec::new();
    for counter in ["fixture", "cinema", "fixture", "cinema", "fixture"] {
        sessions.push(open(&desk, counter).await);
    }
    let which = which_are_open(&mut sessions).await;
    assert_eq!(which, [false, false, true, true, true]);

    // The third is used now, and so the fourth is the oldest.
    assert!(is_open(&mut sessions[2]).await);
    sessions.push(open(&desk, "fixture").await);
    assert!(!is_open(&mut sessions[3]).await);
    assert!(is_open(&mut sessions[2]).await);

    // One whose client listens is not idle, however long it says nothing.
    let id = sessions[4].id.clone();
    let mut stream = desk.connect().await;
    let listen = format!(
        "GET /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nmcp-session-id: {id}\r\n\r\n"
    );
    stream.write_all(listen.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    for _ in 0..4 {
        sessions.push(open(&desk, "fixture").await);
    }
    assert!(is_open(&mut sessions[4]).await);
    assert!(!is_open(&mut sessions[2]).await);
    assert!(!is_open(&mut sessions[5]).await);
}

#[tokio::test]
async fn all_counters_together_have_a_limit_too() {
    let config = "[http]\nmax_sessions = 2\n";
    let desk = Desk::with_config(config).await;
    let mut sessions = Vec::new();
    for counter in ["fixture", "cinema", "fixture"] {
        sessions.push(open(&desk, counter).await);
    }
    assert_eq!(which_are_open(&mut sessions).await, [false, true, true]);
}

/// Whoever opens many pushes out their own alone.
#[tokio::test]
async fn one_caller_does_not_push_another_out() {
    let keys = configured_keys(&[("phone", "phone key")]);
    let config = format!("[http]\nmax_sessions_per_caller = 2\n{keys}");
    let desk = Desk::with_config(&config).await;
    let mut first = open(&desk, "fixture").await;
    let key = ("authorization", "Bearer phone key");
    let mut ids = Vec::new();
    // From one address and from another: a key is one caller wherever it is used.
    for address in ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"] {
        let stream = connect_from(address, desk.port).await;
        let hello = initialize(0, LEGACY).to_string();
        let headers = [key];
        let answer = request_over(stream, desk.port, "POST", "/mcp/fixture", &headers, hello);
        let answer = answer.await.unwrap();
        ids.push(answer.header("mcp-session-id").unwrap().to_owned());
    }
    assert!(is_open(&mut first).await);
    let mut statuses = Vec::new();
    for id in &ids {
        let headers = [key, ("mcp-session-id", id.as_str())];
        let ended = request(desk.port, "DELETE", "/mcp/fixture", &headers, "").await;
        statuses.push(ended.status);
    }
    assert_eq!(statuses, [404, 404, 204, 204]);
}

/// When all places are taken, whoever has the most sessions loses one.
#[tokio::test]
async fn a_caller_with_few_sessions_keeps_them_when_the_desk_is_full() {
    let keys = configured_keys(&[("phone", "phone key")]);
    let config = format!("[http]\nmax_sessions = 3\n{keys}");
    let desk = Desk::with_config(&config).await;
    let phone = ("authorization", "Bearer phone key");
    let first = begin(&desk, &[phone]).await;
    for _ in 0..4 {
        open(&desk, "fixture").await;
    }
    let ping = plain(1, "ping", json!({})).to_string();
    assert_eq!(
        in_session(&desk, "fixture", &[phone], &first, "POST", &ping)
            .await
            .status,
        200
    );
}

/// The revision in which one body could hold several messages.
const WITH_BATCHES: &str = "2025-03-26";

async fn begin(desk: &Desk, headers: &[(&str, &str)]) -> String {
    let hello = initialize(0, WITH_BATCHES).to_string();
    let answer = request(desk.port, "POST", "/mcp/fixture", headers, hello).await;
    answer.header("mcp-session-id").unwrap().to_owned()
}

async fn in_session(
    desk: &Desk,
    counter: &str,
    headers: &[(&str, &str)],
    id: &str,
    method: &str,
    body: &str,
) -> Answer {
    let mut headers = headers.to_vec();
    headers.extend([
        ("mcp-session-id", id),
        ("mcp-protocol-version", WITH_BATCHES),
    ]);
    let path = format!("/mcp/{counter}");
    request(desk.port, method, &path, &headers, body.to_owned()).await
}

#[tokio::test]
async fn a_session_is_for_the_key_alone_that_began_it() {
    let keys = configured_keys(&[("phone", "phone key"), ("laptop", "laptop key")]);
    let desk = Desk::with_config(&keys).await;
    let phone = [("authorization", "Bearer phone key")];
    let laptop = [("authorization", "Bearer laptop key")];
    let of_phone = begin(&desk, &phone).await;
    let of_nobody = begin(&desk, &[]).await;
    let ping = plain(1, "ping", json!({})).to_string();
    let (note, answer) = (
        initialized().to_string(),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string(),
    );
    let batch = format!("[{ping}]");
    let requests = [
        ("GET", ""),
        ("POST", ping.as_str()),
        ("POST", note.as_str()),
        ("POST", answer.as_str()),
        ("POST", batch.as_str()),
        ("DELETE", ""),
    ];
    for (method, body) in requests {
        let unknown = in_session(&desk, "fixture", &phone, "unknown", method, body).await;
        assert_eq!(unknown.status, 404, "{method} {body}: {}", unknown.text());
        for (who, session, counter) in [
            (&laptop[..], &of_phone, "fixture"),
            (&[], &of_phone, "fixture"),
            (&phone[..], &of_nobody, "fixture"),
            (&phone[..], &of_phone, "cinema"),
        ] {
            let answer = in_session(&desk, counter, who, session, method, body).await;
            let (status, text) = (answer.status, answer.text());
            assert_eq!((status, text), (404, unknown.text()), "{method} {body}");
        }
    }
    // It is none the worse for it.
    let pong = in_session(&desk, "fixture", &phone, &of_phone, "POST", &ping).await;
    assert_eq!(pong.status, 200, "{}", pong.text());
    for (who, session) in [(&phone[..], &of_phone), (&[], &of_nobody)] {
        let ended = in_session(&desk, "fixture", who, session, "DELETE", "").await;
        assert_eq!((ended.status, ended.body.len()), (204, 0));
        let ended = in_session(&desk, "fixture", who, session, "DELETE", "").await;
        assert_eq!(ended.status, 404);
    }
}
