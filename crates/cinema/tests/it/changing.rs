//! Cancelling and exchanging.

use kit::testing::details;
use serde_json::{Value, json};

use crate::cinema::{Cinema, both};

const SHOW: &str = "S20261116-T4-4";
const OTHER: &str = "S20261116-T1-4";

async fn booked(cinema: &Cinema, seats: &[&str]) -> Value {
    let answer = cinema.reserve(SHOW, seats).await.unwrap();
    answer["reservation"]["reservation_id"].clone()
}

fn has_warning(answer: &Value, code: &str) -> bool {
    let warnings = answer["warnings"].as_array().unwrap();
    warnings.iter().any(|warning| warning["code"] == code)
}

async fn free(cinema: &Cinema, show: &str) -> i64 {
    cinema.seats(show).await["available_seats_count"]
        .as_i64()
        .unwrap()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_cancelled_reservation_frees_its_seats_once() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = booked(&cinema, &["C5", "C6"]).await;
        let cancel = json!({"reservation_id": id});
        let answer = cinema.ok("cancel_reservation", cancel.clone()).await;
        assert_eq!(answer["cancelled_seat_ids"], json!(["C5", "C6"]));
        assert_eq!(answer["reservation"]["status"], "cancelled");
        assert_eq!(free(&cinema, SHOW).await, 80);
        // Somebody else has them now; a second cancellation leaves them alone.
        booked(&cinema, &["C5", "C6"]).await;
        let again = cinema.ok("cancel_reservation", cancel.clone()).await;
        assert_eq!(again["cancelled_seat_ids"], json!([]));
        assert_eq!(again["warnings"][0]["code"], "ALREADY_CANCELLED");
        assert_eq!(free(&cinema, SHOW).await, 78);
        for tool in ["exchange_seats", "reserve_seats"] {
            let arguments = json!({"reservation_id": id, "hold_id": id, "seat_ids": ["D1", "D2"]});
            assert_eq!(cinema.code(tool, arguments).await, "RESERVATION_CANCELLED");
        }
        assert_eq!(
            cinema.details(&id).await["reservation"]["status"],
            "cancelled"
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn part_of_a_reservation_is_cancelled() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = booked(&cinema, &["C5", "C6", "C7"]).await;
        let cancel = json!({"reservation_id": id, "seat_ids": "C6"});
        let answer = cinema.ok("cancel_reservation", cancel.clone()).await;
        assert_eq!(answer["cancelled_seat_ids"], json!(["C6"]));
        assert_eq!(answer["reservation"]["status"], "confirmed");
        assert_eq!(answer["reservation"]["seat_ids"], json!(["C5", "C7"]));
        let error = cinema.refused("cancel_reservation", cancel).await;
        assert_eq!(error.code, "SEATS_NOT_IN_RESERVATION");
        assert_eq!(details(&error)["seat_ids"], json!(["C5", "C7"]));
        assert_eq!(free(&cinema, SHOW).await, 78);
        let rest = json!({"reservation_id": id, "seat_ids": ["C7", "C5"]});
        let answer = cinema.ok("cancel_reservation", rest).await;
        assert_eq!(answer["reservation"]["status"], "cancelled");
        assert_eq!(free(&cinema, SHOW).await, 80);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nothing_is_cancelled_or_exchanged_after_the_start() {
    for cinema in both().await {
        let id = booked(&cinema, &["H9"]).await;
        cinema.set_clock("2026-11-17T10:00:00+09:00");
        for tool in ["cancel_reservation", "exchange_seats"] {
            let arguments = json!({"reservation_id": id, "seat_ids": ["H9"]});
            assert_eq!(cinema.code(tool, arguments).await, "SHOW_STARTED", "{tool}");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_are_exchanged_for_others_of_the_screening() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = booked(&cinema, &["C5", "C6"]).await;
        // One of the new ones is an old one.
        let exchange = json!({"reservation_id": id, "seat_ids": ["C6", "C7"]});
        let answer = cinema.ok("exchange_seats", exchange.clone()).await;
        assert_eq!(answer["reservation"]["seat_ids"], json!(["C6", "C7"]));
        assert_eq!(free(&cinema, SHOW).await, 78);
        let again = cinema.ok("exchange_seats", exchange).await;
        assert!(has_warning(&again, "NOTHING_CHANGED"));
        booked(&cinema, &["C5"]).await;

        let taken = json!({"reservation_id": id, "seat_ids": ["C4", "C5"]});
        assert_eq!(cinema.code("exchange_seats", taken).await, "SEATS_TAKEN");
        let seats = cinema.details(&id).await["reservation"]["seat_ids"].clone();
        assert_eq!(
            seats,
            json!(["C6", "C7"]),
            "they stay when the others are taken"
        );
        assert_eq!(free(&cinema, SHOW).await, 77);

        let part = json!({"reservation_id": id, "seat_ids": "D7", "instead_of": "C6"});
        let answer = cinema.ok("exchange_seats", part).await;
        assert_eq!(answer["reservation"]["seat_ids"], json!(["C7", "D7"]));
        assert_eq!(free(&cinema, SHOW).await, 77);
        for (arguments, code) in [
            (json!({"seat_ids": "D1"}), "SEAT_COUNT_DIFFERS"),
            (
                json!({"seat_ids": "D7", "instead_of": "C7"}),
                "SEAT_COUNT_DIFFERS",
            ),
            (
                json!({"seat_ids": "D1", "instead_of": "C1"}),
                "SEATS_NOT_IN_RESERVATION",
            ),
            (json!({"seat_ids": "Z1, Z2"}), "SEAT_NOT_FOUND"),
        ] {
            let mut arguments = arguments;
            arguments["reservation_id"] = id.clone();
            assert_eq!(cinema.code("exchange_seats", arguments).await, code);
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_are_exchanged_for_another_screening() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        cinema.clear(OTHER).await;
        let total = free(&cinema, OTHER).await;
        let id = booked(&cinema, &["C5", "C6"]).await;
        let part = json!({"reservation_id": id, "schedule_id": OTHER, "seat_ids": "B5",
            "instead_of": "C5"});
        assert_eq!(
            cinema.code("exchange_seats", part).await,
            "INSTEAD_OF_OTHER_SHOW"
        );
        let exchange = json!({"reservation_id": id, "schedule_id": OTHER,
            "seat_ids": ["C5", "C6"]});
        let answer = cinema.ok("exchange_seats", exchange).await;
        assert_eq!(answer["reservation"]["schedule_id"], OTHER);
        assert_eq!(answer["reservation"]["reservation_id"], id);
        assert_eq!(free(&cinema, SHOW).await, 80);
        assert_eq!(free(&cinema, OTHER).await, total - 2);
        cinema
            .ok("cancel_reservation", json!({"reservation_id": id}))
            .await;
        assert_eq!(free(&cinema, OTHER).await, total);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_full_screening_offers_others_of_the_film() {
    for cinema in both().await {
        cinema.take(&format!("s.id = '{SHOW}'")).await;
        let error = cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap_err();
        let film = cinema.seats(SHOW).await["schedule_info"]["movie_title"].clone();
        let candidates = details(&error)["candidates"].clone();
        let candidates = candidates.as_array().unwrap();
        assert!(!candidates.is_empty());
        for candidate in candidates {
            assert_eq!(candidate["movie_title"], film);
            assert!(candidate["available_seats_count"].as_i64() >= Some(2));
        }
        assert!(error.next.unwrap().contains("join_waiting_list"));
    }
}
