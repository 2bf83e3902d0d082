//! Tools that, with some arguments, do what another tool does: right and policy of
//! the other one apply too, and nothing else changes.

use desk::{
    Settings,
    approvals::{Decision, Status},
    settings::Policy,
};
use serde_json::{Value, json};

use super::own_desk::OwnDesk;

fn in_bundle(n: i64) -> Value {
    json!({ "calls": [{ "tool": "combined", "arguments": { "n": n } }] })
}

#[tokio::test]
async fn a_refusal_of_the_implied_tool_refuses_the_call_and_says_why() {
    let hide = |settings: &mut Settings| settings.tools.exclude = vec!["act".into()];
    let denied = OwnDesk::open(None, &[("act", Policy::Deny)], |_| {}).await;
    let hidden = OwnDesk::open(None, &[], hide).await;
    for (own, code) in [(denied, "DENIED_BY_POLICY"), (hidden, "TOOL_NOT_OFFERED")] {
        for (tool, implies, plain) in [
            ("combined", json!({ "n": 1 }), json!({ "n": 0 })),
            ("bundle", in_bundle(1), in_bundle(0)),
        ] {
            let error = own.result(tool, implies).await.unwrap_err();
            assert_eq!(error.code, code);
            let reason = "With these arguments, combined does what act does.";
            assert!(error.message.contains(reason), "{}", error.message);
            own.result(tool, plain).await.unwrap();
        }
        own.close().await;
    }
}

#[tokio::test]
async fn a_question_about_the_implied_tool_shows_the_called_one() {
    let own = OwnDesk::open(None, &[("act", Policy::Ask)], |_| {}).await;
    own.result("combined", json!({ "n": 0 })).await.unwrap();
    let call = json!({ "n": 1, "text": "hello" });
    let refused = own.refused("combined", call.clone()).await;
    assert_eq!(refused, "APPROVAL_REQUIRED");
    let pending = own.desk.approvals.list(Some(Status::Pending), 10).await;
    let [question] = &pending.unwrap()[..] else {
        panic!("one question");
    };
    assert_eq!(question.tool, "combined");
    let lines = question.card.lines.iter();
    let lines: Vec<_> = lines.map(|line| (&*line.label, &*line.text)).collect();
    assert_eq!(lines, [("n", "1"), ("text", "hello"), ("includes", "act")]);
    own.approve().await;
    own.result("combined", call.clone()).await.unwrap();
    assert_eq!(own.refused("combined", call).await, "APPROVAL_REQUIRED");
    own.approve().await;
    // Inside a batch too.
    own.result("bundle", in_bundle(0)).await.unwrap();
    let refused = own.refused("bundle", in_bundle(1)).await;
    assert_eq!(refused, "APPROVAL_REQUIRED");
    own.approve().await;
    own.result("bundle", in_bundle(1)).await.unwrap();
    own.close().await;
}

#[tokio::test]
async fn a_standing_grant_for_the_called_tool_does_not_cover_the_implied_one() {
    let ask = [("act", Policy::Ask), ("combined", Policy::Ask)];
    let own = OwnDesk::open(None, &ask, |_| {}).await;
    own.refused("combined", json!({ "n": 0 })).await;
    own.decide(Decision::Always).await;
    own.result("combined", json!({ "n": -1 })).await.unwrap();
    let refused = own.refused("combined", json!({ "n": 1 })).await;
    assert_eq!(refused, "APPROVAL_REQUIRED");
    own.close().await;
}
