//! Reminders reach a phone by ntfy and a program by webhook.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ALLOWS, FLAG, mail::Caller};
use crate::harness::{Desk, Peer, request};

const TOKEN: &str = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";

async fn start(settings: &str) -> Desk {
    let config = format!("{ALLOWS}\n[innervoice]\n{settings}");
    Desk::setup().config(&config).own_port(FLAG).start().await
}

async fn remind_now(caller: &mut Caller, note: &str) {
    let now = jiff::Timestamp::now().to_string();
    let made = caller.call("reminder.create", json!({ "time": now, "note": note }));
    assert_eq!(made.await["status"], "ok");
}

/// The messages that a subscriber of the topic gets.
async fn on_the_phone(server: &Peer, count: usize) -> Vec<Value> {
    for _ in 0..1200 {
        let path = "/our-house_1/json?poll=1";
        let answer = request(server.port, "GET", path, &[], "").await;
        let text = answer.text();
        let messages: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        if messages.len() >= count {
            return messages;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came");
}

#[tokio::test]
async fn a_reminder_is_published_to_ntfy() {
    let server = Peer::start("ntfy_server.py", &[TOKEN, "503", "429", "take"]).await;
    let desk = start(&format!(
        "ntfy_url = \"http://127.0.0.1:{}/our-house_1\"\nntfy_token = \"{TOKEN}\"\n",
        server.port
    ))
    .await;
    let mut caller = Caller::new(&desk).await;
    remind_now(&mut caller, "薬を飲む 💊").await;
    let heard = on_the_phone(&server, 1).await;
    assert_eq!(heard[0]["event"], "message");
    assert_eq!(heard[0]["topic"], "our-house_1");
    assert_eq!(heard[0]["title"], "Reminder");
    assert_eq!(heard[0]["tags"], json!(["alarm_clock"]));
    let text = heard[0]["message"].as_str().unwrap();
    assert!(text.starts_with("薬を飲む 💊\n\n"), "{text}");
    // Longer than a message may be: it is cut, and says so.
    let long = "長".repeat(2_000);
    remind_now(&mut caller, &long).await;
    let heard = on_the_phone(&server, 2).await;
    let text = heard[1]["message"].as_str().unwrap();
    assert!(text.starts_with("長長長") && text.ends_with('…'), "{text}");
    assert!((4_000..=4_096).contains(&text.len()), "{}", text.len());
}

#[tokio::test]
async fn a_webhook_signature_can_be_verified() {
    let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let server = Peer::start("webhook_server.py", &[secret, "500", "200"]).await;
    let desk = start(&format!(
        "webhook_url = \"http://127.0.0.1:{}/hook\"\nwebhook_secret = \"{secret}\"\n",
        server.port
    ))
    .await;
    let mut caller = Caller::new(&desk).await;
    remind_now(&mut caller, "薬を飲む").await;
    let posts = server.said(2, |one| one.get("signed").is_some()).await;
    for post in &posts {
        assert_eq!(post["signed"], true, "{post}");
        assert_eq!(post["other"], false, "{post}");
        assert_eq!(post["type"], "application/json");
        // Receivers refuse what is more than five minutes old.
        assert!(post["age"].as_f64().unwrap() < 300.0, "{post}");
        assert_eq!(post["body"]["type"], "reminder.fired");
        assert_eq!(post["body"]["note"], "薬を飲む");
        assert_eq!(post["body"]["late"], false);
    }
    assert_eq!(posts[0]["id"], posts[1]["id"]);
    assert_eq!(posts[0]["body"], posts[1]["body"]);
}
