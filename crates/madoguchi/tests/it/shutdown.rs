//! Asked to stop, the program finishes what is under way.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpStream;

use crate::harness::{Desk, LEGACY, Session, Socket, modern, result, structured};

/// A desk that drains for so long.
async fn draining_for(seconds: &str) -> Desk {
    let setup = Desk::setup().env("MADOGUCHI_HTTP__DRAIN_SECONDS", seconds);
    setup.start().await
}

#[tokio::test]
async fn running_calls_are_answered_before_shutdown_on_every_transport() {
    let mut desk = Desk::start().await;
    let params = json!({ "name": "fixture_sleep", "arguments": { "milliseconds": 14000 } });
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
        desk.call("fixture", "fixture_sleep", json!({ "milliseconds": 14000 })),
        session.request("tools/call", params),
        async {
            // Nothing tells that the calls have begun.
            tokio::time::sleep(Duration::from_secs(4)).await;
            let began = Instant::now();
            desk.signal("TERM");
            while TcpStream::connect(("127.0.0.1", desk.port)).await.is_ok() {
                assert!(began.elapsed() < Duration::from_secs(9), "it still listens");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    );
    assert_eq!(structured(&plain)["slept_ms"], 14000);
    assert_eq!(structured(result(&with_session))["slept_ms"], 14000);
    let over_socket = socket.receive().await;
    assert_eq!(structured(result(&over_socket))["slept_ms"], 14000);
    let ended = tokio::time::timeout(Duration::from_secs(10), desk.ended());
    assert!(ended.await.expect("it does not stop").success());
    drop((idle, listening));
}

#[tokio::test]
async fn a_load_balancer_has_time_to_notice_before_the_desk_stops() {
    let mut desk = draining_for("10").await;
    let mut socket = Socket::open(&desk, "fixture").await;
    let listen = modern(
        5,
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    socket.send(&listen).await;
    let mut session = Session::open(&desk, "fixture", LEGACY).await;
    let began = Instant::now();
    desk.signal("TERM");
    while desk.get("/readyz").await.status == 200 {
        assert!(began.elapsed() < Duration::from_secs(8), "still ready");
    }
    let ready = desk.get("/readyz").await;
    assert_eq!((ready.status, ready.text()), (503, "stopping\n".to_owned()));
    // The probe of a container must not kill it meanwhile.
    assert_eq!(desk.get("/livez").await.status, 200);

    // Whoever still comes is served, and told to connect anew.
    let message = modern(
        1,
        "tools/call",
        json!({ "name": "fixture_write", "arguments": {} }),
    );
    let answer = desk.post("fixture", None, &message).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("connection"), Some("close"));
    let params = json!({ "name": "fixture_write", "arguments": {} });
    structured(result(&session.request("tools/call", params.clone()).await));
    let over_socket = socket.request(&modern(2, "tools/call", params)).await;
    structured(result(&over_socket));

    // Streams end last, and say why.
    let closed = socket.closed().await.expect("a reason");
    assert_eq!(u16::from(closed.code), 1001, "{closed:?}");
    assert!(began.elapsed() >= Duration::from_millis(9900));
    while TcpStream::connect(("127.0.0.1", desk.port)).await.is_ok() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "it still listens"
        );
    }
    let ended = tokio::time::timeout(Duration::from_secs(10), desk.ended());
    assert!(ended.await.expect("it does not stop").success());
}

#[tokio::test]
async fn a_second_signal_ends_the_program_at_once() {
    for (second, code) in [("TERM", 143), ("INT", 130)] {
        let mut desk = draining_for("600").await;
        desk.signal("TERM");
        while desk.get("/readyz").await.status == 200 {}
        desk.signal(second);
        let ended = tokio::time::timeout(Duration::from_secs(20), desk.ended());
        assert_eq!(ended.await.expect("it goes on").code(), Some(code));
    }
}

/// A person at a terminal does not wait for a load balancer.
#[tokio::test]
async fn an_interrupt_does_not_drain() {
    let mut desk = draining_for("600").await;
    desk.signal("INT");
    let ended = tokio::time::timeout(Duration::from_secs(10), desk.ended());
    assert!(ended.await.expect("it does not stop").success());
}
