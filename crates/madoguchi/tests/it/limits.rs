//! The limit under load: exactly as many pass as it says.

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Answer, Desk, modern, modern_headers, request};

const HUNDRED: &str = "[limits]\nrequests_per_minute = { fixture = 100 }\n";

async fn post(port: u16) -> Answer {
    let params = json!({ "name": "fixture_sum", "arguments": { "a": 1, "b": 2 } });
    let headers = modern_headers("tools/call", &params);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let call = modern(1, "tools/call", params).to_string();
    request(port, "POST", "/mcp/fixture", &headers, call).await
}

/// How many of the answers are the tool's; the others must say when to come back.
fn passed(answers: &[Answer]) -> usize {
    let mut passed = 0;
    for answer in answers {
        if answer.status == 200 {
            passed += 1;
            continue;
        }
        assert_eq!(answer.status, 429);
        let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
        let message: Value = answer.message();
        assert_eq!(message["error"]["code"], 429);
        let wait = message["error"]["data"]["retry_after_ms"].as_u64().unwrap();
        assert!((1..=60_000).contains(&wait), "{wait}");
    }
    passed
}

#[tokio::test]
async fn exactly_a_hundred_pass_from_many_connections() {
    let desk = Desk::setup().config(HUNDRED).start().await;
    let answers = futures::future::join_all((0..300).map(|_| post(desk.port))).await;
    assert_eq!(passed(&answers), 100);
    assert_eq!(passed(&[post(desk.port).await]), 0);
}

#[tokio::test]
async fn two_desks_on_one_database_let_a_hundred_pass_together() {
    let url = Postgres::shared().create_database();
    let one = Desk::setup().config(HUNDRED).database(&url).start().await;
    let two = Desk::setup().config(HUNDRED).database(&url).start().await;
    let ports = (0..300).map(|at| if at % 2 == 0 { one.port } else { two.port });
    let answers = futures::future::join_all(ports.map(post)).await;
    assert_eq!(passed(&answers), 100);
    for desk in [&one, &two] {
        assert_eq!(passed(&[post(desk.port).await]), 0);
    }
}
