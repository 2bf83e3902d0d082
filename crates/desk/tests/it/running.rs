//! How a tool runs: within its time, to its end, and with its answer kept.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use desk::{approvals::Status, settings::Policy};
use kit::{Reply, context::Change};
use serde_json::json;

use crate::{
    client::Asked,
    office::{Office, TEN_MINUTES},
};

#[tokio::test]
async fn a_call_that_takes_too_long_is_ended() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let read = visitor.refused("slow", json!({ "n": 1 })).await;
    assert_eq!(read.code, "TIMEOUT");
    let next = read.next.as_deref();
    assert_eq!(next, Some("Nothing was changed; try again."));
    let write = visitor.refused("slow_write", json!({ "n": 1 })).await;
    assert_eq!(write.code, "TIMEOUT");
    let next = write.next.as_deref();
    assert_eq!(next, Some("Check whether it took effect before you retry."));
    visitor.cancel.cancel();
    let cancelled = visitor.code("slow", json!({ "n": 1 })).await;
    assert_eq!(cancelled, "CANCELLED");
}

#[tokio::test]
async fn a_tool_that_breaks_is_answered_without_details() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    assert_eq!(visitor.ok("breaks", json!({ "n": 7 })).await["act"], 7);
    for (tool, cause) in [
        ("breaks", "the tool panicked: it is broken"),
        ("misleads", "misleads broke its output schema at /act"),
    ] {
        let error = visitor.refused(tool, json!({ "n": 0 })).await;
        assert!(error.is_internal(), "{error}");
        assert!(!error.text().contains("broke"), "{error}");
        let said = error.cause.unwrap().to_string();
        assert!(said.starts_with(cause), "{said}");
    }
}

#[tokio::test]
async fn changes_are_announced_when_they_are_committed() {
    let office = Office::open(|_| {}).await;
    let mut events = office.served().events.subscribe();
    let visitor = office.anonymous();
    visitor
        .refused("notes.add", json!({ "text": "impossible" }))
        .await;
    assert!(events.try_recv().is_err());
    visitor.ok("notes.add", json!({ "text": "a" })).await;
    let announced = events.try_recv().unwrap().0;
    assert_eq!(announced, Change::Resource("office://notes".into()));
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn a_prepared_tool_reads_first_and_then_writes() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    for n in 0..3 {
        let planned = visitor.ok("plan", json!({ "text": "a", "key": n.to_string() }));
        assert_eq!(planned.await["text"], format!("a after {n}"));
    }
    assert_eq!(visitor.code("plan", json!({ "text": "a" })).await, "FULL");
    // A retry gets its first answer, although the work could not be done any more.
    let again = visitor.ok("plan", json!({ "text": "a", "key": "1" })).await;
    assert_eq!(again["text"], "a after 1");
    assert_eq!(office.notes().await.len(), 3);
}

