//! Reserving seats.

use kit::context::{Change, Language};
use serde_json::{Value, json};

use crate::cinema::{both, details};

const SHOW: &str = "S20261116-T4-4";

#[tokio::test]
async fn seats_in_every_spelling() {
    for cinema in both().await {
        let mut row = 'A'..='H';
        for (spelling, date) in [
            (json!(["%3", "%4"]), None),
            (json!("%3,%4"), None),
            (json!("%3、%-4"), None),
            (json!(["%列3番", "%列４番"]), None),
            (json!(["S20261116-T4-4:%3", "S20261116-T4-4:%4"]), Some(())),
        ] {
            let row = row.next().unwrap();
            let seats: Value = spelling
                .to_string()
                .replace('%', &row.to_string())
                .parse()
                .unwrap();
            cinema.clear(SHOW).await;
            let mut arguments = json!({"seat_ids": seats});
            if date.is_none() {
                arguments["schedule_id"] = SHOW.into();
            }
            let answer = cinema.ok("reserve_seats", arguments).await;
            assert_eq!(
                answer["reservation"]["seat_ids"],
                json!([format!("{row}3"), format!("{row}4")]),
                "{spelling}"
            );
            assert_eq!(answer["reservation"]["schedule_id"], SHOW);
        }
        let twice = json!({"schedule_id": SHOW, "seat_ids": ["H9", "h-9", "H10"]});
        let answer = cinema.ok("reserve_seats", twice).await;
        assert_eq!(answer["reservation"]["seat_ids"], json!(["H9", "H10"]));
    }
}

#[tokio::test]
async fn by_title_date_and_time() {
    for mut cinema in both().await {
        let seats = cinema
            .ok("get_seat_availability", json!({"schedule_id": SHOW}))
            .await;
        let info = &seats["schedule_info"];
        cinema.context.language = Language::Japanese;
        let answer = cinema
            .ok(
                "reserve_seats",
                json!({
                    "movie_title": info["movie_title"], "date": info["date"],
                    "start_time": info["start_time"], "seat_ids": "A3", "idempotency_key": "k"
                }),
            )
            .await;
        assert_eq!(answer["message"], "1席を予約しました: A3。");
        assert_eq!(answer["schedule_info"], *info);
        let id = answer["reservation"]["reservation_id"].as_str().unwrap();
        assert!(id.starts_with("rsv_") && id.len() >= 4 + 20, "{id}");
        assert_eq!(
            cinema.context.take_changes(),
            [Change::Resource(format!("cinema://shows/{SHOW}/seats"))]
        );
        // Never a guess from what was looked at before.
        for arguments in [
            json!({"seat_ids": ["A4"]}),
            json!({"seat_ids": ["A4"], "movie_title": info["movie_title"]}),
            json!({"seat_ids": ["A4"], "date": info["date"]}),
            json!({"seat_ids": ["S1:A4", "S2:A5"]}),
            json!({"schedule_id": SHOW, "seat_ids": ["S2:A5"]}),
        ] {
            let error = cinema.refused("reserve_seats", arguments.clone()).await;
            assert_eq!(error.code, "SCHEDULE_AMBIGUOUS", "{arguments}");
            assert!(error.next.is_some());
        }
        assert_eq!(cinema.context.take_changes(), []);
    }
}

