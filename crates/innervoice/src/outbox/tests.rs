//! Sending and firing, on both engines, by a clock that is set by hand.

mod server;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ::store::testing::Scratch;
use kit::{
    Caller, Context, Counter, Store,
    context::NoClient,
    counter::Announce,
    sql::{Budget, Row},
    time::Clock,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::server::{Server, Way};
use crate::worker::Worker;
use crate::{Settings, voice::Voice};

struct House {
    counter: Counter,
    context: Context,
    store: Arc<dyn Store>,
    voice: Arc<Voice>,
    _scratch: Scratch,
}

async fn both(settings: &Settings) -> Vec<House> {
    let mut all = Vec::new();
    for scratch in ::store::testing::both().await {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(kit::lease::MIGRATIONS).await.unwrap();
        store.migrate(crate::MIGRATIONS).await.unwrap();
        let clock = Clock::fixed("2026-11-15T10:00:00+09:00".parse().unwrap());
        all.push(House {
            counter: crate::counter(settings.clone(), Arc::clone(&store)).unwrap(),
            context: Context::new(Caller::local_user(), clock, Arc::new(NoClient)),
            voice: Arc::new(Voice::new(settings.clone(), &store).unwrap()),
            store,
            _scratch: scratch,
        });
    }
    all
}

impl House {
    async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match kit::testing::call(&self.counter, &self.context, tool, arguments).await {
            Ok(answer) => answer,
            Err(error) => panic!("{tool}: {error} {:?}", error.cause),
        }
    }

    async fn text(&self, to: &str) -> String {
        let arguments = json!({"to": to, "text": "こんにちは & hello"});
        let answer = self.ok("message.send", arguments).await;
        answer["id"].as_str().unwrap().to_owned()
    }

    fn set(&self, time: &str) {
        let time = format!("2026-11-{time}+09:00");
        self.context.clock.set(time.parse().unwrap());
    }

    fn worker(&self) -> Worker {
        let presence = Arc::new(self.store.presence().unwrap());
        let stop = CancellationToken::new();
        Worker::new(&self.voice, &self.context.clock, &presence, &stop)
    }

    async fn send(&self) {
        self.worker().send_round().await.unwrap();
        self.let_go().await;
    }

    async fn remind(&self) {
        let announce: Announce = Arc::new(|_| {});
        self.worker().remind_round(&announce).await.unwrap();
        self.let_go().await;
    }

    /// The next worker need not wait for this one's lease to run out.
    async fn let_go(&self) {
        self.sql("DELETE FROM leases RETURNING 1").await;
    }

    async fn sql(&self, statement: &'static str) -> Vec<Row> {
        self.store
            .transaction(Budget::default(), move |sql| sql.query(statement, &[]))
            .await
            .unwrap()
    }

    async fn status(&self) -> (String, i64) {
        let rows = self
            .sql("SELECT status, attempts FROM innervoice_outbox")
            .await;
        assert_eq!(rows.len(), 1);
        (rows[0].text(0).unwrap(), rows[0].int(1).unwrap())
    }

    async fn firings(&self) -> Vec<(String, i64)> {
        let rows = self
            .sql("SELECT outcome, coalesced FROM innervoice_firings ORDER BY due_at")
            .await;
        rows.iter()
            .map(|row| (row.text(0).unwrap(), row.int(1).unwrap()))
            .collect()
    }
}

fn with_sms(server: &Server) -> Settings {
    Settings {
        sms_url: server.url("/Messages.json"),
        sms_user: "AC1".into(),
        sms_password: "secret".into(),
        sms_from: "+15550100111".into(),
        ..Settings::default()
    }
}

const NUMBER: &str = "090-1111-2222";

