//! Hundreds of customers after the same few seats, at one desk and at two desks
//! on one database: each seat has one owner, each booking all its seats or none.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Desk, Socket, free_seats, plain, refused, result, seats_of, structured};

const CUSTOMERS: usize = 300;

/// Callers without a key have half of the connections: room for all customers.
const ROOM: &str = "[http]\nmax_connections = 1000\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_desk_on_sqlite() {
    race(&[Desk::with_config(ROOM).await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_desks_on_sqlite() {
    let one = Desk::start().await;
    let two = Desk::setup().place(&one.place).start().await;
    race(&[one, two]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_desk_on_postgres() {
    let postgres = Postgres::start();
    let url = postgres.create_database();
    let desk = Desk::setup().config(ROOM).database(&url).demo();
    race(&[desk.start().await]).await;
}

/// Desks on different machines, as far as the data is concerned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_desks_on_postgres() {
    let postgres = Postgres::start();
    let url = postgres.create_database();
    let one = Desk::setup().database(&url).demo().start().await;
    let two = Desk::setup().database(&url).start().await;
    race(&[one, two]).await;
}

async fn race(desks: &[Desk]) {
    let show = emptiest_show(&desks[0]).await;
    let before = free_seats(&seats_of(&desks[0], &show).await);
    let wanted = groups_in_one_row(&before);

    // Everybody takes a place in the queue, at any desk, by HTTP or WebSocket.
    let customers = (0..CUSTOMERS).map(|customer| {
        let desk = &desks[customer % desks.len()];
        let mut seats = wanted[customer % wanted.len()].clone();
        if customer % 2 == 0 {
            seats.reverse();
        }
        let arguments = json!({ "schedule_id": show, "seat_ids": seats });
        async move {
            let answer = if customer % 3 == 0 {
                over_websocket(desk, arguments).await
            } else {
                desk.call("cinema", "reserve_seats", arguments).await
            };
            (seats, answer)
        }
    });
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut bookings: Vec<Value> = Vec::new();
    for (seats, answer) in join_all(customers).await {
        if answer["isError"] == true {
            let details = &refused(&answer, "SEATS_TAKEN")["details"];
            let taken = details["taken"].as_array().unwrap();
            assert!(!taken.is_empty(), "{answer}");
            assert!(taken.iter().all(|seat| seats.iter().any(|s| seat == s)));
            continue;
        }
        let reservation = structured(&answer)["reservation"].clone();
        assert_eq!(reservation["seat_ids"], json!(seats));
        for seat in seats {
            let id = reservation["reservation_id"].as_str().unwrap().to_owned();
            let other = owners.insert(seat, id);
            assert_eq!(other, None, "two owners: {reservation}");
        }
        bookings.push(reservation);
    }
    assert!(!bookings.is_empty() && bookings.len() < CUSTOMERS);

    // Read back, at every desk: what was answered is what is kept, and no more.
    for desk in desks {
        let after = free_seats(&seats_of(desk, &show).await);
        let gone: Vec<_> = before.difference(&after).collect();
        assert_eq!(gone, owners.keys().collect::<Vec<_>>());
        assert!(after.is_subset(&before));
        for booking in &bookings {
            let arguments = json!({ "reservation_id": booking["reservation_id"] });
            let found = desk
                .call("cinema", "get_reservation_details", arguments)
                .await;
            assert_eq!(&structured(&found)["reservation"], booking);
        }
    }
}

async fn over_websocket(desk: &Desk, arguments: Value) -> Value {
    let mut socket = Socket::open(desk, "cinema").await;
    let params = json!({ "name": "reserve_seats", "arguments": arguments });
    let answer = socket.request(&plain(1, "tools/call", params)).await;
    result(&answer).clone()
}

async fn emptiest_show(desk: &Desk) -> String {
    let arguments = json!({ "movie_id": "M001", "date": crate::harness::day_after_tomorrow() });
    let answer = desk.call("cinema", "get_show_schedule", arguments).await;
    let schedules = structured(&answer)["schedules"].as_array().unwrap().clone();
    let most = schedules
        .iter()
        .max_by_key(|show| show["available_seats_count"].as_u64());
    most.unwrap()["schedule_id"].as_str().unwrap().to_owned()
}

/// Overlapping groups of two and three seats, all in the row with most free seats.
fn groups_in_one_row(free: &std::collections::BTreeSet<String>) -> Vec<Vec<String>> {
    let mut rows: BTreeMap<char, Vec<String>> = BTreeMap::new();
    for seat in free {
        let row = seat.chars().next().unwrap();
        rows.entry(row).or_default().push(seat.clone());
    }
    let row = rows.into_values().max_by_key(Vec::len).unwrap();
    assert!(row.len() >= 6, "{row:?}");
    row.windows(2)
        .chain(row.windows(3))
        .map(<[String]>::to_vec)
        .collect()
}
