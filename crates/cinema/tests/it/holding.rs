//! Holding seats, extending the hold, and booking it.

use std::sync::Arc;

use cinema::Settings;
use kit::testing::details;
use serde_json::{Value, json};

use crate::cinema::{Cinema, both, one};

const SHOW: &str = "S20261116-T4-4";

async fn hold(cinema: &Cinema, seats: &[&str]) -> Value {
    let arguments = json!({"schedule_id": SHOW, "seat_ids": seats});
    cinema.ok("hold_seats", arguments).await
}

/// Free, held and sold seats, as `get_seat_availability` counts them.
async fn counts(cinema: &Cinema) -> [i64; 3] {
    let seats = cinema.seats(SHOW).await;
    let count = |name: &str| seats[format!("{name}_seats_count")].as_i64().unwrap();
    let counts = [count("available"), count("held"), count("sold")];
    assert_eq!(counts.iter().sum::<i64>(), count("total"));
    counts
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_hold_becomes_a_booking() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let held = hold(&cinema, &["C5", "C6"]).await;
        assert_eq!(held["expires_at"], "2026-11-15T10:10:00+09:00");
        assert_eq!(held["reservation"]["status"], "held");
        assert_eq!(counts(&cinema).await, [78, 2, 0]);
        let refused = cinema.reserve(SHOW, ["C6", "C7"]).await.unwrap_err();
        assert_eq!(details(&refused)["taken"], json!(["C6"]));

        let booking = json!({"seat_ids": ["C5", "C6"], "hold_id": held["hold_id"]});
        let booked = cinema.ok("reserve_seats", booking.clone()).await;
        assert_eq!(booked["reservation"]["status"], "confirmed");
        assert_eq!(booked["reservation"]["reservation_id"], held["hold_id"]);
        assert_eq!(counts(&cinema).await, [78, 0, 2]);
        // A booking does not expire, and a retry books nothing twice.
        cinema.set_clock("2026-11-15T11:00:00+09:00");
        let again = cinema.ok("reserve_seats", booking).await;
        assert_eq!(again["reservation"], booked["reservation"]);
        assert_eq!(counts(&cinema).await, [78, 0, 2]);
        let code = json!({"hold_id": held["hold_id"]});
        assert_eq!(cinema.code("hold_seats", code).await, "ALREADY_BOOKED");
    }
}

