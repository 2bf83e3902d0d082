//! A disk that is full or cannot be written.

use std::fs;

use kit::testing::SmallDisk;
use serde_json::{Value, json};
use store::{Database, Options};

use crate::cinema::Cinema;

const SHOW: &str = "S20261116-T1-4";

/// Books one seat after the other until one is refused.
async fn book_until_refused(cinema: &Cinema) -> (usize, kit::Error) {
    let seats = ('B'..='I').flat_map(|row| (1..=15).map(move |number| format!("{row}{number}")));
    for (booked, seat) in seats.enumerate() {
        if let Err(error) = cinema.reserve(SHOW, [seat]).await {
            return (booked, error);
        }
    }
    panic!("a full disk took every booking");
}

#[tokio::test]
async fn a_full_disk_books_nothing_and_recovers() {
    let disk = SmallDisk::mount("size=32m");
    let cinema = Cinema::open(store::testing::sqlite_in(disk.path()).await).await;
    cinema.load_demo().await;
    cinema.clear(SHOW).await;
    let ballast = disk.fill();
    let (booked, error) = book_until_refused(&cinema).await;
    assert_eq!(error.code, "STORAGE_ERROR");
    assert!(error.message.contains("full"), "{error}");
    for tool in ["hold_seats", "reserve_seats"] {
        let arguments = json!({"schedule_id": SHOW, "seat_ids": ["J1", "J2"]});
        assert_eq!(cinema.code(tool, arguments).await, "STORAGE_ERROR");
    }
    // What was acknowledged is there, and nothing else.
    let sold = |seats: &Value| seats["sold_seats_count"].as_u64();
    assert_eq!(sold(&cinema.seats(SHOW).await), Some(booked as u64));
    let real = cinema.count("cinema_reservations WHERE is_demo = 0").await;
    assert_eq!(usize::try_from(real).unwrap(), booked);

    fs::remove_file(ballast).unwrap();
    cinema.reserve(SHOW, ["J1", "J2"]).await.unwrap();
    assert_eq!(sold(&cinema.seats(SHOW).await), Some(booked as u64 + 2));
}

#[tokio::test]
async fn a_read_only_disk_is_named_as_the_reason() {
    let disk = SmallDisk::mount("size=32m");
    let scratch = store::testing::sqlite_in(disk.path()).await;
    let url = scratch.url.clone();
    let cinema = Cinema::open(scratch).await;
    cinema.load_demo().await;
    cinema.scratch.database.close().await.unwrap();
    drop(cinema);
    disk.remount("ro");
    let error = match Database::open(&url, Options::default()).await {
        Err(error) => error,
        Ok(_) => panic!("it was opened for writing"),
    };
    assert_eq!(error.code, "STORAGE_ERROR", "{error}");
    assert!(error.next.is_some(), "{error}");
}
