//! Reserving seats.

use kit::{
    context::{Change, Language},
    testing::details,
};
use serde_json::{Value, json};

use crate::cinema::both;

const SHOW: &str = "S20261116-T4-4";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_in_every_spelling() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        for (seats, booked) in [
            (json!(["A3", "A4"]), ["A3", "A4"]),
            (json!("B3,B4"), ["B3", "B4"]),
            (json!("C3、C-4"), ["C3", "C4"]),
            (json!(["D列3番", "D列４番"]), ["D3", "D4"]),
            // Each seat once.
            (json!(["H9", "h-9", "H10"]), ["H9", "H10"]),
        ] {
            let answer = cinema.reserve(SHOW, &seats).await.unwrap();
            assert_eq!(answer["reservation"]["seat_ids"], json!(booked), "{seats}");
        }
        let carried = json!({"seat_ids": [format!("{SHOW}:E3"), format!("{SHOW}:E4")]});
        let answer = cinema.ok("reserve_seats", carried).await;
        assert_eq!(answer["reservation"]["seat_ids"], json!(["E3", "E4"]));
        assert_eq!(answer["reservation"]["schedule_id"], SHOW);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn by_title_date_and_time() {
    for mut cinema in both().await {
        let info = cinema.seats(SHOW).await["schedule_info"].clone();
        cinema.context.language = Language::Japanese;
        let by_title = json!({
            "movie_title": info["movie_title"], "date": info["date"],
            "start_time": info["start_time"], "seat_ids": "A3", "idempotency_key": "k"
        });
        let answer = cinema.ok("reserve_seats", by_title).await;
        assert_eq!(answer["message"], "1席を予約しました: A3。");
        assert_eq!(answer["schedule_info"], info);
        let id = answer["reservation"]["reservation_id"].as_str().unwrap();
        assert!(id.starts_with("rsv_") && id.len() >= 4 + 20, "{id}");
        let seat_map = Change::Resource(format!("cinema://shows/{SHOW}/seats"));
        assert_eq!(cinema.context.take_changes(), [seat_map]);
        // What was viewed before does not count.
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
#[ignore = "needs other programs; scripts/test runs it"]
async fn taken_seats_are_named_and_others_proposed() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        cinema.reserve(SHOW, ["C5"]).await.unwrap();
        let before = cinema.count("cinema_reservations").await;

        let error = cinema.reserve(SHOW, ["C5"]).await.unwrap_err();
        assert_eq!(
            error.text(),
            "SEATS_TAKEN: Seat C5 is already occupied. Nothing was reserved. The nearest free \
             seat: C4."
        );
        let error = cinema.reserve(SHOW, ["C4", "C5"]).await.unwrap_err();
        assert_eq!(error.message, "Seat C5 is already occupied.");
        let proposal = json!({
            "taken": ["C5"], "available_seats_count": 79, "nearest_free_block": ["C3", "C4"]
        });
        assert_eq!(details(&error), proposal);
        assert!(error.next.unwrap().contains("C3, C4"));
        cinema.reserve(SHOW, ["C4"]).await.unwrap();
        let error = cinema.reserve(SHOW, ["C4", "C5", "C6"]).await.unwrap_err();
        assert_eq!(error.message, "Seats C4, C5 are already occupied.");
        assert_eq!(details(&error)["taken"], json!(["C4", "C5"]));

        // All or none: the free one of a refused booking stays free.
        assert_eq!(cinema.count("cinema_reservations").await, before + 1);
        cinema.reserve(SHOW, ["C6"]).await.unwrap();

        // Every other seat taken: nothing side by side is left.
        let every_seat = format!("s.id = '{SHOW}'");
        let every_other = format!("{every_seat} AND k.seat_number % 2 = 0");
        cinema.take(&every_other).await;
        let error = cinema.reserve(SHOW, ["D1", "D2"]).await.unwrap_err();
        let sentence = "No row has 2 suitable free seats side by side";
        assert!(error.text().contains(sentence), "{error}");
        assert_eq!(details(&error).get("nearest_free_block"), None);
        cinema.take(&every_seat).await;
        let error = cinema.reserve(SHOW, ["D1"]).await.unwrap_err();
        assert!(error.text().contains("The screening is full"), "{error}");
        assert_eq!(details(&error)["available_seats_count"], 0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn what_cannot_be_reserved() {
    for cinema in both().await {
        let seats = ["A3", "Z1", "A99"];
        let error = cinema.reserve(SHOW, seats).await.unwrap_err();
        assert_eq!(error.code, "SEAT_NOT_FOUND");
        assert_eq!(error.message, "Seats Z1, A99 do not exist in スクリーン4.");
        assert_eq!(details(&error)["missing"], json!(["Z1", "A99"]));
        let rows = error.next.unwrap();
        assert!(rows.contains("A1-A10, B1-B10"), "{rows}");
        let eleven = "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 B1";
        for (show, seats, code) in [
            (SHOW, "5A", "INVALID_SEAT_ID"),
            (SHOW, "A1-A3", "INVALID_SEAT_ID"),
            (SHOW, eleven, "TOO_MANY_SEATS"),
            ("S0", "A3", "SCHEDULE_NOT_FOUND"),
            ("S20261115-T1-1", "A3", "SHOW_STARTED"),
        ] {
            let error = cinema.reserve(show, seats).await.unwrap_err();
            assert_eq!(error.code, code, "{show} {seats}");
            assert!(error.next.is_some(), "{code} says what to do next");
        }
        let unknown = json!({"movie_title": "なにか", "seat_ids": ["A3"]});
        let error = cinema.refused("reserve_seats", unknown).await;
        assert_eq!(error.code, "MOVIE_NOT_FOUND");
        assert!(error.next.is_some());
        // A booking takes no words for days, so the error says what today is.
        let words = json!({"movie_title": "銀河", "date": "tomorrow", "seat_ids": ["A3"]});
        let error = cinema.refused("reserve_seats", words).await;
        assert_eq!(error.code, "INVALID_DATE");
        assert_eq!(error.next.unwrap(), "Today is 2026-11-15 (Asia/Tokyo).");
        let real = "cinema_reservations WHERE is_demo = 0";
        assert_eq!(cinema.count(real).await, 0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn details_name_the_seat_types() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let answer = cinema.reserve(SHOW, ["H1", "A1", "B5"]).await.unwrap();
        let id = answer["reservation"]["reservation_id"].as_str().unwrap();
        let details = cinema.details(&json!(format!(" {id} "))).await;
        let seats = details["seat_details"].as_array().unwrap().iter();
        let types: Vec<&str> = seats.map(|it| it["seat_type"].as_str().unwrap()).collect();
        assert_eq!(types, ["カップル", "車椅子", "一般"]);
        let seats = cinema.seats(SHOW).await;
        let special = json!([
            {"seat_type": "車椅子", "seat_ids": ["A1", "A2"]},
            {"seat_type": "カップル", "seat_ids": ["H1", "H2", "H3", "H4"]},
        ]);
        assert_eq!(seats["special_seats"], special);
        assert_eq!(seats.get("seat_map"), None);
    }
}

fn codes(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings.map(|it| it["code"].as_str().unwrap()).collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn warnings_name_age_class_half_couple_seats_and_seats_apart() {
    for mut cinema in both().await {
        let schedule = cinema.schedule("M012", "2026-11-16").await;
        assert_eq!(codes(&schedule), ["AGE_CLASS"]);
        let show = &schedule["schedules"][0]["schedule_id"];
        cinema.clear(show.as_str().unwrap()).await;
        let answer = cinema.reserve(show, ["C3", "C4"]).await.unwrap();
        let warning = json!({
            "code": "AGE_CLASS", "message": "R18+: nobody under 18 is admitted.",
            "age_class": "R18+"
        });
        assert_eq!(answer["warnings"], json!([warning]));

        let family = cinema.schedule("M006", "2026-11-16").await;
        assert_eq!(family.get("warnings"), None);
        let show = family["schedules"][0]["schedule_id"].as_str().unwrap();
        cinema.clear(show).await;
        let special = cinema.seats(show).await["special_seats"][1]["seat_ids"].clone();
        let answer = cinema.reserve(show, [&special[0]]).await.unwrap();
        assert_eq!(codes(&answer), ["HALF_COUPLE_SEAT"]);
        assert_eq!(answer["warnings"][0]["other_half"], special[1]);
        let answer = cinema
            .reserve(show, [&special[2], &special[3]])
            .await
            .unwrap();
        assert_eq!(answer.get("warnings"), None);
        cinema.context.language = Language::Japanese;
        let answer = cinema.reserve(show, ["B1", "C2", "B2"]).await.unwrap();
        assert_eq!(codes(&answer), ["SEATS_APART"]);
        let message = &answer["warnings"][0]["message"];
        assert_eq!(message, "座席が離れています: B1, B2 / C2。");
        cinema.set_clock("2026-11-16T23:59:00+09:00");
        assert_eq!(codes(&cinema.seats(show).await), ["SHOW_STARTED"]);
    }
}
