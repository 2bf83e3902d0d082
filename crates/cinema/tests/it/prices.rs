//! Prices and the place.

use kit::context::Language;
use serde_json::{Value, json};

use crate::cinema::{both, both_empty, one};

/// The first screening of `day` that starts in these hours.
async fn priced(cinema: &crate::cinema::Cinema, day: &str, from: &str, to: &str) -> Value {
    let arguments = json!({"movie_id": "", "date": day, "from_time": from, "to_time": to});
    let answer = cinema.ok("get_show_schedule", arguments).await;
    answer["schedules"][0].clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_schedule_shows_the_general_and_the_lowest_price() {
    for cinema in both().await {
        for (day, from, to, general, lowest) in [
            ("2026-11-16", "10:00", "12:00", 2_000, 1_000),
            ("2026-11-16", "20:00", "22:00", 1_500, 1_000),
            ("2026-11-16", "25:00", "26:00", 1_500, 1_000),
            // A Wednesday.
            ("2026-11-18", "10:00", "12:00", 1_300, 1_000),
            ("2026-11-18", "25:00", "26:00", 1_300, 1_000),
        ] {
            let schedule = priced(&cinema, day, from, to).await;
            assert_eq!(schedule["price_yen"], general, "{day} {from}: {schedule}");
            assert_eq!(schedule["price_from_yen"], lowest, "{day} {from}");
        }
    }
}

#[tokio::test]
async fn a_schedule_has_the_price_list_and_the_place() {
    let mut cinema = one().await;
    let answer = cinema.schedule("M001", "2026-11-16").await;
    assert_eq!(answer["prices"][0], "general: General 2,000 yen");
    assert_eq!(answer["prices"][6], "Wednesday (every wed) 1,300 yen");
    assert!(
        answer["place"]
            .as_str()
            .unwrap()
            .starts_with("Madoguchi Cinema, 4F")
    );
    cinema.context.language = Language::Japanese;
    let answer = cinema.schedule("M001", "2026-11-16").await;
    assert_eq!(answer["prices"][3], "senior: シニア（60歳以上）1,300円");
    assert_eq!(answer["prices"][8], "カップルシート（カップル）+500円");
    assert!(
        answer["place"]
            .as_str()
            .unwrap()
            .starts_with("窓口シネマ 〒")
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reservation_details_have_price_and_place() {
    for cinema in both().await {
        // H1 is half of a seat for two.
        cinema.clear("S20261116-T4-1").await;
        let booked = cinema.reserve("S20261116-T4-1", ["B3", "B4", "H1"]).await;
        let booked = booked.unwrap();
        assert_eq!(booked["price"]["other_prices"]["student"], 1_500);
        let id = booked["reservation"]["reservation_id"].clone();
        let details = cinema.details(&id).await;
        let line = |seat_type: &str, count: i64, each: i64| {
            json!({
                "price_class": "general", "name": "General", "seat_type": seat_type,
                "count": count, "each_yen": each, "amount_yen": count * each
            })
        };
        let price = &details["price"];
        assert_eq!(price["total_yen"], 6_500);
        assert_eq!(price["currency"], "JPY");
        let lines = json!([line("一般", 2, 2_000), line("カップル", 1, 2_500)]);
        assert_eq!(price["lines"], lines);
        let note = price["note"].as_str().unwrap();
        assert!(note.starts_with("No payment is taken here"), "{note}");
        assert!(note.contains("priced as general"), "{note}");
        let place = &details["place"];
        assert_eq!(place["name"], "Madoguchi Cinema");
        assert!(
            place["accessibility"]
                .as_str()
                .unwrap()
                .contains("Wheelchair")
        );
    }
}

/// Whoever approves a booking sees what it costs, and the film in their language.
#[tokio::test]
async fn the_card_of_a_booking_has_title_and_price() {
    let mut cinema = one().await;
    let show = priced(&cinema, "2026-11-16", "10:00", "12:00").await;
    let id = show["schedule_id"].as_str().unwrap();
    cinema.clear(id).await;
    let booking = json!({"schedule_id": id, "seat_ids": ["B3", "B4"], "tickets": {"child": 2}});
    let general = json!({"schedule_id": id, "seat_ids": ["B3", "B4"]});
    let quoted = cinema.reserve(id, ["B3", "B4"]).await.unwrap()["price"]["total_yen"].clone();
    cinema.clear(id).await;
    let card = cinema.card("reserve_seats", general).await.unwrap();
    let price = card.lines.last().unwrap();
    assert_eq!(price.text.replace(',', ""), format!("{quoted} yen"));
    let children = cinema.card("reserve_seats", booking.clone()).await.unwrap();
    assert_eq!(children.lines.last().unwrap().text, "2,000 yen");
    let english = show["english_title"].as_str().unwrap();
    assert!(card.summary.ends_with(english), "{}", card.summary);
    cinema.context.language = Language::Japanese;
    let card = cinema.card("reserve_seats", booking).await.unwrap();
    assert_eq!(card.lines.last().unwrap().text, "2,000円");
    let title = show["movie_title"].as_str().unwrap();
    assert!(card.summary.contains(title), "{}", card.summary);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn prices_and_place_are_resources() {
    for cinema in both().await {
        let read = async |uri: &str| -> Value {
            serde_json::from_str(&cinema.read(uri).await.unwrap()).unwrap()
        };
        let place = read("cinema://place").await;
        assert_eq!(place["phone"], "03-0000-0000");
        let prices = read("cinema://prices").await;
        assert_eq!(prices[7]["from_time"], "20:00");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn without_prices_nothing_is_quoted() {
    for cinema in both_empty().await {
        for uri in ["cinema://place", "cinema://prices"] {
            assert_eq!(cinema.read(uri).await, None);
        }
        let demo = cinema.counter.demo.clone().unwrap();
        demo.load(&cinema.context).await.unwrap();
        // The demo's prices are not for real screenings.
        cinema
            .sql("UPDATE cinema_shows SET is_demo = 0 WHERE id = 'S20261116-T4-1' RETURNING 1")
            .await;
        let film = cinema.seats("S20261116-T4-1").await["schedule_info"]["movie_id"].clone();
        let answer = cinema.schedule(film.as_str().unwrap(), "2026-11-16").await;
        let schedules = answer["schedules"].as_array().unwrap();
        for schedule in schedules {
            let is_real = schedule["schedule_id"] == "S20261116-T4-1";
            assert_eq!(schedule.get("price_yen").is_none(), is_real, "{schedule}");
        }
        let booked = cinema.reserve("S20261116-T4-1", ["A3"]).await.unwrap();
        let details = cinema
            .details(&booked["reservation"]["reservation_id"])
            .await;
        assert_eq!(details.get("price"), None);
        cinema.sql("DELETE FROM cinema_documents RETURNING 1").await;
        let answer = cinema.schedule("M001", "2026-11-16").await;
        assert_eq!(answer.get("prices"), None);
        assert_eq!(answer.get("place"), None);
        assert_eq!(answer["schedules"][0].get("price_yen"), None);
    }
}

const SHOW: &str = "S20261116-T4-1";

/// Counts and prices of each line: `general 2 2000`.
fn lines(answer: &Value) -> Vec<String> {
    let lines = answer["price"]["lines"].as_array().unwrap().iter();
    let line = |line: &Value| {
        let class = line["price_class"].as_str().unwrap();
        format!("{class} {} {}", line["count"], line["each_yen"])
    };
    lines.map(line).collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_booking_is_priced_by_its_tickets_and_keeps_them() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let hold = json!({
            "schedule_id": SHOW, "seat_ids": ["B3", "B4", "B5"],
            "tickets": {"大人": 1, "child": "2"}
        });
        let held = cinema.ok("hold_seats", hold).await;
        assert_eq!(lines(&held), ["general 1 2000", "child 2 1000"]);
        assert_eq!(held["price"]["total_yen"], 4_000);
        assert_eq!(held["price"].get("other_prices"), None);
        let book = json!({"hold_id": held["hold_id"], "seat_ids": "*"});
        let booked = cinema.ok("reserve_seats", book).await;
        assert_eq!(booked["price"], held["price"]);
        let id = &held["hold_id"];
        assert_eq!(cinema.details(id).await["price"], held["price"]);
        // From ten in the morning to a late show, where children still pay less.
        let late = "S20261116-T4-6";
        cinema.clear(late).await;
        let exchange = json!({
            "reservation_id": id, "schedule_id": late, "seat_ids": ["B1", "B2", "B3"]
        });
        let exchanged = cinema.ok("exchange_seats", exchange).await;
        assert_eq!(lines(&exchanged)[1], "child 2 1000");
        let cancel = json!({"reservation_id": id, "seat_ids": ["B1"]});
        cinema.ok("cancel_reservation", cancel).await;
        assert_eq!(lines(&cinema.details(id).await), ["child 2 1000"]);
    }
}

/// Nobody can tell from the seats who stays at home.
#[tokio::test]
async fn a_partial_cancellation_takes_the_tickets_that_are_left() {
    let cinema = one().await;
    let show = "S20261117-T4-4";
    cinema.clear(show).await;
    for (tickets, assumes, class) in [
        (json!({"senior": 1}), false, "senior"),
        (json!({}), true, "general"),
    ] {
        let booking = json!({"schedule_id": show, "seat_ids": ["C5", "C6"],
            "tickets": {"general": 1, "senior": 1}});
        let booked = cinema.ok("reserve_seats", booking).await;
        let id = &booked["reservation"]["reservation_id"];
        let cancel = json!({"reservation_id": id, "seat_ids": ["C6"], "tickets": tickets});
        let answer = cinema.ok("cancel_reservation", cancel).await;
        assert_eq!(answer["price"]["lines"][0]["price_class"], class);
        let warned = answer["warnings"]
            .to_string()
            .contains("PRICE_CLASSES_ASSUMED");
        assert_eq!(warned, assumes, "{answer}");
        cinema.clear(show).await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn wrong_tickets_are_refused_and_nothing_is_booked() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        for (tickets, code) in [
            (json!({"general": 3}), "TICKETS_MISMATCH"),
            (json!({"general": 1, "robot": 1}), "UNKNOWN_PRICE_CLASS"),
            (json!({"general": -2}), "INVALID_ARGUMENT"),
        ] {
            let book = json!({"schedule_id": SHOW, "seat_ids": ["B3", "B4"], "tickets": tickets});
            assert_eq!(cinema.code("reserve_seats", book).await, code);
        }
        let best = json!({
            "schedule_id": SHOW, "party_size": 2, "hold": true, "tickets": ["senior", "student"]
        });
        let found = cinema.ok("find_best_seats", best).await;
        assert_eq!(lines(&found["hold"]), ["student 1 1500", "senior 1 1300"]);
        let all = cinema.seats(SHOW).await;
        assert_eq!(all["available_seats_count"], 78);
    }
}
