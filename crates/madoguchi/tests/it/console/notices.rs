//! What reaches a person when something waits for their approval.

use std::time::Duration;

use serde_json::{Value, json};

use super::visitor::{ASKS, status_of, waiting_booking};
use crate::harness::{Desk, MailServer, Peer, request};

const TOKEN: &str = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

fn config(notify: &str, innervoice: &str) -> String {
    format!("{ASKS}notify = [{notify}]\n\n[innervoice]\nlanguage = \"en\"\n{innervoice}")
}

async fn on_the_phone(server: &Peer) -> Vec<Value> {
    let answer = request(server.port, "GET", "/topic/json?poll=1", &[], "").await;
    let text = answer.text();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn each_channel_tells_once_and_leads_to_the_card() {
    let ntfy = Peer::start("ntfy_server.py", &[TOKEN, "503", "take"]).await;
    let hook = Peer::start("webhook_server.py", &[SECRET, "500", "200"]).await;
    let mail = MailServer::start(&["later", "accept"]).await;
    let settings = format!(
        "ntfy_url = \"http://127.0.0.1:{}/topic\"\nntfy_token = \"{TOKEN}\"\n\
         webhook_url = \"http://127.0.0.1:{}/hook\"\nwebhook_secret = \"{SECRET}\"\n\
         smtp_url = \"{}\"\nsmtp_from = \"desk@example.com\"\nreminder_email = \"me@example.com\"\n",
        ntfy.port,
        hook.port,
        mail.url()
    );
    let config = config("\"ntfy\", \"email\", \"webhook\"", &settings);
    let desk = Desk::with_config(&config).await;
    // A second desk on the same data would tell as well.
    let other = Desk::setup()
        .place(&desk.place)
        .config(&config)
        .start()
        .await;
    let id = waiting_booking(&desk).await;
    let link = format!("/console/approvals#{id}");

    let posts = hook.said(2, |one| one.get("signed").is_some()).await;
    let body = &posts[1]["body"];
    assert_eq!(body["type"], "approval.waiting");
    assert_eq!(
        (&body["id"], &body["tool"]),
        (&json!(id), &json!("reserve_seats"))
    );
    assert!(body["url"].as_str().unwrap().ends_with(&link), "{body}");
    assert_eq!(posts[0]["id"], posts[1]["id"]);

    let received = mail.received(1, &["accept"]).await;
    let text = received[0].to_string();
    assert!(
        text.contains("anonymous asks for your approval: Reserve seats"),
        "{text}"
    );
    assert!(text.contains(&link), "{text}");

    for _ in 0..600 {
        if !on_the_phone(&ntfy).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Nothing more comes, from neither desk.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let heard = on_the_phone(&ntfy).await;
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(
        heard[0]["message"],
        "anonymous asks for your approval: Reserve seats"
    );
    assert!(
        heard[0]["click"].as_str().unwrap().ends_with(&link),
        "{heard:?}"
    );
    assert_eq!(hook.so_far(|one| one.get("signed").is_some()).len(), 2);
    assert_eq!(mail.received(1, &["accept"]).await.len(), 1);
    assert_eq!(status_of(&desk, &id), "pending");
    drop(other);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_channel_that_never_answers_holds_up_nothing() {
    // It listens, and says nothing.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let settings = format!("ntfy_url = \"http://127.0.0.1:{port}/topic\"\n");
    let desk = Desk::with_config(&config("\"ntfy\"", &settings)).await;
    let began = std::time::Instant::now();
    let id = waiting_booking(&desk).await;
    assert_eq!(status_of(&desk, &id), "pending");
    assert!(began.elapsed() < Duration::from_secs(25));
}