/// Makes a call of `act` whose client leaves after the work has begun.
async fn abandoned(office: &Office, n: i64) {
    let begun = office.work.begun.load(Ordering::SeqCst);
    let visitor = office.anonymous();
    let call = visitor.call("act", json!({ "n": n }));
    let leaves = async {
        while office.work.begun.load(Ordering::SeqCst) == begun {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        done = call => panic!("{done:?}"),
        () = leaves => {}
    }
}

#[tokio::test]
async fn approved_work_goes_on_without_its_client_and_its_answer_is_kept() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    for n in [2, 3] {
        let number = json!({ "n": n });
        let required = visitor.code("act", number.clone()).await;
        assert_eq!(required, "APPROVAL_REQUIRED");
        office.approve().await;
        abandoned(&office, n).await;
        office.work.may_end.add_permits(1);
        let again = visitor.reply("act", number.clone()).await;
        match (n, again) {
            (2, Ok(reply)) => assert_eq!(reply.json(), Some(r#"{"act":1}"#)),
            (3, Err(error)) => {
                let text = error.text();
                assert_eq!(text, "NOT_TODAY: Not today. Try tomorrow.");
            }
            (_, other) => panic!("{other:?}"),
        }
        assert_eq!(office.work.begun.load(Ordering::SeqCst), n - 1);
        // It has its answer now; the next call is new.
        let required = visitor.code("act", number).await;
        assert_eq!(required, "APPROVAL_REQUIRED");
        let reason = String::new();
        let deny = desk::approvals::Decision::Deny { reason };
        office.decide(deny).await;
    }
    office.close().await;
}

/// The answer of a transaction that its client did not wait for.
#[tokio::test]
async fn an_answer_that_was_not_delivered_goes_to_the_identical_call() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let message = json!({ "to": "Ann", "text": "a" });
    visitor.refused("send", message.clone()).await;
    let approval = office.approve().await;
    let now = office.now();
    let id = approval.id.clone();
    // As if the program had died after the commit: used, and not delivered.
    let redeem = move |sql: &mut dyn kit::Sql| {
        use desk::approvals::redemption;
        assert!(redemption::redeem(sql, &id, "c1", now)?);
        assert!(!redemption::redeem(sql, &id, "c2", now)?);
        redemption::keep(sql, &id, r#"{"id":1,"text":"Ann: a"}"#)?;
        assert!(desk::approvals::mark_used(sql, &id, now)?);
        desk::approvals::mark_used(sql, &id, now)
    };
    let budget = kit::sql::Budget::default;
    let used_twice = office.store.transaction(budget(), redeem).await;
    assert!(!used_twice.unwrap());
    let replayed = visitor.ok("send", message.clone()).await;
    assert_eq!(replayed["text"], "Ann: a");
    assert!(office.notes().await.is_empty(), "nothing was done again");
    let required = visitor.code("send", message).await;
    assert_eq!(required, "APPROVAL_REQUIRED");
    office.desk.finish().await;
    let kept = office.desk.approvals.get(&approval.id).await.unwrap();
    assert_eq!(kept.status, Status::Used);
    assert_eq!(kept.delivered_at, Some(now));
}

/// It may have taken effect, so its time-out is not repeated as if it were an answer.
#[tokio::test]
async fn an_approval_whose_work_took_too_long_is_not_used_again() {
    let ask = ("office.slow_write".to_owned(), Policy::Ask);
    let office = Office::open(|settings| settings.approval.tools.extend([ask])).await;
    let visitor = office.anonymous();
    let number = json!({ "n": 1 });
    visitor.asks("slow_write", number.clone()).await;
    office.approve().await;
    let late = visitor.code("slow_write", number.clone()).await;
    assert_eq!(late, "TIMEOUT");
    let unknown = visitor.code("slow_write", number).await;
    assert_eq!(unknown, "OUTCOME_UNKNOWN");
}

/// Another process may still be at work, or died.
#[tokio::test]
async fn an_approval_whose_work_left_no_answer_is_not_used_again() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let message = json!({ "to": "Ann", "text": "a" });
    visitor.refused("send", message.clone()).await;
    let (id, now) = (office.approve().await.id, office.now());
    let redeem =
        move |sql: &mut dyn kit::Sql| desk::approvals::redemption::redeem(sql, &id, "c1", now);
    let budget = kit::sql::Budget::default();
    office.store.transaction(budget, redeem).await.unwrap();
    let unknown = visitor.code("send", message.clone()).await;
    assert_eq!(unknown, "OUTCOME_UNKNOWN");
    office.pass(2 * TEN_MINUTES - 1);
    assert_eq!(
        visitor.code("send", message.clone()).await,
        "OUTCOME_UNKNOWN"
    );
    office.pass(1);
    visitor.asks("send", message).await;
    assert!(office.notes().await.is_empty());
}

#[tokio::test]
async fn an_approval_lasts_until_the_tool_has_all_it_asks_for() {
    let office = Office::open(|_| {}).await;
    let client = Arc::new(Asked {
        is_stateless: true,
        is_mute: true,
        ..Asked::default()
    });
    let visitor = office.anonymous().with_client(&client);
    let number = json!({ "n": 1 });
    visitor.refused("asks_back", number.clone()).await;
    let approval = office.approve().await;
    let asked = visitor.reply("asks_back", number.clone()).await.unwrap();
    assert!(matches!(asked, Reply::InputRequired { .. }), "{asked:?}");
    let status = async || {
        office
            .desk
            .approvals
            .get(&approval.id)
            .await
            .unwrap()
            .status
    };
    assert_eq!(status().await, Status::Approved);
    *client.inputs.lock().unwrap() = vec![("more".into(), json!("here"))];
    let done = visitor.reply("asks_back", number.clone()).await.unwrap();
    assert!(matches!(done, Reply::Content(_)), "{done:?}");
    assert_eq!(status().await, Status::Used);
    let required = visitor.code("asks_back", number).await;
    assert_eq!(required, "APPROVAL_REQUIRED");
}
