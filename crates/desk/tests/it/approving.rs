//! When the user is asked, and what an approval is good for.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use desk::{
    approvals::{ApprovalQuestion, Decision, LONGEST_QUESTION},
    keys::NewKey,
    settings::Policy,
};
use kit::{Caller, approval::Card};
use serde_json::{Value, json};

use crate::{
    client::Asked,
    counter::NAME,
    office::{Office, TEN_MINUTES},
};

fn message(text: &str) -> Value {
    json!({ "to": "Ann", "text": text })
}

fn deny() -> Decision {
    Decision::Deny {
        reason: " not now ".into(),
    }
}

#[tokio::test]
async fn an_approved_call_is_done_once_and_the_next_one_asks_again() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let asked = visitor.refused("send", message("a")).await;
    assert_eq!(asked.code, "APPROVAL_REQUIRED");
    let details = asked.details.unwrap();
    let waiting = office.waiting().await;
    assert_eq!(details["approval_id"], waiting[0].id.as_str());
    let url = format!("http://127.0.0.1:8010/console/approvals#{}", waiting[0].id);
    assert_eq!(details["url"], url.as_str());
    assert_eq!(waiting[0].card.summary, "Send a message to Ann");
    assert_eq!(
        waiting[0].card.recipient.as_deref(),
        Some("ann@example.org")
    );
    // The same question is not asked twice.
    visitor.asks("send", message("a")).await;
    assert_eq!(office.waiting().await.len(), 1);
    assert_eq!(office.desk.approvals.count_waiting().await.unwrap(), 1);
    assert!(office.notes().await.is_empty());
    office.approve().await;
    assert_eq!(office.desk.approvals.count_waiting().await.unwrap(), 0);
    visitor.ok("send", message("a")).await;
    assert_eq!(office.notes().await, ["Ann: a"]);
    visitor.asks("send", message("a")).await;
    assert_eq!(office.notes().await, ["Ann: a"]);
    office.close().await;
}

#[tokio::test]
async fn an_approval_is_for_one_caller_and_exact_arguments() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.refused("send", message("a")).await;
    office.approve().await;
    let other = office.with_key(NewKey {
        name: "phone".into(),
        ..NewKey::default()
    });
    let other = other.await;
    other.asks("send", message("a")).await;
    visitor.asks("send", message("b")).await;
    assert!(office.notes().await.is_empty());
    visitor.ok("send", message("a")).await;
    assert_eq!(office.notes().await, ["Ann: a"]);
}

#[tokio::test]
async fn a_denial_holds_for_a_minute() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.refused("send", message("a")).await;
    office.decide(deny()).await;
    office.pass(59_999);
    let denied = visitor.refused("send", message("a")).await;
    assert_eq!(denied.code, "APPROVAL_DENIED");
    assert_eq!(denied.message, "The user denied this: not now");
    assert!(office.waiting().await.is_empty());
    office.pass(1);
    visitor.asks("send", message("a")).await;
    assert_eq!(office.waiting().await.len(), 1);
}

#[tokio::test]
async fn questions_and_approvals_expire() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let first = visitor.refused("send", message("a")).await;
    assert!(!first.message.contains("lapsed"), "{first}");
    office.pass(TEN_MINUTES - 1);
    assert_eq!(office.waiting().await.len(), 1);
    office.pass(1);
    assert!(office.waiting().await.is_empty());
    let again = visitor.refused("send", message("a")).await;
    assert_eq!(again.code, "APPROVAL_REQUIRED");
    assert!(again.message.contains("lapsed"), "{again}");
    office.approve().await;
    office.pass(TEN_MINUTES);
    visitor.asks("send", message("a")).await;
    office.approve().await;
    office.pass(TEN_MINUTES - 1);
    visitor.ok("send", message("a")).await;
}

