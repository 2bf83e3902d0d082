//! The stand-in gives the recorded answers of a real Meilisearch.

use std::time::Duration;

use serde_json::Value;

use crate::meilisearch_server::{KEY, Server, client};

/// Values that differ between runs. Only their type must be the same.
const VARIES: &[&str] = &[
    "duration",
    "enqueuedAt",
    "startedAt",
    "finishedAt",
    "processingTimeMs",
    "requestUid",
    "_rankingScore",
    "rawDocumentDbSize",
    "avgDocumentSize",
];

pub async fn ask(url: &str, request: &Value) -> (u16, Value) {
    let method = request["method"].as_str().unwrap().parse().unwrap();
    let url = format!("{url}{}", request["path"].as_str().unwrap());
    let mut asked = client().request(method, url);
    match request["key"].as_str().unwrap() {
        "none" => {}
        "valid" => asked = asked.bearer_auth(KEY),
        _ => asked = asked.bearer_auth("another key"),
    }
    if !request["body"].is_null() {
        asked = asked.json(&request["body"]);
    }
    let answer = asked.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

pub async fn task(url: &str, uid: &Value) -> Value {
    loop {
        let request = serde_json::json!({
            "method": "GET", "path": format!("/tasks/{uid}"), "key": "valid", "body": null,
        });
        let (_, task) = ask(url, &request).await;
        if task["status"] != "enqueued" && task["status"] != "processing" {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Panics where the two differ, except in values that vary.
pub fn same(real: &Value, ours: &Value, place: &str) {
    match (real, ours) {
        (Value::Object(real), Value::Object(ours)) => {
            let names = |map: &serde_json::Map<String, Value>| {
                let mut names: Vec<String> = map.keys().cloned().collect();
                names.sort();
                names
            };
            assert_eq!(names(real), names(ours), "{place}");
            for (name, value) in real {
                let place = format!("{place}.{name}");
                if VARIES.contains(&name.as_str()) {
                    let kinds = (value.is_string(), value.is_number());
                    let others = (ours[name].is_string(), ours[name].is_number());
                    assert_eq!(kinds, others, "{place}");
                } else {
                    same(value, &ours[name], &place);
                }
            }
        }
        (Value::Array(real), Value::Array(ours)) => {
            assert_eq!(real.len(), ours.len(), "{place}: {ours:?}");
            for (at, (real, ours)) in real.iter().zip(ours).enumerate() {
                same(real, ours, &format!("{place}[{at}]"));
            }
        }
        _ => assert_eq!(real, ours, "{place}"),
    }
}

#[tokio::test]
async fn every_recorded_exchange_is_answered_as_it_was() {
    let server = Server::start().await;
    let recorded: Value =
        serde_json::from_str(include_str!("../data/meilisearch-exchanges.json")).unwrap();
    let exchanges = recorded["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 34);
    for (number, exchange) in exchanges.iter().enumerate() {
        let place = format!("{number} ({})", exchange["note"].as_str().unwrap());
        let (status, body) = ask(&server.url(), &exchange["request"]).await;
        assert_eq!(exchange["response"]["status"], status, "{place}: {body:#}");
        same(&exchange["response"]["body"], &body, &place);
        // The next exchange was recorded after the task had ended.
        if status == 202 {
            task(&server.url(), &body["taskUid"]).await;
        }
    }
}

/// Documents are found only after their task has ended.
#[tokio::test]
async fn tasks_take_their_time() {
    let server = Server::start().await;
    server.hold_tasks(true);
    let put = serde_json::json!({
        "method": "POST", "path": "/indexes/products/documents", "key": "valid",
        "body": [{"id": 1, "name": "急須"}],
    });
    let (_, enqueued) = ask(&server.url(), &put).await;
    let look = serde_json::json!({
        "method": "GET", "path": "/tasks/0", "key": "valid", "body": null,
    });
    assert_eq!(ask(&server.url(), &look).await.1["status"], "enqueued");
    assert_eq!(server.documents(), 0);
    server.hold_tasks(false);
    let task = task(&server.url(), &enqueued["taskUid"]).await;
    assert_eq!(task["status"], "succeeded");
    assert_eq!(server.documents(), 1);
}
