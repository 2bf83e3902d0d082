//! Sending and cancelling messages, as far as no server is needed.

use innervoice::Settings;
use kit::context::Language;
use serde_json::json;

use crate::assistant::{both, one, with};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn without_a_mail_server_a_message_stays_in_the_outbox() {
    for mut assistant in both().await {
        assistant.know_people().await;
        let answer = assistant
            .ok("message.send", json!({"to": "花子", "text": "hello"}))
            .await;
        assert_eq!(answer["delivery"], "not_configured");
        assert_eq!(answer["platform"], "email");
        assert_eq!(answer["undo_until"], "2026-11-15T10:00:10+09:00");
        let list = assistant.ok("message.list", json!({})).await;
        assert_eq!(list["messages"][0]["status"], "queued");
        assert_eq!(list["messages"][0]["held"], "not_configured");
        assert_eq!(list["messages"][0]["text"], "hello");
        assistant.context.language = Language::Japanese;
        let answer = assistant
            .ok(
                "message.send",
                json!({"to": "090-1111-2222", "text": "hello"}),
            )
            .await;
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("送信箱に残しています"), "{message}");
    }
}

#[tokio::test]
async fn with_a_mail_server_a_message_waits_ten_seconds() {
    let settings = Settings {
        smtp_url: "smtp://127.0.0.1:1".into(),
        smtp_from: "Me <me@example.com>".into(),
        ..Settings::default()
    };
    let assistant = with(settings).await;
    let answer = assistant
        .ok(
            "message.send",
            json!({"to": "a@example.com", "text": "hello"}),
        )
        .await;
    assert_eq!(answer["delivery"], "queued");
    assert_eq!(
        answer["message"],
        "The e-mail to a@example.com goes out in 10 seconds."
    );
    let list = assistant.ok("message.list", json!({})).await;
    assert_eq!(
        list["messages"][0]["next_attempt_at"],
        "2026-11-15T10:00:10+09:00"
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_is_cancelled_by_id_or_the_newest_one() {
    for assistant in both().await {
        let send = async |text: &str| {
            let arguments = json!({"to": "a@example.com", "text": text});
            assistant.ok("message.send", arguments).await["id"].clone()
        };
        assert_eq!(
            assistant.code("message.cancel", json!({})).await,
            "NOTHING_TO_CANCEL"
        );
        let first = send("one").await;
        assistant.set_clock("2026-11-15T10:00:01+09:00");
        let second = send("two").await;
        // A retry cancels no other message.
        for _ in 0..2 {
            let newest = assistant.ok("message.cancel", json!({})).await;
            assert_eq!(newest["id"], second);
        }
        let queued = json!({"status": "queued"});
        let waiting = assistant.ok("message.list", queued).await;
        assert_eq!(waiting["messages"][0]["id"], first);
        assistant.ok("message.cancel", json!({"id": first})).await;
        assistant.ok("message.cancel", json!({"id": first})).await;
        let unknown = json!({"id": "msg_none"});
        assert_eq!(
            assistant.code("message.cancel", unknown).await,
            "MESSAGE_NOT_FOUND"
        );
        let cancelled = assistant
            .ok("message.list", json!({"status": "cancelled"}))
            .await;
        assert_eq!(cancelled["messages"].as_array().unwrap().len(), 2);
        assistant.set_clock("2026-11-15T10:00:02+09:00");
        let sent = send("three").await;
        assistant
            .sql("UPDATE innervoice_outbox SET status = 'sent' WHERE status = 'queued' RETURNING 1")
            .await;
        assert_eq!(
            assistant.code("message.cancel", json!({"id": sent})).await,
            "TOO_LATE_TO_CANCEL"
        );
        assert_eq!(
            assistant.code("message.cancel", json!({})).await,
            "TOO_LATE_TO_CANCEL"
        );
    }
}

/// Each recipient gets a message of its own; the id of the call takes back all.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_goes_to_several_people() {
    for assistant in both().await {
        assistant.know_people().await;
        let to = json!(["太郎", "花子", "+15550100222", "hanako@example.com"]);
        let arguments = json!({"to": to, "text": "hello", "subject": "Late"});
        let card = assistant
            .card("message.send", arguments.clone())
            .await
            .unwrap();
        let everybody = "田中 太郎 <taro@example.com>, 田中 花子 <hanako@example.com>, \
            Ann Lee <+15550100222>";
        assert_eq!(card.recipient.as_deref(), Some(everybody));
        assert_eq!(card.lines[2].text, "Late");
        let sent = assistant.ok("message.send", arguments).await;
        assert_eq!(sent["recipient"], everybody);
        assert_eq!(sent["platform"], "email, sms");
        let codes: Vec<_> = sent["warnings"].as_array().unwrap().iter().collect();
        assert_eq!(codes.last().unwrap()["code"], "SUBJECT_IGNORED");
        let list = assistant.ok("message.list", json!({})).await;
        let messages = list["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3);
        let subjects = messages.iter().filter(|one| one["subject"] == "Late");
        assert_eq!(subjects.count(), 2);
        let cancelled = assistant.ok("message.cancel", json!({})).await;
        assert_eq!(cancelled["id"], sent["id"]);
        let queued = json!({"status": "queued"});
        let queued = assistant.ok("message.list", queued).await;
        assert_eq!(queued["messages"], json!([]));
        assert_eq!(queued["details"]["reason"], "none_of_that_status");
        let unknown = json!({"to": "太郎, 徳川家康", "text": "hello"});
        let code = assistant.code("message.send", unknown).await;
        assert_eq!(code, "RECIPIENT_NOT_FOUND");
        let everyone = vec!["a@example.com"; 21].join(", ");
        let code = assistant
            .code("message.send", json!({"to": everyone, "text": "x"}))
            .await;
        assert_eq!(code, "TOO_MANY_RECIPIENTS");
        assert_eq!(assistant.count("innervoice_outbox").await, 3);
    }
}

#[tokio::test]
async fn the_card_shows_the_recipient_and_the_whole_text() {
    let assistant = one().await;
    assistant.know_people().await;
    let text = "long ".repeat(1_000);
    let arguments = json!({"to": "太郎", "text": text});
    let card = assistant.card("message.send", arguments).await.unwrap();
    assert_eq!(
        card.recipient.as_deref(),
        Some("田中 太郎 <taro@example.com>")
    );
    assert_eq!(card.lines[3].text, text.trim());
    let too_long = json!({"to": "太郎", "text": text, "platform": "sms"});
    assert_eq!(
        assistant.code("message.send", too_long).await,
        "TEXT_TOO_LONG"
    );
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused() {
    for (settings, key) in [
        (json!({"smtp_url": "smtp://mail"}), "smtp_from"),
        (
            json!({"smtp_url": "mail.example.com", "smtp_from": "me@example.com"}),
            "smtp_url",
        ),
        (json!({"sms_url": "ftp://x"}), "sms_url"),
        (
            json!({"reminder_email": "me@example.com"}),
            "reminder_email",
        ),
        (
            json!({"webhook_url": "https://example.com", "webhook_secret": "whsec_???"}),
            "webhook_secret",
        ),
    ] {
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let store = one().await.store().clone();
        let error = innervoice::counter(settings, store).err().unwrap();
        assert_eq!(error.code, "INVALID_CONFIG");
        assert!(error.message.contains(key), "{error}");
    }
}