/// A name may mean somebody else by now, and what a call changes may have changed.
#[tokio::test]
async fn an_approval_is_for_the_recipient_and_state_on_its_card() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.refused("send", message("a")).await;
    office.approve().await;
    let elsewhere = "ann@example.com".to_owned();
    let put = |address| {
        let mut addresses = office.work.addresses.lock().unwrap();
        addresses.insert("Ann".into(), address).unwrap()
    };
    let before = put(elsewhere);
    visitor.asks("send", message("a")).await;
    office.decide(deny()).await;
    put(before);
    visitor.ok("send", message("a")).await;

    // Of several questions about a call, the newest counts.
    let version = |version: &str| {
        office.pass(1);
        *office.work.version.lock().unwrap() = Some(version.into());
    };
    version("1");
    visitor.refused("send", message("b")).await;
    version("2");
    visitor.refused("send", message("b")).await;
    let waiting = office.waiting().await;
    assert_eq!(waiting.len(), 1, "the card of the first is out of date");
    assert_eq!(waiting[0].card.state.as_deref(), Some("2"));
    office.approve().await;
    version("3");
    visitor.asks("send", message("b")).await;
    office.approve().await;
    visitor.ok("send", message("b")).await;
    assert_eq!(office.notes().await, ["Ann: a", "Ann: b"]);
}

#[tokio::test]
async fn a_standing_grant_is_for_one_caller_tool_and_recipient() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    visitor.refused("send", message("a")).await;
    office.decide(Decision::Always).await;
    visitor.ok("send", message("a")).await;
    visitor.ok("send", message("b")).await;
    let bob = json!({ "to": "Bob", "text": "a" });
    visitor.asks("send", bob).await;
    let user = office.local_user();
    user.asks("send", message("c")).await;
    *office.work.version.lock().unwrap() = Some("1".into());
    let changes = visitor.code("send", message("d")).await;
    assert_eq!(changes, "APPROVAL_REQUIRED", "each change is asked about");
    *office.work.version.lock().unwrap() = None;
    let grants = office.desk.approvals.grants().await.unwrap();
    let [grant] = grants.as_slice() else {
        panic!("{grants:?}");
    };
    assert_eq!(grant.recipient, "ann@example.org");
    assert_eq!((&*grant.tool, &*grant.granted_by), ("send", "a test"));
    let approvals = &office.desk.approvals;
    approvals.revoke_grant(&grant.id).await.unwrap();
    assert!(approvals.grants().await.unwrap().is_empty());
    let again = approvals.revoke_grant(&grant.id).await.unwrap_err();
    assert_eq!(again.code, "GRANT_NOT_FOUND");
    visitor.asks("send", message("b")).await;
}

#[tokio::test]
async fn nobody_is_asked_about_what_needs_no_approval() {
    let office = Office::open(|_| {}).await;
    office.anonymous().ok("send", message("nothing")).await;
    office.console().ok("send", message("a")).await;
    assert!(office.waiting().await.is_empty());
    let allowing = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.send".into(), Policy::Allow);
    });
    allowing.await.anonymous().ok("send", message("a")).await;
    // A policy of the operator is for every call.
    let asking = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.send".into(), Policy::Ask);
        policies.insert("office.look".into(), Policy::Ask);
    });
    let asking = asking.await;
    let visitor = asking.anonymous();
    visitor.asks("send", message("nothing")).await;
    visitor.asks("look", json!({ "word": "a" })).await;
    let waiting = asking.waiting().await;
    let look = waiting.iter().find(|it| it.tool == "look").unwrap();
    let lines = &look.card.lines;
    assert_eq!((&*lines[0].label, &*lines[0].text), ("word", "a"));
}

#[tokio::test]
async fn a_caller_can_have_only_so_many_questions_waiting() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    for n in 0..50 {
        let code = visitor.code("send", message(&n.to_string())).await;
        assert_eq!(code, "APPROVAL_REQUIRED");
    }
    assert_eq!(
        visitor.code("send", message("x")).await,
        "TOO_MANY_QUESTIONS"
    );
    let other = office.local_user().code("send", message("x")).await;
    assert_eq!(other, "APPROVAL_REQUIRED");
    assert_eq!(office.waiting().await.len(), 51);
}

