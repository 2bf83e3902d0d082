//! Asked to stop, the program finishes what is under way.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use crate::harness::{Desk, LEGACY, Session, Socket, modern, result, structured};

#[tokio::test]
async fn running_calls_are_answered_before_shutdown_on_every_transport() {
    let mut desk = Desk::start().await;
    let params = json!({ "name": "fixture_sleep", "arguments": { "milliseconds": 1500 } });
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    let mut socket = Socket::open(&desk, "fixture").await;
    // An idle one, and one that only listens, must not hold anything up.
    let idle = Socket::open(&desk, "fixture").await;
    let mut listening = Socket::open(&desk, "fixture").await;
    let listen = modern(
        5,
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    listening.send(&listen).await;

    socket.send(&modern(1, "tools/call", params.clone())).await;
    let (plain, with_session, ()) = tokio::join!(
        desk.call("fixture", "fixture_sleep", json!({ "milliseconds": 1500 })),
        session.request("tools/call", params),
        async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            desk.signal("TERM");
            tokio::time::sleep(Duration::from_millis(300)).await;
            let late = TcpStream::connect(("127.0.0.1", desk.port)).await;
            assert!(late.is_err(), "a new connection was accepted");
        }
    );
    assert_eq!(structured(&plain)["slept_ms"], 1500);
    assert_eq!(structured(result(&with_session))["slept_ms"], 1500);
    let over_socket = socket.receive().await;
    assert_eq!(structured(result(&over_socket))["slept_ms"], 1500);
    let ended = tokio::time::timeout(Duration::from_secs(10), desk.ended());
    assert!(ended.await.expect("it does not stop").success());
    drop((idle, listening));
}
