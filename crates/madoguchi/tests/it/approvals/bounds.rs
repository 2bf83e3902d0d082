//! What an agent can make the desk keep by asking.

use desk::{
    approvals::{LONGEST_QUESTION, Status},
    settings::Policy,
};
use serde_json::json;
use store::testing::Postgres;

use super::own_desk::OwnDesk;

async fn on_both() -> [OwnDesk; 2] {
    let url = Postgres::shared().create_database();
    let ask = [("look", Policy::Ask)];
    [
        OwnDesk::open(None, &ask, |_| {}).await,
        OwnDesk::open(Some(&url), &ask, |_| {}).await,
    ]
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_approval_that_is_too_long_to_show_is_refused() {
    for own in on_both().await {
        // The text stands in the arguments and on the card.
        let text = |length: usize| json!({ "n": 1, "text": "x".repeat(length) });
        let fits = text(LONGEST_QUESTION / 2 - 500);
        assert_eq!(own.refused("look", fits).await, "APPROVAL_REQUIRED");
        let longer = text(LONGEST_QUESTION / 2);
        assert_eq!(own.refused("look", longer).await, "TOO_LONG_TO_APPROVE");
        let kept = own.desk.approvals.list(Some(Status::Pending), 10).await;
        assert_eq!(kept.unwrap().len(), 1);
        own.close().await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn expired_approvals_are_deleted() {
    for own in on_both().await {
        for n in 0..200 {
            let code = own.refused("look", json!({ "n": n })).await;
            assert_eq!(code, "APPROVAL_REQUIRED", "{n}");
            if n % 40 == 39 {
                own.sql("UPDATE desk_approvals SET expires_at = 1000").await;
            }
        }
        own.refused("look", json!({ "n": 200 })).await;
        let kept = own.desk.approvals.list(None, 1_000).await.unwrap();
        assert_eq!(
            kept.len(),
            101,
            "the newest hundred, and the one that waits"
        );
        own.close().await;
    }
}
