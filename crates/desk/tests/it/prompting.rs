//! When the client's own prompt may answer for the user.

use std::{sync::Arc, time::Duration};

use desk::{approvals::Decision, keys::NewKey};
use kit::Reply;
use serde_json::{Value, json};

use crate::{client::Asked, office::Office};

fn message(text: &str) -> Value {
    json!({ "to": "Ann", "text": text })
}

fn accept(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

fn answering(answer: Value) -> Arc<Asked> {
    Arc::new(Asked {
        answer: Some(answer),
        ..Asked::default()
    })
}

#[tokio::test]
async fn the_users_own_client_may_ask_them() {
    let office = Office::open(|_| {}).await;
    let client = answering(accept("once"));
    let visitor = office.local_user().with_client(&client);
    visitor.ok("send", message("a")).await;
    let requests = client.requests.lock().unwrap().clone();
    assert_eq!(requests[0].method, "elicitation/create");
    let text = requests[0].params["message"].as_str().unwrap();
    let expected = "Asked by: local user\nTool: office.send\n\n\
        What: Send a message to Ann\nRecipient: ann@example.org\nText: a";
    assert_eq!(text, expected);
    let decision = &requests[0].params["requestedSchema"]["properties"]["decision"];
    let choices = decision["oneOf"].as_array().unwrap().iter();
    let choices: Vec<&Value> = choices.map(|choice| &choice["const"]).collect();
    assert_eq!(choices, ["once", "always", "deny"]);
    assert!(office.waiting().await.is_empty());
    let declining = answering(json!({ "action": "decline", "content": { "reason": "no" } }));
    let visitor = office.local_user().with_client(&declining);
    let denied = visitor.refused("send", message("b")).await;
    assert_eq!(denied.message, "The user denied this: no");
    // With the identical call, the user is not asked again.
    assert_eq!(visitor.code("send", message("b")).await, "APPROVAL_DENIED");
    assert_eq!(declining.requests.lock().unwrap().len(), 1);
    assert_eq!(office.notes().await, ["Ann: a"]);
}

#[tokio::test]
async fn an_answer_for_good_is_offered_only_where_it_is_possible() {
    let office = Office::open(|_| {}).await;
    let always = answering(accept("always"));
    let visitor = office.local_user().with_client(&always);
    visitor.ok("send", message("a")).await;
    visitor.ok("send", message("b")).await;
    assert_eq!(always.requests.lock().unwrap().len(), 1);
    *office.work.version.lock().unwrap() = Some("1".into());
    let denied = visitor.code("send", message("c")).await;
    assert_eq!(denied, "APPROVAL_DENIED", "this was not among the choices");
    let requests = always.requests.lock().unwrap().clone();
    let decision = &requests[1].params["requestedSchema"]["properties"]["decision"];
    assert_eq!(decision["oneOf"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn without_an_answer_of_the_prompt_the_question_waits_elsewhere() {
    let office = Office::open(|_| {}).await;
    let closed = answering(json!({ "action": "cancel" }));
    let broken = Arc::new(Asked {
        fails: true,
        ..Asked::default()
    });
    let mute = Arc::new(Asked {
        is_mute: true,
        answer: Some(accept("once")),
        ..Asked::default()
    });
    for (client, asked) in [(&closed, 1), (&broken, 1), (&mute, 0)] {
        let visitor = office.local_user().with_client(client);
        let code = visitor.code("send", message("a")).await;
        assert_eq!(code, "APPROVAL_REQUIRED");
        assert_eq!(client.requests.lock().unwrap().len(), asked);
    }
    assert_eq!(office.waiting().await.len(), 1);
}

#[tokio::test]
async fn a_key_has_to_be_trusted_with_prompts() {
    let office = Office::open(|_| {}).await;
    let key = |name: &str, trust_client_prompts| NewKey {
        name: name.into(),
        trust_client_prompts,
        ..NewKey::default()
    };
    let client = answering(accept("once"));
    let stranger = office.with_key(key("stranger", false)).await;
    let stranger = stranger.with_client(&client);
    stranger.asks("send", message("a")).await;
    assert!(client.requests.lock().unwrap().is_empty());
    let trusted = office.with_key(key("trusted", true)).await;
    trusted.with_client(&client).ok("send", message("a")).await;
}

#[tokio::test]
async fn a_question_in_a_prompt_can_be_decided_elsewhere_or_expire() {
    let office = Office::open(|_| {}).await;
    let silent = Arc::new(Asked::default());
    let visitor = office.local_user().with_client(&silent);
    let decide = async {
        while office.waiting().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        office.decide(Decision::Once).await;
    };
    tokio::join!(visitor.ok("send", message("a")), decide);
    let leave = async {
        while office.waiting().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        visitor.cancel.cancel();
    };
    let (code, ()) = tokio::join!(visitor.code("send", message("b")), leave);
    assert_eq!(code, "CANCELLED");
}

/// A stateless client gets the question as an answer, and calls again with the user's.
#[tokio::test]
async fn a_stateless_client_brings_the_answer_with_its_next_call() {
    let office = Office::open(|_| {}).await;
    let client = Arc::new(Asked {
        is_stateless: true,
        ..Asked::default()
    });
    let visitor = office.local_user().with_client(&client);
    let ask = async |text| match visitor.reply("send", message(text)).await.unwrap() {
        Reply::InputRequired { requests, state } => {
            assert_eq!(requests[0].0, "approval");
            state.unwrap()
        }
        other => panic!("{other:?}"),
    };
    let state = ask("a").await;
    let id = office.waiting().await[0].id.clone();
    assert_eq!(state, format!("approval:{id}"));
    *client.inputs.lock().unwrap() = vec![("approval".into(), accept("once"))];
    // The answer belongs to another question, or to none.
    assert_eq!(ask("a").await, state);
    *client.state.lock().unwrap() = Some(state);
    ask("b").await;
    visitor.ok("send", message("a")).await;
    assert_eq!(office.notes().await, ["Ann: a"]);
}