#[tokio::test]
async fn a_text_leaves_after_the_undo_window_and_once() {
    let server = Server::start(Way::Answer(201, r#"{"sid": "SM1"}"#)).await;
    for house in both(&with_sms(&server)).await {
        server.forget();
        house.text(NUMBER).await;
        house.set("15T10:00:09");
        house.send().await;
        assert_eq!(server.requests().len(), 0);
        house.set("15T10:00:10");
        house.send().await;
        house.send().await;
        assert_eq!(house.status().await, ("sent".into(), 1));
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
async fn a_text_that_may_have_gone_out_is_never_sent_again() {
    for way in [Way::Answer(503, "busy"), Way::HangUp] {
        let server = Server::start(way).await;
        for house in both(&with_sms(&server)).await {
            server.forget();
            house.text(NUMBER).await;
            for time in ["15T10:00:10", "15T11:00:00", "15T20:00:00"] {
                house.set(time);
                house.send().await;
            }
            assert_eq!(house.status().await, ("unknown".into(), 1), "{way:?}");
            assert_eq!(server.requests().len(), 1, "{way:?}");
        }
    }
}

#[tokio::test]
async fn a_text_whose_sender_died_is_never_sent_again_and_a_mail_is() {
    let server = Server::start(Way::Answer(201, "{}")).await;
    let settings = Settings {
        smtp_url: "smtp://127.0.0.1:1".into(),
        smtp_from: "me@example.com".into(),
        ..with_sms(&server)
    };
    for (to, after) in [(NUMBER, "unknown"), ("a@example.com", "queued")] {
        for house in both(&settings).await {
            house.text(to).await;
            house.set("15T10:00:10");
            let claimed = "UPDATE innervoice_outbox SET status = 'sending', attempts = 1, \
                claimed_by = 'dead', next_attempt_at = NULL, claimed_until = 1794704530000 \
                RETURNING 1";
            house.sql(claimed).await;
            // 2026-11-15T10:02:10+09:00 is when the claim runs out.
            house.sql("INSERT INTO innervoice_attempts SELECT id, 1, 0, NULL, NULL, NULL FROM innervoice_outbox RETURNING 1").await;
            house.set("15T10:02:09");
            house.send().await;
            assert_eq!(house.status().await.0, "sending", "{to}");
            house.set("15T10:02:10");
            house.send().await;
            assert_eq!(house.status().await.0, after, "{to}");
            assert_eq!(server.requests().len(), 0);
        }
    }
}

/// However long it takes: the claim is renewed meanwhile.
#[tokio::test]
async fn what_is_being_sent_stays_with_whoever_sends_it() {
    let server = Server::start(Way::Hold).await;
    let houses = both(&with_sms(&server)).await;
    for house in &houses {
        server.forget();
        house.text(NUMBER).await;
        house.set("15T10:00:10");
        let (worker, other) = (house.worker(), house.worker());
        let looks = async {
            while server.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let claim = "SELECT claimed_until FROM innervoice_outbox";
            let begun = house.sql(claim).await[0].int(0).unwrap();
            house.set("15T10:00:50");
            while house.sql(claim).await[0].int(0).unwrap() == begun {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            // The first claim would have run out by now.
            house.set("15T10:01:20");
            house.let_go().await;
            other.send_round().await.unwrap();
            assert_eq!(house.status().await, ("sending".into(), 1));
        };
        tokio::select! {
            sent = worker.send_round() => panic!("{sent:?}"),
            () = looks => {}
        }
    }
}

#[tokio::test]
async fn what_did_not_go_out_is_tried_again_with_growing_pauses_and_given_up_after_a_day() {
    let server = Server::start(Way::Answer(201, "{}")).await;
    let nobody = Settings {
        // Nothing listens there.
        sms_url: "http://127.0.0.1:1/".into(),
        ..with_sms(&server)
    };
    for mut house in both(&nobody).await {
        house.text(NUMBER).await;
        house.set("15T10:00:10");
        house.send().await;
        assert_eq!(house.status().await, ("queued".into(), 1));
        house.set("15T10:00:11");
        house.send().await;
        assert_eq!(house.status().await.1, 1, "two seconds have not passed");
        house.set("15T10:00:12");
        house.send().await;
        assert_eq!(house.status().await.1, 2);
        // A clock that is set back does not keep it waiting for long.
        house.set("15T08:00:00");
        house.send().await;
        assert_eq!(house.status().await.1, 3);
        let rows = house
            .sql("SELECT outcome FROM innervoice_attempts ORDER BY number")
            .await;
        let outcomes: Vec<_> = rows.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(outcomes, ["retry", "retry", "retry"]);
        house.set("16T10:00:11");
        house.voice = Arc::new(Voice::new(with_sms(&server), &house.store).unwrap());
        house.send().await;
        assert_eq!(house.status().await.0, "failed");
        assert_eq!(server.requests().len(), 0, "nobody expects it any more");
    }
}

#[tokio::test]
async fn a_refused_text_has_failed_and_says_why() {
    let refusal = r#"{"code": 21211, "message": "Invalid 'To' number"}"#;
    let server = Server::start(Way::Answer(400, refusal)).await;
    for house in both(&with_sms(&server)).await {
        house.text(NUMBER).await;
        house.set("15T10:00:10");
        house.send().await;
        let list = house.ok("message.list", json!({})).await;
        assert_eq!(list["messages"][0]["status"], "failed");
        let why = list["messages"][0]["last_error"].as_str().unwrap();
        assert_eq!(why, "The SMS gateway answered 400: Invalid 'To' number");
    }
}

/// The operator can put a wrong password right; nothing was sent with it.
#[tokio::test]
async fn a_gateway_that_does_not_let_us_in_is_asked_again() {
    let server = Server::start(Way::Answer(401, "{}")).await;
    for house in both(&with_sms(&server)).await {
        server.forget();
        house.text(NUMBER).await;
        for (time, attempts) in [("15T10:00:10", 1), ("15T10:00:12", 2)] {
            house.set(time);
            house.send().await;
            assert_eq!(house.status().await, ("queued".into(), attempts));
        }
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn many_workers_send_and_fire_each_thing_once() {
    let server = Server::start(Way::Answer(201, "{}")).await;
    let settings = Settings {
        webhook_url: server.url("/hook"),
        ..with_sms(&server)
    };
    for house in both(&settings).await {
        server.forget();
        for _ in 0..20 {
            house.text(NUMBER).await;
            let reminder = json!({"time": "2026-11-15T10:00:05", "note": "x", "repeat": "daily"});
            house.ok("reminder.create", reminder).await;
        }
        house.set("15T10:00:10");
        let announced = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&announced);
        let announce: Announce = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        // Each of them believes that the lease is its own: the rows decide.
        let rounds = (0..4).map(|_| async {
            let worker = house.worker();
            house.let_go().await;
            worker.remind_round(&announce).await.unwrap();
            house.let_go().await;
            worker.send_round().await.unwrap();
        });
        futures::future::join_all(rounds).await;
        house.let_go().await;
        house.send().await;
        assert_eq!(house.firings().await, vec![("on_time".to_owned(), 0); 20]);
        assert!(announced.load(Ordering::Relaxed) > 0);
        let unsent = "SELECT 1 FROM innervoice_outbox WHERE status <> 'sent'";
        assert_eq!(house.sql(unsent).await.len(), 0);
        let requests = server.requests();
        let hooks = requests.iter().filter(|one| one.starts_with("POST /hook"));
        assert_eq!((requests.len(), hooks.count()), (40, 20));
    }
}

#[tokio::test]
async fn what_was_missed_comes_once_late_and_after_a_day_not_at_all() {
    let server = Server::start(Way::Answer(200, "")).await;
    let settings = Settings {
        webhook_url: server.url("/hook"),
        ..Settings::default()
    };
    for house in both(&settings).await {
        server.forget();
        let daily = json!({"time": "2026-11-15T12:00", "note": "daily", "repeat": "daily"});
        house.ok("reminder.create", daily).await;
        let once = json!({"time": "2026-11-15T12:30", "note": "once"});
        house.ok("reminder.create", once).await;
        // Nobody was there for three days.
        house.set("18T15:00:00");
        house.remind().await;
        house.remind().await;
        assert_eq!(
            house.firings().await,
            [("missed".to_owned(), 0), ("late".to_owned(), 3)]
        );
        let list = house
            .ok("reminder.list", json!({"include_past": true}))
            .await;
        assert_eq!(list["reminders"][0]["next"][0], "2026-11-19T12:00:00+09:00");
        assert_eq!(
            list["reminders"][0]["last_fired"]["due_at"],
            "2026-11-18T12:00:00+09:00"
        );
        assert_eq!(list["reminders"][1]["status"], "done");
        house.send().await;
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert!(
            requests[0].contains(r#""late":true,"coalesced":3"#),
            "{requests:?}"
        );
        // A clock that is set back fires nothing twice.
        house.set("18T11:00:00");
        house.remind().await;
        house.set("18T15:00:00");
        house.remind().await;
        assert_eq!(house.firings().await.len(), 2);
        house.set("19T12:00:01");
        house.remind().await;
        assert_eq!(house.firings().await[2], ("on_time".to_owned(), 0));
    }
}

#[tokio::test]
async fn a_webhook_is_signed_and_keeps_its_id_when_it_is_sent_again() {
    let server = Server::start(Way::Answer(500, "")).await;
    let settings = Settings {
        webhook_url: server.url("/hook"),
        webhook_secret: "hunter2".into(),
        ..Settings::default()
    };
    for house in both(&settings).await {
        server.forget();
        let once = json!({"time": "2026-11-15T10:00:00", "note": "薬"});
        house.ok("reminder.create", once).await;
        house.remind().await;
        house.send().await;
        house.set("15T10:00:02");
        house.send().await;
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

#[tokio::test]
async fn a_reminder_changed_while_it_fires_keeps_the_change() {
    for house in both(&Settings::default()).await {
        let daily = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": "daily"});
        let id = house.ok("reminder.create", daily).await["id"].clone();
        house.set("15T12:00:00");
        house.remind().await;
        house.ok("reminder.cancel", json!({"id": id})).await;
        house.set("16T12:00:00");
        house.remind().await;
        assert_eq!(house.firings().await.len(), 1);
    }
}

const EVERY_MINUTE: &str = "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,\
    21,22,23;BYMINUTE=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,\
    29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59";

/// However long nobody was there: what was missed is counted up to a bound, and
/// the last of it is told.
#[tokio::test]
async fn a_long_absence_is_made_up_for_in_bounded_work() {
    for house in both(&Settings::default()).await {
        let reminder = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": EVERY_MINUTE});
        house.ok("reminder.create", reminder).await;
        house
            .context
            .clock
            .set("2027-11-15T12:00:30+09:00".parse().unwrap());
        house.remind().await;
        assert_eq!(house.firings().await, [("on_time".to_owned(), 2_000)]);
        let list = house.ok("reminder.list", json!({})).await;
        assert_eq!(list["reminders"][0]["next"][0], "2027-11-15T12:01:00+09:00");
        let fired = &list["reminders"][0]["last_fired"];
        assert_eq!(fired["due_at"], "2027-11-15T12:00:00+09:00");
    }
}

#[tokio::test]
async fn of_a_reminder_that_fires_for_ever_the_newest_firings_are_kept() {
    for house in both(&Settings {
        webhook_url: "http://127.0.0.1:1/".into(),
        ..Settings::default()
    })
    .await
    {
        let hourly = json!({"time": "2026-11-15T11:00", "note": "x", "repeat": "hourly"});
        house.ok("reminder.create", hourly).await;
        let first: jiff::Timestamp = "2026-11-15T11:00:00+09:00".parse().unwrap();
        for hour in 0..103 {
            house
                .context
                .clock
                .set(first + jiff::SignedDuration::from_hours(hour));
            house.remind().await;
            // All but the very first have been sent.
            house
                .sql(
                    "UPDATE innervoice_outbox SET status = 'sent', next_attempt_at = NULL \
                     WHERE created_at > (SELECT MIN(created_at) FROM innervoice_outbox) \
                     RETURNING 1",
                )
                .await;
        }
        assert_eq!(house.firings().await.len(), 100);
        // What has yet to leave stays.
        let rows = house.sql("SELECT COUNT(*) FROM innervoice_outbox").await;
        assert_eq!(rows[0].int(0).unwrap(), 101);
    }
}

/// A reminder that is changed between the look at what is due and the transaction
/// fires as it is by then.
#[tokio::test]
async fn what_was_changed_meanwhile_does_not_fire_as_it_was() {
    for house in both(&Settings::default()).await {
        let daily = json!({"time": "2026-11-15T12:00", "note": "x", "repeat": "daily"});
        let id = house.ok("reminder.create", daily).await["id"].clone();
        house.set("15T12:00:00");
        let due = house
            .store
            .query(Budget::default(), |sql| {
                crate::store::reminders::due(sql, i64::MAX, 10)
            })
            .await
            .unwrap();
        house
            .ok("reminder.update", json!({"id": id, "note": "y"}))
            .await;
        let advanced = house
            .store
            .transaction(Budget::default(), move |sql| {
                crate::store::reminders::advance(sql, &due[0], None, 0)
            })
            .await
            .unwrap();
        assert!(!advanced);
        house.remind().await;
        let rows = house.sql("SELECT note FROM innervoice_firings").await;
        assert_eq!(rows[0].text(0).unwrap(), "y");
    }
}
