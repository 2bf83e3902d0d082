//! A batch can be allowed this time only.

use serde_json::json;

use super::{ASKS, Visitor};
use crate::harness::{Desk, refused, structured};

#[tokio::test]
async fn a_batch_can_be_allowed_this_time_only() {
    let config = ASKS.replace("cinema.reserve_seats", "todo.create_task");
    let desk = Desk::with_config(&config).await;
    let create = json!({ "tool": "create_task", "arguments": { "title": "One" } });
    let batch = json!({ "operations": [create] });
    let call = || desk.call("todo", "batch", batch.clone());
    let asked = call().await;
    let id = &refused(&asked, "APPROVAL_REQUIRED")["details"]["approval_id"];
    let id = id.as_str().unwrap();
    let visitor = Visitor::enter(&desk).await;
    let (html, _stream) = visitor.listen().await.unwrap();
    assert!(
        html.contains(id) && html.contains("1. create_task"),
        "{html}"
    );
    assert!(html.contains(r#"value=\"once\""#), "{html}");
    assert!(!html.contains(r#"value=\"always\""#), "{html}");
    let always = visitor.decide(id, "always").await;
    assert_eq!(always.status, 400, "{}", always.text());
    assert_eq!(always.message()["outcome"], "once-only");
    assert_eq!(visitor.decide(id, "once").await.status, 200);
    structured(&call().await);
}