#[tokio::test]
async fn taken_seats_are_named_and_others_proposed() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let reserve = async |seats: Value| {
            cinema
                .call(
                    "reserve_seats",
                    json!({"schedule_id": SHOW, "seat_ids": seats}),
                )
                .await
        };
        reserve(json!(["C5"])).await.unwrap();
        let before = cinema.count("cinema_reservations").await;

        let error = reserve(json!(["C5"])).await.unwrap_err();
        assert_eq!(
            error.text(),
            "SEATS_TAKEN: Seat C5 is already occupied. Nothing was reserved. The nearest free \
             seat: C4."
        );
        let error = reserve(json!(["C4", "C5"])).await.unwrap_err();
        assert_eq!(error.message, "Seat C5 is already occupied.");
        assert_eq!(
            details(&error),
            json!({
                "taken": ["C5"], "available_seats_count": 79, "nearest_free_block": ["C3", "C4"]
            })
        );
        assert!(error.next.unwrap().contains("C3, C4"));
        reserve(json!(["C4"])).await.unwrap();
        let error = reserve(json!(["C4", "C5", "C6"])).await.unwrap_err();
        assert_eq!(error.message, "Seats C4, C5 are already occupied.");
        assert_eq!(details(&error)["taken"], json!(["C4", "C5"]));

        // All or none: the free one of a refused booking stays free.
        assert_eq!(cinema.count("cinema_reservations").await, before + 1);
        reserve(json!(["C6"])).await.unwrap();

        // Every other seat taken: nothing side by side is left.
        cinema
            .sql(
                "INSERT INTO cinema_taken_seats SELECT 'S20261116-T4-4', seat_row, seat_number, \
                 'x', NULL FROM cinema_seats WHERE theater_id = 'T4' AND seat_number % 2 = 0 \
                 ON CONFLICT DO NOTHING RETURNING 1",
            )
            .await;
        let error = reserve(json!(["D1", "D2"])).await.unwrap_err();
        assert!(
            error
                .text()
                .contains("No row has 2 suitable free seats side by side"),
            "{error}"
        );
        assert_eq!(details(&error).get("nearest_free_block"), None);
        cinema
            .sql(
                "INSERT INTO cinema_taken_seats SELECT 'S20261116-T4-4', seat_row, seat_number, \
                 'x', NULL FROM cinema_seats WHERE theater_id = 'T4' ON CONFLICT DO NOTHING RETURNING 1",
            )
            .await;
        let error = reserve(json!(["D1"])).await.unwrap_err();
        assert!(error.text().contains("The screening is full"), "{error}");
        assert_eq!(details(&error)["available_seats_count"], 0);
    }
}

#[tokio::test]
async fn what_cannot_be_reserved() {
    for cinema in both().await {
        let error = cinema
            .refused(
                "reserve_seats",
                json!({"schedule_id": SHOW, "seat_ids": ["A3", "Z1", "A99"]}),
            )
            .await;
        assert_eq!(error.code, "SEAT_NOT_FOUND");
        assert_eq!(error.message, "Seats Z1, A99 do not exist in スクリーン4.");
        assert!(
            error.next.as_ref().unwrap().contains("A1-A10, B1-B10"),
            "{error}"
        );
        assert_eq!(details(&error)["missing"], json!(["Z1", "A99"]));
        for (arguments, code) in [
            (
                json!({"schedule_id": SHOW, "seat_ids": ["5A"]}),
                "INVALID_SEAT_ID",
            ),
            (
                json!({"schedule_id": SHOW, "seat_ids": ["A1-A3"]}),
                "INVALID_SEAT_ID",
            ),
            (
                json!({"schedule_id": "S0", "seat_ids": ["A3"]}),
                "SCHEDULE_NOT_FOUND",
            ),
            (
                json!({"schedule_id": "S20261115-T1-1", "seat_ids": ["A3"]}),
                "SHOW_STARTED",
            ),
            (
                json!({"movie_title": "なにか", "seat_ids": ["A3"]}),
                "MOVIE_NOT_FOUND",
            ),
            (
                json!({"schedule_id": SHOW, "seat_ids": "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 B1"}),
                "TOO_MANY_SEATS",
            ),
        ] {
            let error = cinema.refused("reserve_seats", arguments.clone()).await;
            assert_eq!(error.code, code, "{arguments}");
            assert!(error.next.is_some(), "{code} says what to do next");
            assert!(!error.is_internal());
        }
        assert_eq!(
            cinema.count("cinema_reservations WHERE is_demo = 0").await,
            0
        );
    }
}

#[tokio::test]
async fn details_name_the_seat_types() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let answer = cinema
            .ok(
                "reserve_seats",
                json!({"schedule_id": SHOW, "seat_ids": ["H1", "A1", "B5"]}),
            )
            .await;
        let id = answer["reservation"]["reservation_id"].as_str().unwrap();
        let details = cinema
            .ok(
                "get_reservation_details",
                json!({"reservation_id": format!(" {id} ")}),
            )
            .await;
        let types: Vec<&str> = details["seat_details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|seat| seat["seat_type"].as_str().unwrap())
            .collect();
        assert_eq!(types, ["カップル", "車椅子", "一般"]);
        let seats = cinema
            .ok("get_seat_availability", json!({"schedule_id": SHOW}))
            .await;
        let special = json!({"seat_id": "A1", "seat_type": "車椅子"});
        assert!(
            seats["special_seats"]
                .as_array()
                .unwrap()
                .contains(&special)
        );
    }
}