#[tokio::test]
async fn a_hold_is_booked_whole_without_naming_its_seats() {
    let cinema = one().await;
    let held = hold(&cinema, &["C5", "C6"]).await;
    let booked = cinema.ok("reserve_seats", json!({"hold_id": held["hold_id"]}));
    assert_eq!(booked.await["reservation"]["seat_ids"], json!(["C5", "C6"]));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn fewer_or_other_seats_of_a_hold_are_booked_as_named() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let held = hold(&cinema, &["C5", "C6", "C7"]).await;
        let booking = json!({"seat_ids": "C6, C7, C8", "hold_id": held["hold_id"]});
        let booked = cinema.ok("reserve_seats", booking).await;
        assert_eq!(booked["reservation"]["seat_ids"], json!(["C6", "C7", "C8"]));
        assert_eq!(counts(&cinema).await, [77, 0, 3]);
        cinema.reserve(SHOW, ["C5"]).await.unwrap();

        // A seat that somebody else has: the hold stays as it was.
        let held = hold(&cinema, &["D5"]).await;
        let booking = json!({"seat_ids": "D5, C5", "hold_id": held["hold_id"]});
        assert_eq!(cinema.code("reserve_seats", booking).await, "SEATS_TAKEN");
        assert_eq!(counts(&cinema).await, [75, 1, 4]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn holds_are_extended_up_to_a_limit_and_then_expire() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let held = hold(&cinema, &["C5"]).await;
        let extend = json!({"hold_id": held["hold_id"]});
        cinema.set_clock("2026-11-15T10:09:59+09:00");
        let extended = cinema.ok("hold_seats", extend.clone()).await;
        assert_eq!(extended["expires_at"], "2026-11-15T10:19:59+09:00");
        cinema.set_clock("2026-11-15T10:19:58+09:00");
        cinema.ok("hold_seats", extend.clone()).await;
        cinema.set_clock("2026-11-15T10:29:00+09:00");
        let last = cinema.ok("hold_seats", extend.clone()).await;
        assert_eq!(last["expires_at"], "2026-11-15T10:30:00+09:00");
        let mut warnings = last["warnings"].as_array().unwrap().iter();
        assert!(warnings.any(|warning| warning["code"] == "HOLD_AT_LIMIT"));

        cinema.set_clock("2026-11-15T10:30:00+09:00");
        assert_eq!(
            cinema.code("hold_seats", extend.clone()).await,
            "HOLD_EXPIRED"
        );
        let booking = json!({"hold_id": held["hold_id"]});
        assert_eq!(cinema.code("reserve_seats", booking).await, "HOLD_EXPIRED");
        assert_eq!(counts(&cinema).await, [80, 0, 0]);
        cinema.reserve(SHOW, ["C5"]).await.unwrap();
        assert_eq!(cinema.code("hold_seats", extend).await, "HOLD_EXPIRED");
        assert_eq!(counts(&cinema).await, [79, 0, 1]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_school_class_is_held_and_booked_as_one() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let rows = ["D", "E", "F"];
        let class: Vec<String> = rows
            .iter()
            .flat_map(|row| (1..=10).map(move |number| format!("{row}{number}")))
            .collect();
        let class: Vec<&str> = class.iter().map(String::as_str).collect();
        let refused = cinema.reserve(SHOW, &class).await.unwrap_err();
        assert_eq!(refused.code, "TOO_MANY_SEATS");
        assert!(refused.next.unwrap().contains("hold_seats"));
        cinema.reserve(SHOW, ["E3"]).await.unwrap();
        let arguments = json!({"schedule_id": SHOW, "seat_ids": class});
        assert_eq!(cinema.code("hold_seats", arguments).await, "SEATS_TAKEN");
        assert_eq!(counts(&cinema).await, [79, 0, 1]);

        cinema.clear(SHOW).await;
        let held = hold(&cinema, &class).await;
        let booked = cinema
            .ok("reserve_seats", json!({"hold_id": held["hold_id"]}))
            .await;
        assert_eq!(
            booked["reservation"]["seat_ids"].as_array().unwrap().len(),
            30
        );
        assert_eq!(counts(&cinema).await, [50, 0, 30]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_caller_holds_at_most_so_many_seats() {
    for mut cinema in both().await {
        cinema.clear(SHOW).await;
        let settings = Settings {
            max_held_seats_per_caller: 3,
            ..Settings::default()
        };
        cinema.counter = cinema::counter(settings, Arc::clone(cinema.store()));
        let held = hold(&cinema, &["C1", "C2"]).await;
        let two = json!({"schedule_id": SHOW, "seat_ids": ["D1", "D2"]});
        let error = cinema.refused("hold_seats", two.clone()).await;
        assert_eq!(error.code, "HOLD_LIMIT_REACHED");
        assert_eq!(
            details(&error),
            json!({"held": 2, "requested": 2, "most": 3})
        );
        // What is booked is no longer held.
        cinema
            .ok("reserve_seats", json!({"hold_id": held["hold_id"]}))
            .await;
        cinema.ok("hold_seats", two).await;
    }
}

#[tokio::test]
async fn sales_close_when_the_operator_says() {
    for (minutes, closed, open) in [
        (0, "2026-11-16T16:00:00+09:00", "2026-11-16T15:59:59+09:00"),
        (30, "2026-11-16T15:30:00+09:00", "2026-11-16T15:29:59+09:00"),
        (
            -10,
            "2026-11-16T16:10:00+09:00",
            "2026-11-16T16:09:59+09:00",
        ),
    ] {
        let mut cinema = one().await;
        cinema.clear(SHOW).await;
        cinema
            .sql(&format!(
                "UPDATE cinema_shows SET starts_at = 1794812400000, start_minute = 960 \
                 WHERE id = '{SHOW}' RETURNING 1"
            ))
            .await;
        let settings = Settings {
            sales_close_minutes: minutes,
            ..Settings::default()
        };
        cinema.counter = cinema::counter(settings, Arc::clone(cinema.store()));
        cinema.set_clock(closed);
        let arguments = json!({"schedule_id": SHOW, "seat_ids": ["C5"]});
        for tool in ["reserve_seats", "hold_seats"] {
            assert_eq!(cinema.code(tool, arguments.clone()).await, "SHOW_STARTED");
        }
        cinema.set_clock(open);
        // A hold never outlives the sales.
        let held = cinema.ok("hold_seats", arguments).await;
        assert_eq!(held["expires_at"], closed, "{minutes}");
    }
}
