//! Many people want the same seats at once.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use kit::{Caller, testing::details};
use serde_json::{Value, json};

use crate::cinema::both;

/// What a database answers that has too much to do.
const BUSY: [&str; 2] = ["STORAGE_ERROR", "UNAVAILABLE"];

const SHOW: &str = "S20261116-T1-4";

fn reservation_id(answer: &Value) -> String {
    let id = answer["reservation"]["reservation_id"].as_str();
    id.unwrap().to_owned()
}

/// Overlapping pairs in both orders: each seat gets one owner, each booking gets all
/// its seats or none, and there is no deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_seat_never_has_two_owners() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        cinema.hold(SHOW, "D", 3, "2026-11-15T09:00:00+09:00").await;
        let cinema = Arc::new(cinema);
        let calls = (0..200).map(|index| {
            let cinema = Arc::clone(&cinema);
            tokio::spawn(async move {
                let first = 1 + index % 7;
                let mut seats = vec![format!("D{first}"), format!("D{}", first + 1)];
                if index % 2 == 0 {
                    seats.reverse();
                }
                cinema.reserve(SHOW, seats).await
            })
        });
        let mut owners: HashMap<String, String> = HashMap::new();
        let mut won = 0;
        for outcome in join_all(calls).await {
            match outcome.unwrap() {
                Ok(answer) => {
                    won += 1;
                    for seat in answer["reservation"]["seat_ids"].as_array().unwrap() {
                        let seat = seat.as_str().unwrap().to_owned();
                        assert_eq!(owners.insert(seat, reservation_id(&answer)), None);
                    }
                }
                Err(error) => {
                    assert_eq!(error.code, "SEATS_TAKEN", "{error} {:?}", error.cause);
                    assert!(!details(&error)["taken"].as_array().unwrap().is_empty());
                }
            }
        }
        assert!((2..=4).contains(&won), "{won} of the overlapping pairs");
        let rows = cinema
            .sql(
                "SELECT seat_row, seat_number, reservation_id FROM cinema_taken_seats \
                 WHERE show_id = 'S20261116-T1-4' AND reservation_id NOT LIKE 'hold%'",
            )
            .await;
        let stored: HashMap<String, String> = rows
            .iter()
            .map(|row| {
                let seat = format!("{}{}", row.text(0).unwrap(), row.int(1).unwrap());
                (seat, row.text(2).unwrap())
            })
            .collect();
        assert_eq!(stored, owners, "{}", cinema.store().engine());
        let real = "cinema_reservations WHERE is_demo = 0 AND status = 'confirmed'";
        assert_eq!(cinema.count(real).await, won);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn ten_thousand_callers_after_one_seat() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let cinema = Arc::new(cinema);
        let callers = (0..10_000).map(|number| {
            let cinema = Arc::clone(&cinema);
            tokio::spawn(async move {
                let caller = Caller::with_key(&format!("{number}"), "somebody");
                let one = cinema.for_caller(caller);
                // Some want to hold it, the others to book it.
                let tool = ["reserve_seats", "hold_seats"][number % 2];
                let arguments = json!({"schedule_id": SHOW, "seat_ids": ["D5"]});
                // So many at once keep a small database busy. Then the answer says that
                // nothing was changed, and to try again. Who waits longer each time leaves
                // the database to the others.
                let mut wait = Duration::from_millis(100);
                loop {
                    match one.call(tool, arguments.clone()).await {
                        Err(error) if BUSY.contains(&error.code.as_ref()) => {}
                        outcome => return outcome,
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(Duration::from_secs(5));
                }
            })
        });
        let outcomes = join_all(callers).await;
        let (mut won, mut lost) = (0, 0);
        for outcome in outcomes {
            match outcome.unwrap() {
                Ok(_) => won += 1,
                Err(error) => {
                    assert_eq!(error.code, "SEATS_TAKEN", "{error} {:?}", error.cause);
                    lost += 1;
                }
            }
        }
        assert_eq!((won, lost), (1, 9_999), "{}", cinema.store().engine());
        let owners = format!("cinema_taken_seats WHERE show_id = '{SHOW}'");
        assert_eq!(cinema.count(&owners).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn bookings_of_different_seats_all_succeed_with_an_id_each() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let seats = ('B'..='I').flat_map(|row| (1..=15).map(move |n| format!("{row}{n}")));
        let calls = seats.map(|seat| cinema.reserve(SHOW, [seat]));
        let answers = join_all(calls).await;
        let ids = answers
            .iter()
            .map(|it| reservation_id(it.as_ref().unwrap()));
        assert_eq!(ids.collect::<HashSet<_>>().len(), 8 * 15);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_caller_gets_at_most_max_seats_per_caller() {
    for mut cinema in both().await {
        cinema.clear(SHOW).await;
        let settings = cinema::Settings {
            max_seats_per_caller: 6,
            ..cinema::Settings::default()
        };
        cinema.counter = cinema::counter(settings, Arc::clone(cinema.store()));
        let pairs = (1..=15).map(|number| [format!("B{number}"), format!("C{number}")]);
        let outcomes = join_all(pairs.map(|seats| cinema.reserve(SHOW, seats))).await;
        let refused: Vec<_> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
        assert_eq!(refused.len(), 12, "{}", cinema.store().engine());
        let six = json!({"reserved": 6, "requested": 2, "most": 6});
        for error in refused {
            let cause = &error.cause;
            assert_eq!(error.code, "SEAT_LIMIT_REACHED", "{error} {cause:?}");
            assert_eq!(details(error), six);
        }
        // Another screening, and another caller, are not affected.
        cinema.reserve("S20261116-T4-4", ["H9"]).await.unwrap();
        cinema.context.caller = Caller::new("key_2", "another");
        cinema.reserve(SHOW, ["D1"]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_caller_holds_at_most_max_held_seats_per_caller() {
    for mut cinema in both().await {
        cinema.clear(SHOW).await;
        let settings = cinema::Settings {
            max_held_seats_per_caller: 5,
            max_seats_per_caller: 50,
            ..cinema::Settings::default()
        };
        cinema.counter = cinema::counter(settings, Arc::clone(cinema.store()));
        // Keeps the screening locked, so that the calls meet before the first is done.
        let (locked, is_locked) = tokio::sync::oneshot::channel();
        let (store, mut locked) = (Arc::clone(cinema.store()), Some(locked));
        let blocker = tokio::spawn(async move {
            let block = move |sql: &mut dyn kit::Sql| {
                sql.execute("UPDATE cinema_shows SET id = id", &[])?;
                locked.take().unwrap().send(()).unwrap();
                std::thread::sleep(Duration::from_millis(500));
                Ok(())
            };
            store.transaction(kit::sql::Budget::default(), block).await
        });
        is_locked.await.unwrap();
        let calls = (1..=8).map(|number| {
            let seats = [format!("B{number}"), format!("C{number}")];
            cinema.call(
                "hold_seats",
                json!({"schedule_id": SHOW, "seat_ids": seats}),
            )
        });
        let outcomes = join_all(calls).await;
        blocker.await.unwrap().unwrap();
        let refused: Vec<_> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
        assert_eq!(refused.len(), 6, "{}", cinema.store().engine());
        for error in refused {
            let cause = &error.cause;
            assert_eq!(error.code, "HOLD_LIMIT_REACHED", "{error} {cause:?}");
        }
        assert_eq!(cinema.count("cinema_caller_locks").await, 0);
    }
}