#[tokio::test]
async fn a_question_that_is_too_long_is_refused_with_its_length() {
    let office = Office::open(|_| {}).await;
    let card = Card::default();
    let shown = serde_json::to_string(&card).unwrap().len();
    let question = |bytes: usize| ApprovalQuestion {
        counter: NAME,
        tool: "send",
        caller: Caller::anonymous(),
        arguments: Value::String("x".repeat(bytes - shown - "\"\"".len())),
        digest: bytes.to_string(),
        card: card.clone(),
    };
    let ask = |bytes| office.desk.approvals.ask(question(bytes));
    ask(LONGEST_QUESTION).await.unwrap();
    let refused = ask(LONGEST_QUESTION + 1).await.unwrap_err();
    assert_eq!(refused.code, "TOO_LONG_TO_APPROVE");
    let details = json!({ "bytes": LONGEST_QUESTION + 1, "most": LONGEST_QUESTION });
    assert_eq!(refused.details, Some(details));
}

#[tokio::test]
async fn a_batch_is_approved_as_a_whole_and_never_for_good() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let calls = json!({ "calls": [
        { "tool": "send", "arguments": message("a") },
        { "tool": "look", "arguments": {} },
    ] });
    visitor.asks("batch", calls.clone()).await;
    let waiting = office.waiting().await;
    let card = &waiting[0].card;
    assert_eq!(card.summary, "A tool of a test (2): send, look");
    let labels: Vec<&str> = card.lines.iter().map(|line| &*line.label).collect();
    assert_eq!(labels, ["1. send: to", "1. send: text", "2. look"]);
    let approvals = &office.desk.approvals;
    let always = approvals.decide(&waiting[0].id, Decision::Always, "a test");
    assert_eq!(always.await.unwrap_err().code, "ONCE_ONLY");
    office.approve().await;
    visitor.ok("batch", calls).await;
    let implied = json!({ "n": 2 });
    visitor.asks("combined", implied.clone()).await;
    let waiting = office.waiting().await;
    let line = waiting[0].card.lines.last().unwrap();
    assert_eq!((&*line.label, &*line.text), ("includes", "act"));
    assert!(waiting[0].card.once_only);
    office.approve().await;
    visitor.ok("combined", implied).await;
}

#[tokio::test]
async fn a_held_call_continues_when_it_is_decided() {
    let office = Office::open(|settings| settings.approval.hold_seconds = 600).await;
    let client = Arc::new(Asked::default());
    let visitor = office.anonymous().with_client(&client);
    let decide = async |decision| {
        while office.waiting().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        office.decide(decision).await;
    };
    let ((), sent) = tokio::join!(decide(Decision::Once), visitor.ok("send", message("a")));
    assert_eq!(sent["text"], "Ann: a");
    assert_eq!(client.progress.load(Ordering::SeqCst), 1);
    let (denied, ()) = tokio::join!(visitor.code("send", message("b")), decide(deny()));
    assert_eq!(denied, "APPROVAL_DENIED");
    // Nobody is asked by a client whose prompt is not trusted.
    assert!(client.requests.lock().unwrap().is_empty());
    assert_eq!(office.notes().await, ["Ann: a"]);
}

#[tokio::test]
async fn a_held_call_ends_when_its_client_leaves_or_the_desk_stops() {
    let office = Office::open(|settings| settings.approval.hold_seconds = 600).await;
    let visitor = office.anonymous();
    let leave = async {
        while office.waiting().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        visitor.cancel.cancel();
    };
    let (code, ()) = tokio::join!(visitor.code("send", message("a")), leave);
    assert_eq!(code, "CANCELLED");
    let question = office.waiting().await;
    assert_eq!(question.len(), 1, "the question stays");
    // Nobody is asked for a client that is gone already.
    assert_eq!(visitor.code("send", message("b")).await, "CANCELLED");
    assert_eq!(office.waiting().await.len(), 1);
    let other = office.anonymous();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        office.desk.stopping.cancel();
    };
    let (code, ()) = tokio::join!(other.code("send", message("a")), stop);
    assert_eq!(code, "APPROVAL_REQUIRED");
}
