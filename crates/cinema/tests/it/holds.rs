//! Seats that are held for a while: taken until then, free afterwards.

use kit::testing::details;
use serde_json::json;

use crate::cinema::both;

const SHOW: &str = "S20261116-T4-4";
const UNTIL: &str = "2026-11-15T10:10:00+09:00";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_held_seat_is_taken_until_the_hold_expires() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        cinema.hold(SHOW, "C", 5, UNTIL).await;
        // As both tools count the free seats.
        let free = async || {
            let seats = cinema.seats(SHOW).await;
            let movie = seats["schedule_info"]["movie_id"].as_str().unwrap();
            let listed = cinema.schedule(movie, "2026-11-16").await;
            let mut listed = listed["schedules"].as_array().unwrap().iter();
            let listed = listed.find(|one| one["schedule_id"] == SHOW).unwrap();
            let free = &seats["available_seats_count"];
            assert_eq!(listed["available_seats_count"], *free);
            free.as_i64().unwrap()
        };
        let reservation = async || cinema.details(&json!("hold_C5")).await["reservation"].clone();
        assert_eq!(free().await, 79);
        assert_eq!(reservation().await["status"], "held");
        assert_eq!(reservation().await["expires_at"], UNTIL);
        let error = cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap_err();
        assert_eq!(error.code, "SEATS_TAKEN");
        assert_eq!(details(&error)["taken"], json!(["C5"]));

        cinema.set_clock(UNTIL);
        assert_eq!(free().await, 80);
        assert_eq!(reservation().await["status"], "expired");
        assert_eq!(reservation().await.get("expires_at"), None);
        cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap();
        assert_eq!(free().await, 78);
        let error = cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap_err();
        assert_eq!(error.code, "SEATS_TAKEN");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn subscribers_of_the_seat_map_learn_that_a_hold_expired() {
    for cinema in both().await {
        // By then the background is at work, however slow the machine is.
        let until = jiff::Timestamp::now() + std::time::Duration::from_secs(10);
        cinema.hold(SHOW, "C", 5, &until.to_string()).await;
        let (announced, mut changes) = tokio::sync::mpsc::unbounded_channel();
        let background = cinema.counter.background.clone().unwrap();
        background.start(std::sync::Arc::new(move |change| {
            let _ = announced.send(change);
        }));
        let limit = std::time::Duration::from_secs(60);
        let change = tokio::time::timeout(limit, changes.recv()).await;
        let uri = format!("cinema://shows/{SHOW}/seats");
        assert_eq!(change.unwrap(), Some(kit::context::Change::Resource(uri)));
        // The clock of a database may differ a little from this one.
        let early = jiff::SignedDuration::from_secs(2);
        assert!(jiff::Timestamp::now() + early >= until);
        background.stop().await;
    }
}
