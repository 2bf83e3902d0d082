//! How questions are decided, listed and forgotten.

use desk::approvals::{Decision, Status, lapse_all};
use kit::sql::Budget;
use serde_json::json;

use crate::office::{DAY, NOW, Office, TEN_MINUTES};

impl Office {
    /// Asks about a message with this text, and returns the question's id.
    async fn ask(&self, text: &str) -> String {
        let message = json!({ "to": "Ann", "text": text });
        let asked = self.anonymous().refused("send", message).await;
        let id = &asked.details.unwrap()["approval_id"];
        id.as_str().unwrap().to_owned()
    }

    async fn answer(&self, id: &str, decision: Decision) -> Result<Status, String> {
        let decided = self.desk.approvals.decide(id, decision, "Eve").await;
        let text = |error: kit::Error| error.text();
        decided.map(|approval| approval.status).map_err(text)
    }
}

fn deny(reason: &str) -> Decision {
    Decision::Deny {
        reason: reason.into(),
    }
}

#[tokio::test]
async fn whoever_comes_second_learns_what_was_decided() {
    let office = Office::open(|_| {}).await;
    let (first, second, third) = (
        office.ask("1").await,
        office.ask("2").await,
        office.ask("3").await,
    );
    let approved = office.answer(&first, Decision::Once).await;
    assert_eq!(approved, Ok(Status::Approved));
    assert_eq!(office.answer(&second, deny(" ")).await, Ok(Status::Denied));
    let again = office.answer(&first, deny("no")).await.unwrap_err();
    let expected = "ALREADY_DECIDED: This is already approved, by Eve. Nothing was changed.";
    assert_eq!(again, expected);
    let again = office.answer(&second, Decision::Once).await.unwrap_err();
    let expected = "ALREADY_DECIDED: This is already denied, by Eve. Nothing was changed.";
    assert_eq!(again, expected);
    office.pass(TEN_MINUTES);
    let late = office.answer(&third, Decision::Once).await.unwrap_err();
    let expected = "APPROVAL_EXPIRED: This question has expired. Nothing was changed.";
    assert_eq!(late, expected);
    let unknown = office.answer("ap_0", Decision::Once).await.unwrap_err();
    assert!(unknown.starts_with("APPROVAL_NOT_FOUND: "), "{unknown}");
    let second = office.desk.approvals.get(&second).await.unwrap();
    assert_eq!(second.reason, None, "a blank reason is none");
    assert_eq!(second.decided_at, Some(NOW));
    assert_eq!(second.decided_by.as_deref(), Some("Eve"));
}

#[tokio::test]
async fn questions_are_listed_by_their_status_at_present() {
    let office = Office::open(|_| {}).await;
    let mut ids = Vec::new();
    for text in ["lapsed", "unused", "approved", "denied", "used", "waits"] {
        if text == "approved" {
            office.pass(TEN_MINUTES - 1);
        }
        let id = office.ask(text).await;
        match text {
            "denied" => _ = office.answer(&id, deny("no")).await.unwrap(),
            "unused" | "approved" | "used" => {
                office.answer(&id, Decision::Once).await.unwrap();
            }
            _ => {}
        }
        ids.push(id);
        office.pass(1);
    }
    let message = json!({ "to": "Ann", "text": "used" });
    office.anonymous().ok("send", message).await;
    let [lapsed, unused, approved, denied, used, waits] = ids.try_into().unwrap();
    for (status, expected) in [
        (Status::Pending, vec![&waits]),
        (Status::Approved, vec![&approved]),
        (Status::Denied, vec![&denied]),
        (Status::Used, vec![&used]),
        (Status::Expired, vec![&unused, &lapsed]),
    ] {
        let listed = office.desk.approvals.list(Some(status), 10).await.unwrap();
        let ids: Vec<&String> = listed.iter().map(|it| &it.id).collect();
        assert_eq!(ids, expected, "{status:?}");
        assert!(listed.iter().all(|it| it.status == status), "{listed:?}");
    }
    let all = office.desk.approvals.list(None, 10).await.unwrap();
    assert_eq!(all.len(), 6);
    let newest = office.desk.approvals.list(None, 2).await.unwrap();
    let newest: Vec<&String> = newest.iter().map(|it| &it.id).collect();
    assert_eq!(newest, [&waits, &used]);
}

#[tokio::test]
async fn unused_approvals_can_be_ended_and_old_ones_are_deleted() {
    let office = Office::open(|_| {}).await;
    let (first, _) = (office.ask("1").await, office.ask("2").await);
    office.answer(&first, Decision::Once).await.unwrap();
    let now = office.now();
    let lapse = move |sql: &mut dyn kit::Sql| lapse_all(sql, now);
    let lapsed = office.store.transaction(Budget::default(), lapse).await;
    assert_eq!(lapsed.unwrap(), 2);
    let approvals = &office.desk.approvals;
    let expired = approvals.list(Some(Status::Expired), 10).await.unwrap();
    assert_eq!(expired.len(), 2);
    office.pass(90 * DAY);
    approvals.purge().await.unwrap();
    assert_eq!(approvals.list(None, 10).await.unwrap().len(), 2);
    office.pass(1);
    approvals.purge().await.unwrap();
    assert!(approvals.list(None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_change_of_approvals_is_announced() {
    let office = Office::open(|_| {}).await;
    let mut changes = office.desk.approvals.changes();
    let mut is_announced = || {
        let changed = changes.has_changed().unwrap();
        changes.mark_unchanged();
        changed
    };
    assert!(!is_announced());
    let id = office.ask("1").await;
    assert!(is_announced());
    office.answer(&id, Decision::Always).await.unwrap();
    assert!(is_announced());
    office.desk.approvals.list(None, 10).await.unwrap();
    assert!(!is_announced());
    let grants = office.desk.approvals.grants().await.unwrap();
    let revoked = office.desk.approvals.revoke_grant(&grants[0].id);
    revoked.await.unwrap();
    assert!(is_announced());
}
