//! The official TypeScript clients: the current one in every way it connects,
//! and the first one's WebSocket. What they check is in `clients/*.mjs`.

use crate::harness::{Desk, Place, clients};

const ERAS: [&str; 3] = ["auto", "legacy", "pin"];

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn over_http() {
    for era in ERAS {
        let desk = Desk::start().await;
        let output = clients::node(&desk.place, "cinema.mjs", &[&desk.url(""), era]).await;
        assert_eq!(output.code, Some(0), "{era}\n{}", output.stderr);
        desk.logs_giving_up("fixture_sleep").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn over_stdio() {
    for era in ERAS {
        let place = Place::new();
        place.load_demo(&[]);
        let output = clients::node(&place, "cinema.mjs", &["stdio", era]).await;
        assert_eq!(output.code, Some(0), "{era}\n{}", output.stderr);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn over_websocket() {
    let desk = Desk::start().await;
    let address = desk.url("").replace("http", "ws");
    let output = clients::node(&desk.place, "websocket.mjs", &[&address]).await;
    output.ok();
}
