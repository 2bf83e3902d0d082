//! Firing, on both engines.

use kit::sql::Budget;
use serde_json::json;

use crate::{
    settings::Settings,
    testing::{Response, Server, both, with_webhook},
};

const EVERY_MINUTE: &str = "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,\
    21,22,23;BYMINUTE=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,\
    29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn missed_reminders_fire_once_late_and_after_a_day_not_at_all() {
    let server = Server::start(Response::Answer(200, "")).await;
    for test in both(&with_webhook(&server)).await {
        server.forget();
        let daily = json!({"time": "2026-11-15T12:00", "note": "daily", "repeat": "daily"});
        test.ok("reminder.create", daily).await;
        let once = json!({"time": "2026-11-15T12:30", "note": "once"});
        test.ok("reminder.create", once).await;
        // The program was down for three days.
        test.set("18T15:00:00");
        test.remind().await;
        test.remind().await;
        assert_eq!(
            test.firings().await,
            [("missed".to_owned(), 0), ("late".to_owned(), 3)]
        );
        let list = test
            .ok("reminder.list", json!({"include_past": true}))
            .await;
        assert_eq!(list["reminders"][0]["next"][0], "2026-11-19T12:00:00+09:00");
        assert_eq!(
            list["reminders"][0]["last_fired"]["due_at"],
            "2026-11-18T12:00:00+09:00"
        );
        assert_eq!(list["reminders"][1]["status"], "done");
        test.send().await;
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert!(
            requests[0].contains(r#""late":true,"coalesced":3"#),
            "{requests:?}"
        );
        // Nothing fires twice when the clock is set back.
        test.set("18T11:00:00");
        test.remind().await;
        test.set("18T15:00:00");
        test.remind().await;
        assert_eq!(test.firings().await.len(), 2);
        test.set("19T12:00:01");
        test.remind().await;
        assert_eq!(test.firings().await[2], ("on_time".to_owned(), 0));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_cancelled_reminder_fires_no_more() {
    for test in both(&Settings::default()).await {
        let daily = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": "daily"});
        let id = test.ok("reminder.create", daily).await["id"].clone();
        test.set("15T12:00:00");
        test.remind().await;
        test.ok("reminder.cancel", json!({"id": id})).await;
        test.set("16T12:00:00");
        test.remind().await;
        assert_eq!(test.firings().await.len(), 1);
    }
}

/// However long the program was down, missed times are counted up to a bound, and
/// only the last one fires.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn missed_times_after_a_long_absence_take_bounded_work() {
    for test in both(&Settings::default()).await {
        let reminder = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": EVERY_MINUTE});
        test.ok("reminder.create", reminder).await;
        test.set_clock("2027-11-15T12:00:30+09:00");
        test.remind().await;
        assert_eq!(test.firings().await, [("on_time".to_owned(), 2_000)]);
        let list = test.ok("reminder.list", json!({})).await;
        assert_eq!(list["reminders"][0]["next"][0], "2027-11-15T12:01:00+09:00");
        let fired = &list["reminders"][0]["last_fired"];
        assert_eq!(fired["due_at"], "2027-11-15T12:00:00+09:00");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn only_the_newest_firings_of_a_reminder_are_kept() {
    for test in both(&Settings {
        webhook_url: "http://127.0.0.1:1/".into(),
        ..Settings::default()
    })
    .await
    {
        let hourly = json!({"time": "2026-11-15T11:00", "note": "x", "repeat": "hourly"});
        test.ok("reminder.create", hourly).await;
        let first: jiff::Timestamp = "2026-11-15T11:00:00+09:00".parse().unwrap();
        for hour in 0..103 {
            test.context
                .clock
                .set(first + jiff::SignedDuration::from_hours(hour));
            test.remind().await;
            // All but the very first have been sent.
            test.sql(
                "UPDATE innervoice_outbox SET status = 'sent', next_attempt_at = NULL \
                     WHERE created_at > (SELECT MIN(created_at) FROM innervoice_outbox) \
                     RETURNING 1",
            )
            .await;
        }
        assert_eq!(test.firings().await.len(), 100);
        // What is not sent yet stays.
        let rows = test.sql("SELECT COUNT(*) FROM innervoice_outbox").await;
        assert_eq!(rows[0].int(0).unwrap(), 101);
    }
}

/// A reminder that is changed between the read and the transaction fires with its
/// new text.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_reminder_changed_just_before_it_fires_keeps_the_change() {
    for test in both(&Settings::default()).await {
        let daily = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": "daily"});
        let id = test.ok("reminder.create", daily).await["id"].clone();
        test.set("15T12:00:00");
        let due = test
            .store()
            .query(Budget::default(), |sql| {
                crate::store::reminders::due(sql, i64::MAX, 10)
            })
            .await
            .unwrap();
        test.ok("reminder.update", json!({"id": id, "note": "y"}))
            .await;
        let advanced = test
            .store()
            .transaction(Budget::default(), move |sql| {
                crate::store::reminders::advance(sql, &due[0], None, 0)
            })
            .await
            .unwrap();
        assert!(!advanced);
        test.remind().await;
        let rows = test.sql("SELECT note FROM innervoice_firings").await;
        assert_eq!(rows[0].text(0).unwrap(), "y");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn held_reminders_and_messages_wait_until_they_are_released() {
    let server = Server::start(Response::Answer(200, "")).await;
    for test in both(&with_webhook(&server)).await {
        server.forget();
        let once = json!({"time": "2026-11-15T12:30", "note": "once"});
        test.ok("reminder.create", once).await;
        let hold =
            "INSERT INTO holds (name, since, reason) VALUES ('outside', 1, 'a test') RETURNING 1";
        test.sql(hold).await;
        test.set("15T12:31:00");
        test.remind().await;
        assert_eq!(test.firings().await, []);
        let release = "DELETE FROM holds WHERE name = 'outside' RETURNING 1";
        test.sql(release).await;
        test.remind().await;
        assert_eq!(test.firings().await, [("on_time".to_owned(), 0)]);
        test.sql(hold).await;
        test.send().await;
        assert_eq!(server.requests().len(), 0);
        test.sql(release).await;
        test.send().await;
        assert_eq!(server.requests().len(), 1);
    }
}
