//! A gateway for texts and a receiver of webhooks, over HTTPS.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Caller, Certified};
use crate::harness::{Peer, mentions};

const SERVER: &str = "http_server.py";
const NUMBER: &str = "+819011112222";

fn sms(server: &Peer) -> String {
    format!(
        "language = \"en\"\nsms_from = \"+15550100111\"\nsms_user = \"AC1\"\n\
         sms_password = \"secret\"\nsms_url = \"https://127.0.0.1:{}/Messages.json\"\n",
        server.port
    )
}

fn is_post(one: &Value) -> bool {
    one["method"] == "POST"
}

/// Seconds between two requests.
fn between(requests: &[Value], first: usize, second: usize) -> f64 {
    let at = |number: usize| requests[number]["at"].as_f64().unwrap();
    at(second) - at(first)
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_text_waits_as_long_as_its_gateway_says() {
    let certified = Certified::new();
    let server = certified.server(SERVER, &["429:5", "201"]).await;
    let desk = certified.desk(&sms(&server)).await;
    let mut caller = Caller::new(&desk).await;
    caller.send_to(NUMBER, "one").await;
    let waits = caller.fails_with("The SMS gateway answered 429.").await;
    assert_eq!(waits["status"], "queued");
    let sent = caller.becomes("sent").await;
    assert_eq!(sent["attempts"], 2, "{sent}");
    let requests = server.so_far(is_post);
    assert_eq!(requests.len(), 2);
    // Its own pause would have been two seconds.
    let waited = between(&requests, 0, 1);
    assert!(waited >= 5.0, "{waited}");
}

/// Whether it was sent is unknown, and the user hears that.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_text_whose_answer_is_lost_is_not_sent_again() {
    let certified = Certified::new();
    let server = certified.server(SERVER, &["cut", "201"]).await;
    let desk = certified.desk(&sms(&server)).await;
    let mut caller = Caller::new(&desk).await;
    caller.send_to(NUMBER, "one").await;
    let unknown = caller.becomes("unknown").await;
    mentions(
        unknown["last_error"].as_str().unwrap(),
        &["may have been sent"],
    );
    caller.send_to("+819033334444", "two").await;
    caller.becomes("sent").await;
    let (messages, said) = caller.settled().await;
    mentions(&said, &["One may not have arrived."]);
    assert_eq!(messages[NUMBER]["attempts"], 1);
    let requests = server.so_far(is_post);
    let texts = requests.iter().map(|one| one["body"].as_str().unwrap());
    let texts: Vec<_> = texts.map(|body| body.rsplit_once('=').unwrap().1).collect();
    assert_eq!(texts, ["one", "two"]);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_gateway_of_an_unknown_authority_gets_no_text_and_no_password() {
    let certified = Certified::new();
    let server = certified.server(SERVER, &["201"]).await;
    let desk = certified.desk_that(false, &sms(&server)).await;
    let mut caller = Caller::new(&desk).await;
    caller.send_to(NUMBER, "one").await;
    let why = "The SMS gateway has a certificate that is not trusted.";
    assert_eq!(caller.fails_with(why).await["status"], "queued");
    assert_eq!(server.so_far(is_post).len(), 0);
    drop(desk);
    let desk = certified.desk(&sms(&server)).await;
    Caller::new(&desk).await.becomes("sent").await;
    assert_eq!(server.so_far(is_post).len(), 1);
}

/// A receiver recognises a repeated webhook by its id, so a lost answer is no reason to
/// lose the reminder.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_webhook_is_repeated_under_its_id_until_it_is_taken() {
    let certified = Certified::new();
    let server = certified.server(SERVER, &["cut", "503:5", "200"]).await;
    let webhook = format!("webhook_url = \"https://127.0.0.1:{}/hook\"\n", server.port);
    let desk = certified.desk(&webhook).await;
    let mut caller = Caller::new(&desk).await;
    let now = jiff::Timestamp::now().to_string();
    let reminder = json!({ "time": now, "note": "medicine" });
    assert_eq!(
        caller.call("reminder.create", reminder).await["status"],
        "ok"
    );
    let posts = server.said(3, is_post).await;
    for post in &posts {
        assert_eq!(
            post["headers"]["webhook-id"],
            posts[0]["headers"]["webhook-id"]
        );
        assert_eq!(post["body"], posts[0]["body"]);
    }
    assert!(between(&posts, 1, 2) >= 5.0, "{posts:?}");
    // Long enough for one more.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(server.so_far(is_post).len(), 3);
}
