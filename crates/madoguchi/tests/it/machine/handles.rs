//! No file handles left.

use std::{collections::BTreeSet, fs, time::Duration};

use super::{
    Limit,
    work::{Line, Work},
};
use crate::harness::{Desk, request};

/// The number that the next file gets. A limit of as many allows no more.
fn next_handle(desk: &Desk) -> u64 {
    let open = fs::read_dir(format!("/proc/{}/fd", desk.pid())).unwrap();
    let numbers = open.map(|file| file.unwrap().file_name().into_string().unwrap());
    let open: BTreeSet<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    (0..).find(|number| !open.contains(number)).unwrap()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn calls_without_a_file_handle_are_refused_and_nothing_is_half_done() {
    let mut desk = Desk::start().await;
    let mut work = Work::prepare(&desk).await;
    desk.signal("TERM");
    desk.ended().await;
    // One that has not opened anything yet that it does not need to start.
    let desk = Desk::setup().place(&desk.place).start().await;
    let mut line = Line::sockets(&desk).await;
    for more in [0, 1, 2, 3, 4, 6, 8, 0] {
        let limit = Limit::set(desk.pid(), "nofile", next_handle(&desk) + more);
        for _ in 0..2 {
            work.round(&mut line, "").await;
        }
        drop(limit);
        work.goes_on(&mut line).await;
    }
    assert!(!work.refusals().is_empty(), "there were handles left");
    work.check(&desk).await;
    assert_eq!(desk.get("/readyz").await.status, 200);
    assert!(!desk.log().contains("panicked"), "{}", desk.log());
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn new_connections_wait_for_a_file_handle() {
    let desk = Desk::start().await;
    // Whatever it closes, it can't open another.
    let limit = Limit::set(desk.pid(), "nofile", 0);
    let port = desk.port;
    let asked = tokio::spawn(async move { request(port, "GET", "/livez", &[], "").await });
    let refused = desk.logs("that it has no handle", |entry| {
        entry["message"] == "connections can't be accepted"
    });
    refused.await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!asked.is_finished());
    drop(limit);
    assert_eq!(asked.await.unwrap().status, 200);
    // Once, however long it takes.
    let said = desk.log().matches("connections can't be accepted").count();
    assert_eq!(said, 1, "{}", desk.log());
}
