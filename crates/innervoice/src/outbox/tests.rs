//! Sending, on both engines.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kit::counter::Announce;
use serde_json::json;

use crate::{
    settings::Settings,
    state::CounterState,
    testing::{NUMBER, Response, Server, both, with_sms},
};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_text_is_sent_once_after_the_undo_window() {
    let server = Server::start(Response::Answer(201, r#"{"sid": "SM1"}"#)).await;
    for test in both(&with_sms(&server)).await {
        server.forget();
        test.text(NUMBER).await;
        test.set("15T10:00:09");
        test.send().await;
        assert_eq!(server.requests().len(), 0);
        test.set("15T10:00:10");
        test.send().await;
        test.send().await;
        assert_eq!(test.status().await, ("sent".into(), 1));
        let requests = server.requests();
        let [request] = requests.as_slice() else {
            panic!("{requests:?}")
        };
        assert!(
            request.starts_with("POST /Messages.json HTTP/1.1"),
            "{request}"
        );
        assert!(
            request.contains("authorization: Basic QUMxOnNlY3JldA=="),
            "{request}"
        );
        let body = "To=%2B819011112222&From=%2B15550100111&Body=%E3%81%93%E3%82%93\
            %E3%81%AB%E3%81%A1%E3%81%AF%20%26%20hello";
        assert!(request.ends_with(body), "{request}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_text_that_may_have_been_sent_is_never_sent_again() {
    for response in [Response::Answer(503, "busy"), Response::HangUp] {
        let server = Server::start(response).await;
        for test in both(&with_sms(&server)).await {
            server.forget();
            test.text(NUMBER).await;
            for time in ["15T10:00:10", "15T11:00:00", "15T20:00:00"] {
                test.set(time);
                test.send().await;
            }
            assert_eq!(test.status().await, ("unknown".into(), 1), "{response:?}");
            assert_eq!(server.requests().len(), 1, "{response:?}");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn after_a_crash_a_mail_is_sent_again_and_a_text_is_not() {
    let server = Server::start(Response::Answer(201, "{}")).await;
    let settings = Settings {
        smtp_url: "smtp://127.0.0.1:1".into(),
        smtp_from: "me@example.com".into(),
        ..with_sms(&server)
    };
    for (to, after) in [(NUMBER, "unknown"), ("a@example.com", "queued")] {
        for test in both(&settings).await {
            test.text(to).await;
            test.set("15T10:00:10");
            let claimed = "UPDATE innervoice_outbox SET status = 'sending', attempts = 1, \
                claimed_by = 'dead', next_attempt_at = NULL, claimed_until = 1794704530000 \
                RETURNING 1";
            test.sql(claimed).await;
            // 2026-11-15T10:02:10+09:00 is when the claim runs out.
            test.sql("INSERT INTO innervoice_attempts SELECT id, 1, 0, NULL, NULL, NULL FROM innervoice_outbox RETURNING 1").await;
            test.set("15T10:02:09");
            test.send().await;
            assert_eq!(test.status().await.0, "sending", "{to}");
            test.set("15T10:02:10");
            test.send().await;
            assert_eq!(test.status().await.0, after, "{to}");
            assert_eq!(server.requests().len(), 0);
        }
    }
}

/// However long it takes, the claim is renewed meanwhile.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_being_sent_is_not_taken_over() {
    let server = Server::start(Response::Hold).await;
    let counters = both(&with_sms(&server)).await;
    for test in &counters {
        server.forget();
        test.text(NUMBER).await;
        test.set("15T10:00:10");
        let (worker, other) = (test.worker(), test.worker());
        let looks = async {
            while server.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let claim = "SELECT claimed_until FROM innervoice_outbox";
            let begun = test.sql(claim).await[0].int(0).unwrap();
            test.set("15T10:00:50");
            while test.sql(claim).await[0].int(0).unwrap() == begun {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            // The first claim would have expired by now.
            test.set("15T10:01:20");
            test.let_go().await;
            other.send_round().await.unwrap();
            assert_eq!(test.status().await, ("sending".into(), 1));
        };
        tokio::select! {
            sent = worker.send_round() => panic!("{sent:?}"),
            () = looks => {}
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_unsent_text_is_retried_with_growing_pauses_for_a_day() {
    let server = Server::start(Response::Answer(201, "{}")).await;
    let nobody = Settings {
        // Nothing listens there.
        sms_url: "http://127.0.0.1:1/".into(),
        ..with_sms(&server)
    };
    for mut test in both(&nobody).await {
        test.text(NUMBER).await;
        test.set("15T10:00:10");
        test.send().await;
        assert_eq!(test.status().await, ("queued".into(), 1));
        test.set("15T10:00:11");
        test.send().await;
        assert_eq!(test.status().await.1, 1, "two seconds have not passed");
        test.set("15T10:00:12");
        test.send().await;
        assert_eq!(test.status().await.1, 2);
        // A clock that is set back does not delay it for long.
        test.set("15T08:00:00");
        test.send().await;
        assert_eq!(test.status().await.1, 3);
        let rows = test
            .sql("SELECT outcome FROM innervoice_attempts ORDER BY number")
            .await;
        let outcomes: Vec<_> = rows.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(outcomes, ["retry", "retry", "retry"]);
        test.set("16T10:00:11");
        test.state = Arc::new(CounterState::new(with_sms(&server), test.store()).unwrap());
        test.send().await;
        assert_eq!(test.status().await.0, "failed");
        assert_eq!(server.requests().len(), 0, "nobody expects it any more");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_refused_text_has_failed_and_says_why() {
    let refusal = r#"{"code": 21211, "message": "Invalid 'To' number"}"#;
    let server = Server::start(Response::Answer(400, refusal)).await;
    for test in both(&with_sms(&server)).await {
        test.text(NUMBER).await;
        test.set("15T10:00:10");
        test.send().await;
        let list = test.ok("message.list", json!({})).await;
        assert_eq!(list["messages"][0]["status"], "failed");
        let why = list["messages"][0]["last_error"].as_str().unwrap();
        assert_eq!(why, "The SMS gateway answered 400: Invalid 'To' number");
    }
}

/// No time may be so far ahead that it looks as if the clock had been set back.
#[test]
fn a_server_cannot_ask_for_more_than_an_hour() {
    use crate::store::outbox::Outcome::{Retry, RetryAfter, Sent, Unknown};
    let minutes = |minutes: i64| minutes * 60_000;
    let later = |wait| RetryAfter(String::new(), wait);
    assert_eq!(later(minutes(5)).pause(2_000), Some(minutes(5)));
    assert_eq!(later(0).pause(2_000), Some(2_000));
    assert_eq!(later(i64::MAX).pause(2_000), Some(minutes(55)));
    assert_eq!(Retry(String::new()).pause(2_000), Some(2_000));
    assert_eq!(Sent.pause(2_000), None);
    assert_eq!(Unknown(String::new()).pause(2_000), None);
}

/// The operator can correct a wrong password; nothing was sent with it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_text_is_retried_after_a_refused_login() {
    let server = Server::start(Response::Answer(401, "{}")).await;
    for test in both(&with_sms(&server)).await {
        server.forget();
        test.text(NUMBER).await;
        for (time, attempts) in [("15T10:00:10", 1), ("15T10:00:12", 2)] {
            test.set(time);
            test.send().await;
            assert_eq!(test.status().await, ("queued".into(), attempts));
        }
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn many_workers_send_and_fire_each_thing_once() {
    let server = Server::start(Response::Answer(201, "{}")).await;
    let settings = Settings {
        webhook_url: server.url("/hook"),
        ..with_sms(&server)
    };
    for test in both(&settings).await {
        server.forget();
        for _ in 0..20 {
            test.text(NUMBER).await;
            let reminder = json!({"time": "2026-11-15T10:00:05", "note": "x", "repeat": "daily"});
            test.ok("reminder.create", reminder).await;
        }
        test.set("15T10:00:10");
        let announced = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&announced);
        let announce: Announce = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        // Every worker gets the lease; only the rows prevent duplicates.
        let rounds = (0..4).map(|_| async {
            let worker = test.worker();
            test.let_go().await;
            worker.remind_round(&announce).await.unwrap();
            test.let_go().await;
            worker.send_round().await.unwrap();
        });
        futures::future::join_all(rounds).await;
        test.let_go().await;
        test.send().await;
        assert_eq!(test.firings().await, vec![("on_time".to_owned(), 0); 20]);
        assert!(announced.load(Ordering::Relaxed) > 0);
        let unsent = "SELECT 1 FROM innervoice_outbox WHERE status <> 'sent'";
        assert_eq!(test.sql(unsent).await.len(), 0);
        let requests = server.requests();
        let hooks = requests.iter().filter(|one| one.starts_with("POST /hook"));
        assert_eq!((requests.len(), hooks.count()), (40, 20));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_webhook_is_signed_and_keeps_its_id_when_it_is_sent_again() {
    let server = Server::start(Response::Answer(500, "")).await;
    let settings = Settings {
        webhook_url: server.url("/hook"),
        webhook_secret: "hunter2".into(),
        ..Settings::default()
    };
    for test in both(&settings).await {
        server.forget();
        let once = json!({"time": "2026-11-15T10:00:00", "note": "薬"});
        test.ok("reminder.create", once).await;
        test.remind().await;
        test.send().await;
        test.set("15T10:00:02");
        test.send().await;
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        let header = |request: &str, name: &str| {
            let line = request
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_else(|| panic!("{name} in {request}"))
                .to_owned()
        };
        let ids: Vec<_> = requests
            .iter()
            .map(|one| header(one, "webhook-id"))
            .collect();
        assert_eq!(ids[0], ids[1]);
        assert!(header(&requests[0], "webhook-signature").starts_with("v1,"));
        assert_ne!(
            header(&requests[0], "webhook-timestamp"),
            header(&requests[1], "webhook-timestamp")
        );
        assert!(requests[0].contains(r#""note":"薬""#));
    }
}
