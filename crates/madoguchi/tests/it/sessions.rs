//! Sessions of the handshake era: not too many, and the idlest one goes first.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Desk, LEGACY, Session, plain};

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
    let desk = Desk::setup().config(config).start().await;
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
    let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).await.unwrap();
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
    let desk = Desk::setup().config(config).start().await;
    let mut sessions = Vec::new();
    for counter in ["fixture", "cinema", "fixture"] {
        sessions.push(open(&desk, counter).await);
    }
    assert_eq!(which_are_open(&mut sessions).await, [false, true, true]);
}

/// Whoever opens many pushes out their own alone.
#[tokio::test]
async fn one_caller_does_not_push_another_out() {
    // SHA-256 of `correct horse battery staple`.
    let config = "[http]\nmax_sessions_per_caller = 2\n[identity]\n\
        keys = [{ name = \"phone\", sha256 = \"c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a\" }]\n";
    let desk = Desk::setup().config(config).start().await;
    let mut first = open(&desk, "fixture").await;
    let key = ("authorization", "Bearer correct horse battery staple");
    let mut ids = Vec::new();
    for _ in 0..4 {
        let hello = crate::harness::initialize(0, LEGACY).to_string();
        let answer =
            crate::harness::request(desk.port, "POST", "/mcp/fixture", &[key], hello).await;
        ids.push(answer.header("mcp-session-id").unwrap().to_owned());
    }
    assert!(is_open(&mut first).await);
    let mut statuses = Vec::new();
    for id in &ids {
        let headers = [key, ("mcp-session-id", id.as_str())];
        let ended =
            crate::harness::request(desk.port, "DELETE", "/mcp/fixture", &headers, "").await;
        statuses.push(ended.status);
    }
    assert_eq!(statuses, [404, 404, 202, 202]);
}
