//! Seats that are held for a while: taken until then, free afterwards.

use serde_json::json;

use crate::cinema::{both, details};

const SHOW: &str = "S20261116-T4-4";
const UNTIL: &str = "2026-11-15T10:10:00+09:00";

#[tokio::test]
async fn a_held_seat_is_taken_until_the_hold_expires() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        cinema.hold(SHOW, "C", 5, UNTIL).await;
        let free = async || {
            let seats = cinema
                .ok("get_seat_availability", json!({"schedule_id": SHOW}))
                .await;
            let movie = seats["schedule_info"]["movie_id"].clone();
            let schedules = cinema
                .ok(
                    "get_show_schedule",
                    json!({"movie_id": movie, "date": "2026-11-16"}),
                )
                .await["schedules"]
                .clone();
            let schedules = schedules.as_array().unwrap().clone();
            let listed = schedules
                .iter()
                .find(|one| one["schedule_id"] == SHOW)
                .unwrap();
            assert_eq!(
                listed["available_seats_count"],
                seats["available_seats_count"]
            );
            seats["available_seats_count"].as_i64().unwrap()
        };
        let status = async || {
            cinema
                .ok(
                    "get_reservation_details",
                    json!({"reservation_id": "hold_C5"}),
                )
                .await["reservation"]
                .clone()
        };
        assert_eq!(free().await, 79);
        assert_eq!(status().await["status"], "held");
        assert_eq!(status().await["expires_at"], UNTIL);
        let book = json!({"schedule_id": SHOW, "seat_ids": ["C5", "C6"]});
        let error = cinema.refused("reserve_seats", book.clone()).await;
        assert_eq!(error.code, "SEATS_TAKEN");
        assert_eq!(details(&error)["taken"], json!(["C5"]));

        cinema.set_clock(UNTIL);
        assert_eq!(free().await, 80);
        assert_eq!(status().await["status"], "expired");
        assert_eq!(status().await.get("expires_at"), None);
        cinema.ok("reserve_seats", book.clone()).await;
        assert_eq!(free().await, 78);
        assert_eq!(cinema.code("reserve_seats", book).await, "SEATS_TAKEN");
    }
}
