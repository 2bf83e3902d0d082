//! A cinema for a test: a fresh database, the sample data, and a clock stopped at
//! ten in the morning.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use jiff::Timestamp;
use kit::{Result, Store, testing::Harness};
use serde::Serialize;
use serde_json::{Value, json};
use store::testing::Scratch;

pub const TODAY: &str = "2026-11-15";
pub const TEN_O_CLOCK: &str = "2026-11-15T10:00:00+09:00";

pub struct Cinema {
    harness: Harness,
    pub scratch: Scratch,
}

impl Deref for Cinema {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

impl DerefMut for Cinema {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.harness
    }
}

/// One cinema of each engine, empty.
pub async fn both_empty() -> Vec<Cinema> {
    let mut cinemas = Vec::new();
    for scratch in store::testing::both().await {
        cinemas.push(Cinema::open(scratch).await);
    }
    cinemas
}

/// One cinema of each engine, with the sample data.
pub async fn both() -> Vec<Cinema> {
    let cinemas = both_empty().await;
    for cinema in &cinemas {
        cinema.load_demo().await;
    }
    cinemas
}

/// One with the sample data, for what has nothing to do with the engine.
pub async fn one() -> Cinema {
    let cinema = Cinema::open(store::testing::sqlite().await).await;
    cinema.load_demo().await;
    cinema
}

impl Cinema {
    /// Tables, and nothing in them.
    pub async fn open(scratch: Scratch) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(cinema::MIGRATIONS).await.unwrap();
        let counter = cinema::counter(cinema::Settings::default(), store);
        Self {
            harness: Harness::new(counter, TEN_O_CLOCK),
            scratch,
        }
    }

    pub async fn movies(&self, arguments: Value) -> Value {
        self.ok("get_movie_list", arguments).await
    }

    pub async fn schedule(&self, movie: &str, date: &str) -> Value {
        let arguments = json!({"movie_id": movie, "date": date});
        self.ok("get_show_schedule", arguments).await
    }

    pub async fn seats(&self, show: impl Serialize) -> Value {
        let arguments = json!({"schedule_id": show});
        self.ok("get_seat_availability", arguments).await
    }

    pub async fn reserve(&self, show: impl Serialize, seats: impl Serialize) -> Result<Value> {
        let arguments = json!({"schedule_id": show, "seat_ids": seats});
        self.call("reserve_seats", arguments).await
    }

    pub async fn details(&self, reservation: &Value) -> Value {
        let arguments = json!({"reservation_id": reservation});
        self.ok("get_reservation_details", arguments).await
    }

    /// Frees every seat of a screening.
    pub async fn clear(&self, show: &str) {
        let of_show = format!("cinema_taken_seats WHERE show_id = '{show}'");
        self.sql(&format!("DELETE FROM {of_show} RETURNING 1"))
            .await;
    }

    /// Takes the seats of the halls' plans that `condition` selects; `s` is a screening
    /// and `k` a seat of its hall.
    pub async fn take(&self, condition: &str) {
        self.sql(&format!(
            "INSERT INTO cinema_taken_seats SELECT s.id, k.seat_row, k.seat_number, 'x', NULL \
             FROM cinema_shows s JOIN cinema_seats k ON k.theater_id = s.theater_id \
             WHERE {condition} ON CONFLICT DO NOTHING RETURNING 1"
        ))
        .await;
    }

    /// Puts a hold on a seat, as somebody who has not decided yet.
    pub async fn hold(&self, show: &str, row: &str, number: i64, until: &str) {
        let until = until.parse::<Timestamp>().unwrap().as_millisecond();
        for statement in [
            format!(
                "INSERT INTO cinema_reservations (id, show_id, seats, status, caller, created_at, \
                 expires_at, is_demo) VALUES ('hold_{row}{number}', '{show}', '{row}{number}', \
                 'held', 'local', 0, {until}, 0) RETURNING 1"
            ),
            format!(
                "INSERT INTO cinema_taken_seats VALUES ('{show}', '{row}', {number}, \
                 'hold_{row}{number}', {until}) RETURNING 1"
            ),
        ] {
            self.sql(&statement).await;
        }
    }
}
