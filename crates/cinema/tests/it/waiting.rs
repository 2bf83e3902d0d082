//! The best seats for a party, and the list of those who wait for seats.

use kit::Caller;
use serde_json::{Value, json};

use crate::cinema::{Cinema, both, one};

const SHOW: &str = "S20261116-T4-4";

async fn join(cinema: &Cinema, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["schedule_id"] = json!(SHOW);
    let joined = cinema.ok("join_waiting_list", arguments).await;
    joined["waiting"].clone()
}

async fn look(cinema: &Cinema, joined: &Value) -> Value {
    let arguments = json!({"waiting_id": joined["waiting_id"]});
    let found = cinema.ok("get_reservation_details", arguments).await;
    found["waiting"].clone()
}

/// A screening of which only the seats of `booking` are not sold to others.
async fn full_but_for(cinema: &Cinema, seats: &[&str]) -> Value {
    cinema.clear(SHOW).await;
    let answer = cinema.reserve(SHOW, seats).await.unwrap();
    cinema.take(&format!("s.id = '{SHOW}'")).await;
    answer["reservation"]["reservation_id"].clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn freed_seats_are_held_for_the_first_party_that_they_fit() {
    for mut cinema in both().await {
        let id = full_but_for(&cinema, &["C5", "C6"]).await;
        let four = join(&cinema, json!({"party_size": 4})).await;
        assert_eq!(
            (&four["status"], &four["position"]),
            (&json!("waiting"), &json!(1))
        );
        let two = join(&cinema, json!({"party_size": 2})).await;
        let also_two = join(&cinema, json!({"party_size": 2})).await;
        assert_eq!(also_two["position"], 3);
        cinema.context.take_changes();
        cinema
            .ok("cancel_reservation", json!({"reservation_id": id}))
            .await;
        let changes = format!("{:?}", cinema.context.take_changes());
        let address = format!("cinema://waiting/{}", two["waiting_id"].as_str().unwrap());
        assert!(changes.contains(&address), "{changes}");

        let offered = look(&cinema, &two).await;
        assert_eq!(offered["status"], "offered");
        assert_eq!(offered["seat_ids"], json!(["C5", "C6"]));
        assert_eq!(offered["expires_at"], "2026-11-15T10:10:00+09:00");
        assert_eq!(look(&cinema, &four).await["status"], "waiting");
        assert_eq!(look(&cinema, &also_two).await["position"], 2);
        // Nobody else gets them.
        cinema.context.caller = Caller::new("key_2", "another");
        assert_eq!(
            cinema.reserve(SHOW, ["C5"]).await.unwrap_err().code,
            "SEATS_TAKEN"
        );
        let booking = json!({"hold_id": offered["hold_id"]});
        cinema.ok("reserve_seats", booking).await;
        assert_eq!(look(&cinema, &two).await["status"], "booked");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_call_waits_until_seats_are_held() {
    for cinema in both().await {
        let id = full_but_for(&cinema, &["C5"]).await;
        let joined = join(&cinema, json!({"party_size": 1})).await;
        let wait = |seconds: f64| {
            let arguments = json!({"waiting_id": joined["waiting_id"], "timeout": seconds});
            cinema.ok("get_reservation_details", arguments)
        };
        let in_vain = wait(0.1).await;
        assert_eq!(in_vain["waiting"]["status"], "waiting");
        let cancel = async {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            cinema
                .ok("cancel_reservation", json!({"reservation_id": id}))
                .await
        };
        let (offered, _) = futures::join!(wait(60.0), cancel);
        assert_eq!(offered["waiting"]["status"], "offered");
        assert_eq!(offered["waiting"]["seat_ids"], json!(["C5"]));
    }
}

/// An offer that nobody takes goes to the next in line before anybody else gets it, even
/// if the background work has not looked yet.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_offer_that_lapses_goes_to_the_next_in_line() {
    for cinema in both().await {
        let id = full_but_for(&cinema, &["C5", "C6"]).await;
        let first = join(&cinema, json!({"party_size": 2})).await;
        let second = join(&cinema, json!({"party_size": 2})).await;
        cinema
            .ok("cancel_reservation", json!({"reservation_id": id}))
            .await;
        assert_eq!(look(&cinema, &first).await["status"], "offered");
        cinema.set_clock("2026-11-15T10:10:00+09:00");
        let refused = cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap_err();
        assert_eq!(refused.code, "SEATS_TAKEN");
        // The refused call was undone, with the offer it made; the next look makes it.
        let third = join(&cinema, json!({"party_size": 1})).await;
        assert_eq!(third["status"], "waiting");
        assert_eq!(look(&cinema, &first).await["status"], "lapsed");
        assert_eq!(look(&cinema, &second).await["status"], "offered");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn whoever_leaves_gets_nothing() {
    for cinema in both().await {
        let id = full_but_for(&cinema, &["C5"]).await;
        let first = join(&cinema, json!({"party_size": 1})).await;
        let leave = json!({"waiting_id": first["waiting_id"]});
        cinema.ok("cancel_reservation", leave.clone()).await;
        assert_eq!(look(&cinema, &first).await["status"], "left");
        let again = cinema.ok("cancel_reservation", leave).await;
        assert_eq!(again["warnings"][0]["code"], "NOT_WAITING");
        cinema
            .ok("cancel_reservation", json!({"reservation_id": id}))
            .await;
        assert_eq!(cinema.seats(SHOW).await["available_seats_count"], 1);
        // With a free seat there is nothing to wait for.
        let late = join(&cinema, json!({"party_size": 1})).await;
        assert_eq!(late["status"], "offered");
        let unknown = json!({"waiting_id": "wtg_unknown"});
        assert_eq!(
            cinema.code("get_reservation_details", unknown).await,
            "WAITING_NOT_FOUND"
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn waiting_lists_are_bounded() {
    for mut cinema in both().await {
        full_but_for(&cinema, &["C5"]).await;
        let settings = cinema::Settings {
            max_waiting_per_show: 2,
            ..cinema::Settings::default()
        };
        cinema.counter = cinema::counter(settings, std::sync::Arc::clone(cinema.store()));
        for _ in 0..2 {
            join(&cinema, json!({"party_size": 2})).await;
        }
        let third = json!({"schedule_id": SHOW, "party_size": 2});
        assert_eq!(
            cinema.code("join_waiting_list", third).await,
            "WAITING_LIST_FULL"
        );
        let huge = json!({"schedule_id": SHOW, "party_size": 11, "couple": false});
        assert_eq!(
            cinema.code("join_waiting_list", huge).await,
            "WAITING_LIST_FULL"
        );
        let couples = json!({"schedule_id": SHOW, "party_size": 40, "couple": true});
        assert_eq!(
            cinema.code("join_waiting_list", couples).await,
            "PARTY_NEVER_FITS"
        );
    }
}

/// Joining a list is no way around the limits on seats.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nobody_gets_more_seats_by_waiting() {
    for mut cinema in both().await {
        cinema.clear(SHOW).await;
        let settings = cinema::Settings {
            max_held_seats_per_caller: 5,
            max_waiting_per_caller: 3,
            ..cinema::Settings::default()
        };
        cinema.counter = cinema::counter(settings, std::sync::Arc::clone(cinema.store()));
        for status in ["offered", "offered", "waiting", "waiting"] {
            let joined = join(&cinema, json!({"party_size": 2})).await;
            assert_eq!(joined["status"], status);
        }
        assert_eq!(cinema.seats(SHOW).await["held_seats_count"], 4);
        join(&cinema, json!({"party_size": 2})).await;
        let more = json!({"schedule_id": SHOW, "party_size": 2});
        assert_eq!(
            cinema.code("join_waiting_list", more).await,
            "TOO_MANY_PARTIES"
        );
        // Another caller is not held up.
        cinema.context.caller = Caller::new("key_2", "another");
        assert_eq!(
            join(&cinema, json!({"party_size": 2})).await["status"],
            "offered"
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_best_seats_of_a_screening_are_held_at_once() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let found = json!({"schedule_id": SHOW, "party_size": 4});
        let answer = cinema.ok("find_best_seats", found.clone()).await;
        let best = answer["blocks"][0]["seat_ids"].clone();
        assert_eq!(best.as_array().unwrap().len(), 4);
        assert_eq!(answer.get("hold"), None);
        assert_eq!(cinema.seats(SHOW).await["available_seats_count"], 80);

        let mut hold = found;
        hold["hold"] = json!(true);
        let answer = cinema.ok("find_best_seats", hold.clone()).await;
        assert_eq!(answer["hold"]["reservation"]["seat_ids"], best);
        let next = cinema.ok("find_best_seats", hold).await;
        let next = &next["hold"]["reservation"]["seat_ids"];
        assert_ne!(*next, best);
        assert_eq!(cinema.seats(SHOW).await["held_seats_count"], 8);
        let booking = json!({"hold_id": answer["hold"]["hold_id"]});
        cinema.ok("reserve_seats", booking).await;
    }
}

#[tokio::test]
async fn the_best_seats_across_screenings() {
    let cinema = one().await;
    let find = async |arguments: Value| cinema.ok("find_best_seats", arguments).await;
    let evening = json!({"party_size": 2, "date": "2026-11-16", "to_date": "2026-11-17",
        "from_time": "18:00", "to_time": "21:00"});
    let answer = find(evening).await;
    let blocks = answer["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let start = block["start_time"].as_str().unwrap();
        assert!(("18:00"..="21:00").contains(&start), "{block}");
        assert!(["2026-11-16", "2026-11-17"].contains(&block["date"].as_str().unwrap()));
        assert_eq!(block["together"], true);
    }
    let wheelchair = find(json!({"party_size": 3, "wheelchairs": 1})).await;
    for block in wheelchair["blocks"].as_array().unwrap() {
        assert!(
            block["seat_ids"].as_array().unwrap().contains(&json!("A2")),
            "{block}"
        );
    }
    let class = find(json!({"party_size": 30, "hold": true})).await;
    assert_eq!(
        class["hold"]["reservation"]["seat_ids"]
            .as_array()
            .unwrap()
            .len(),
        30
    );

    let nothing = find(json!({"party_size": 2, "date": "2027-03-01"})).await;
    assert_eq!(nothing["blocks"], json!([]));
    assert!(
        nothing["message"]
            .as_str()
            .unwrap()
            .contains("No screening fits")
    );
    for (arguments, code) in [
        (json!({"party_size": 0}), "INVALID_ARGUMENT"),
        (json!({"party_size": 51}), "INVALID_ARGUMENT"),
        (json!({"party_size": 3, "couple": true}), "ODD_COUPLE_PARTY"),
        (
            json!({"party_size": 2, "couple": true, "wheelchairs": 1}),
            "COUPLE_AND_WHEELCHAIR",
        ),
        (
            json!({"party_size": 1, "wheelchairs": 2}),
            "TOO_MANY_WHEELCHAIRS",
        ),
        (
            json!({"party_size": 1, "date": "2026-11-20", "to_date": "2026-11-19"}),
            "INVALID_DATE",
        ),
        (
            json!({"party_size": 1, "date": "2026-11-20", "to_date": "2027-11-19"}),
            "INVALID_DATE",
        ),
        (
            json!({"party_size": 1, "movie_title": "zzzz"}),
            "MOVIE_NOT_FOUND",
        ),
    ] {
        assert_eq!(
            cinema.code("find_best_seats", arguments.clone()).await,
            code,
            "{arguments}"
        );
    }
}

/// Also if no desk ran for years meanwhile.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn parties_of_screenings_that_are_long_over_are_deleted() {
    for cinema in both().await {
        for row in [
            "cinema_shows VALUES \
             ('long-ago', 'M001', 'T2', '2020-01-01', 600, 700, 1577840400000, 0, 1)",
            "cinema_waiting (id, show_id, party_size, wishes, status, caller, joined_at, turn) \
             VALUES ('w1', 'long-ago', 2, '{}', 'waiting', 'key_1', 1577800000000, 1)",
        ] {
            cinema.sql(&format!("INSERT INTO {row} RETURNING 1")).await;
        }
        let background = cinema.counter.background.clone().unwrap();
        background.start(std::sync::Arc::new(|_| {}));
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while cinema.count("cinema_waiting").await > 0 {
            assert!(std::time::Instant::now() < limit, "it is still there");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        background.stop().await;
        let counted = "cinema_shows WHERE id = 'long-ago' AND waiting = 0";
        assert_eq!(cinema.count(counted).await, 1);
    }
}
