//! What one caller can make grow by watching, and where it ends.

use serde_json::json;

use super::{Client, Way};
use crate::harness::{Desk, LEGACY, Pipe, Socket, initialize, request, result};

const MOST: usize = 100;

fn seats(number: usize) -> String {
    format!("cinema://shows/S{number}/seats")
}

#[tokio::test]
async fn a_connection_watches_a_bounded_number_of_addresses() {
    let desk = Desk::start().await;
    let full = desk.place.create_key(&["full"]);
    for way in [Way::HttpLegacy, Way::SocketLegacy, Way::StdioLegacy] {
        let mut client = Client::open(&desk, "cinema", &full, way).await;
        for number in 0..MOST {
            let asked = json!({ "uri": seats(number) });
            result(&client.ask("resources/subscribe", &asked).await);
        }
        // One that is watched already takes no more room.
        let again = json!({ "uri": seats(0) });
        result(&client.ask("resources/subscribe", &again).await);
        let more = json!({ "uri": seats(MOST) });
        let refused = client.ask("resources/subscribe", &more).await;
        let code = &refused["error"]["data"]["error"]["code"];
        assert_eq!(code, "TOO_MANY_SUBSCRIPTIONS", "{way:?}: {refused}");
        // Ending one makes room.
        result(&client.ask("resources/unsubscribe", &again).await);
        result(&client.ask("resources/subscribe", &more).await);
    }
    let uris: Vec<String> = (0..=MOST).map(seats).collect();
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    for way in [Way::HttpModern, Way::SocketModern, Way::StdioModern] {
        let mut client = Client::open(&desk, "cinema", &full, way).await;
        let refused = client.ask("subscriptions/listen", &filter).await;
        let code = &refused["error"]["data"]["error"]["code"];
        assert_eq!(code, "TOO_MANY_SUBSCRIPTIONS", "{way:?}: {refused}");
    }
}

#[tokio::test]
async fn the_addresses_of_a_connection_have_a_bounded_length_together() {
    let desk = Desk::start().await;
    let full = desk.place.create_key(&["full"]);
    let long = |number: usize| format!("cinema://shows/{number}{}/seats", "S".repeat(1_500));
    let mut older = Client::open(&desk, "cinema", &full, Way::SocketLegacy).await;
    for number in 0..5 {
        let asked = json!({ "uri": long(number) });
        result(&older.ask("resources/subscribe", &asked).await);
    }
    let more = json!({ "uri": long(5) });
    let uris: Vec<String> = (0..6).map(long).collect();
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    let mut newer = Client::open(&desk, "cinema", &full, Way::HttpModern).await;
    for refused in [
        older.ask("resources/subscribe", &more).await,
        newer.ask("subscriptions/listen", &filter).await,
    ] {
        let code = &refused["error"]["data"]["error"]["code"];
        assert_eq!(code, "TOO_MANY_SUBSCRIPTIONS", "{refused}");
    }
}

#[tokio::test]
async fn only_addresses_that_can_hold_a_resource_are_watched() {
    let desk = Desk::start().await;
    let full = desk.place.create_key(&["full"]);
    let long = format!("cinema://shows/{}/seats", "S".repeat(1_000_000));
    for uri in ["cinema://elsewhere", "file:///etc/passwd", "", &long] {
        for way in Way::ALL {
            let mut client = Client::open(&desk, "cinema", &full, way).await;
            let refused = if way.is_modern() {
                let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
                client.ask("subscriptions/listen", &filter).await
            } else {
                client
                    .ask("resources/subscribe", &json!({ "uri": uri }))
                    .await
            };
            let code = refused["error"]["code"].as_i64().unwrap();
            assert!([-32602, -32002].contains(&code), "{way:?}: {refused}");
            let length = refused.to_string().len();
            assert!(length < 1_500, "{way:?}: {length} bytes");
        }
    }
}

#[tokio::test]
async fn a_long_handshake_is_refused() {
    let desk = Desk::start().await;
    let mut hello = initialize(1, LEGACY);
    hello["params"]["clientInfo"]["name"] = "n".repeat(20_000).into();
    let over_http = request(desk.port, "POST", "/mcp/cinema", &[], hello.to_string()).await;
    let mut socket = Socket::open(&desk, "cinema").await;
    let mut pipe = Pipe::start(desk.place.command().args(["stdio", "cinema"]));
    for answer in [
        over_http.message(),
        socket.request(&hello).await,
        pipe.request(&hello),
    ] {
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["id"], 1, "{answer}");
    }
}
