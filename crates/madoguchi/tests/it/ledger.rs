//! The desk's own rows share the fate of the work they are about.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use kit::{Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use crate::harness::{Desk, call, post, refused, show_to_book, structured};

/// The desk and the database behind it, on each engine.
async fn on_both() -> Vec<(Desk, Database)> {
    let embedded = Desk::start().await;
    let file = format!(
        "sqlite:///{}",
        embedded.place.data().join("madoguchi.db").display()
    );
    let url = Postgres::shared().create_database();
    let server = Desk::setup().database(&url).demo().start().await;
    let mut both = Vec::new();
    for (desk, url) in [(embedded, file), (server, url)] {
        let url = DatabaseUrl::parse(&url).unwrap();
        let database = Database::open(&url, Options::default()).await.unwrap();
        both.push((desk, database));
    }
    both
}

async fn count(database: &Database, table: &str) -> i64 {
    let store: std::sync::Arc<dyn Store> = std::sync::Arc::new(database.clone());
    let sql = format!("SELECT COUNT(*) FROM {table}");
    store
        .query(Budget::default(), move |rows| {
            rows.query(&sql, &[])?[0].int(0)
        })
        .await
        .unwrap()
}

async fn reserve(desk: &Desk, show: &Value, seats: Value, key: Option<&str>) -> Value {
    let mut arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": seats });
    if let Some(key) = key {
        arguments["idempotency_key"] = key.into();
    }
    desk.call("cinema", "reserve_seats", arguments).await
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_booking_and_its_entry_are_written_together_or_not_at_all() {
    for (desk, database) in on_both().await {
        let show = show_to_book(&desk, "M001", 0).await;
        assert_eq!(count(&database, "desk_writes").await, 0);
        structured(&reserve(&desk, &show, json!(["A1", "A2"]), None).await);
        assert_eq!(count(&database, "desk_writes").await, 1);
        let bookings = count(&database, "cinema_reservations").await;
        refused(
            &reserve(&desk, &show, json!(["A2", "A3"]), Some("k")).await,
            "SEATS_TAKEN",
        );
        refused(
            &reserve(&desk, &show, json!(["Z9"]), None).await,
            "SEAT_NOT_FOUND",
        );
        assert_eq!(count(&database, "desk_writes").await, 1);
        assert_eq!(
            count(&database, "desk_replies").await,
            0,
            "a refusal keeps no key"
        );
        assert_eq!(count(&database, "cinema_reservations").await, bookings);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_retry_gets_the_first_answer_however_many_come_at_once() {
    for (desk, database) in on_both().await {
        let show = show_to_book(&desk, "M001", 0).await;
        let before = count(&database, "cinema_reservations").await;
        let retries = (0..20).map(|_| reserve(&desk, &show, json!(["B1", "B2"]), Some("once")));
        let answers = futures::future::join_all(retries).await;
        let ids: BTreeSet<String> = answers
            .iter()
            .map(|answer| structured(answer)["reservation"]["reservation_id"].to_string())
            .collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        assert_eq!(count(&database, "cinema_reservations").await, before + 1);
        let other = reserve(&desk, &show, json!(["B3"]), Some("once")).await;
        refused(&other, "IDEMPOTENCY_KEY_REUSED");
        structured(&reserve(&desk, &show, json!(["B3"]), Some("twice")).await);
    }
}

/// To forget an answer before its time could do its work twice, so new keys are
/// refused instead.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_caller_can_have_only_so_many_answers_kept() {
    let config = "[limits]\nkept_answers_per_caller = 3\n";
    let url = Postgres::shared().create_database();
    let desks = [
        Desk::with_config(config).await,
        Desk::setup()
            .config(config)
            .database(&url)
            .demo()
            .start()
            .await,
    ];
    for desk in desks {
        let show = show_to_book(&desk, "M001", 0).await;
        let mut first = Vec::new();
        for key in ["k1", "k2", "k3"] {
            let answer = reserve(&desk, &show, json!([format!("A{}", &key[1..])]), Some(key)).await;
            first.push(structured(&answer).clone());
        }
        let refusal = reserve(&desk, &show, json!(["A4"]), Some("k4")).await;
        let error = refused(&refusal, "TOO_MANY_IDEMPOTENCY_KEYS");
        assert_eq!(error["details"]["most"], 3);
        assert!(error["details"]["free_at"].is_string());
        // Nothing was done, retries still work, and so do calls without a key.
        for (key, answer) in ["k1", "k2", "k3"].iter().zip(&first) {
            let again = reserve(&desk, &show, json!([format!("A{}", &key[1..])]), Some(key)).await;
            assert_eq!(structured(&again), answer);
        }
        structured(&reserve(&desk, &show, json!(["A4"]), None).await);
    }
}

/// Killed at any moment, the program loses nothing it acknowledged and keeps
/// nothing half done.
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = crate::harness::Place::new();
    let mut acknowledged: Vec<Acknowledged> = Vec::new();
    for round in 0..4u64 {
        let desk = Desk::setup().place(&place).start().await;
        all_are_there(&desk, &acknowledged).await;
        let shows = [
            show_to_book(&desk, "M003", 0).await,
            show_to_book(&desk, "M004", 1).await,
        ];
        let port = desk.port;
        let so_far = Arc::new(AtomicU64::new(0));
        let booking = (0..8usize).map(|client| {
            let show = shows[client % 2]["schedule_id"].clone();
            let so_far = Arc::clone(&so_far);
            async move {
                let mut done = Vec::new();
                // Every client has a row and a stretch of seats of its own.
                for number in 1..=8 {
                    let seat = format!("{}{number}", ["A", "B", "C", "D"][client / 2]);
                    let Some(id) = book(port, &show, &seat).await else {
                        continue;
                    };
                    done.push(Acknowledged {
                        id,
                        show: show.clone(),
                        seat,
                    });
                    so_far.fetch_add(1, Ordering::Relaxed);
                }
                done
            }
        });
        let booking = tokio::spawn(futures::future::join_all(booking.collect::<Vec<_>>()));
        // In the midst of it, however fast it goes: later in each round.
        while so_far.load(Ordering::Relaxed) < round * 4 && !booking.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        desk.signal("KILL");
        acknowledged.extend(booking.await.unwrap().into_iter().flatten());
    }
    assert!(
        !acknowledged.is_empty(),
        "every round was killed before its first booking"
    );
    let desk = Desk::setup().place(&place).start().await;
    all_are_there(&desk, &acknowledged).await;
    let seat = |one: &Acknowledged| (one.show.to_string(), one.seat.clone());
    let seats: BTreeSet<(String, String)> = acknowledged.iter().map(seat).collect();
    assert_eq!(
        seats.len(),
        acknowledged.len(),
        "a seat was acknowledged to two"
    );
}

struct Acknowledged {
    id: String,
    show: Value,
    seat: String,
}

async fn all_are_there(desk: &Desk, acknowledged: &[Acknowledged]) {
    for one in acknowledged {
        let arguments = json!({ "reservation_id": one.id });
        let found = desk
            .call("cinema", "get_reservation_details", arguments)
            .await;
        let reservation = &structured(&found)["reservation"];
        assert_eq!(reservation["seat_ids"], json!([one.seat]));
        assert_eq!(reservation["schedule_id"], one.show);
    }
}

/// The reservation's id, if the booking was acknowledged.
async fn book(port: u16, show: &Value, seat: &str) -> Option<String> {
    let arguments = json!({ "schedule_id": show, "seat_ids": [seat] });
    let call = call(1, "reserve_seats", arguments);
    let answer = post(port, "cinema", None, &call).await.ok()?;
    let message: Value = serde_json::from_slice(&answer.body).ok()?;
    let reservation = &message["result"]["structuredContent"]["reservation"];
    reservation["reservation_id"].as_str().map(str::to_owned)
}
