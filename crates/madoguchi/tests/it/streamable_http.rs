//! Streamable HTTP as clients without an SDK speak it.

use serde_json::{Value, json};

use crate::harness::{Desk, LEGACY, Session, initialize, plain, request, result, structured};

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
        assert!((200..300).contains(&ended.status), "{}", ended.status);
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
    assert!(
        answer.text().contains("Did you mean cinema?"),
        "{}",
        answer.text()
    );
}
