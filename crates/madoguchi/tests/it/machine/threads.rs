//! No threads left.

use std::fs;

use super::{
    Limit, user_of,
    work::{Line, Work},
};
use crate::harness::Desk;

/// How many threads a user has, on all of this machine.
fn threads_of(user: u32) -> u64 {
    let is_of_user = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        line.and_then(|ids| ids.split_whitespace().next()) == Some(&user.to_string())
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let own = processes.filter(|process| {
        let status = fs::read_to_string(process.path().join("status"));
        status.is_ok_and(|status| is_of_user(&status))
    });
    let threads = own.filter_map(|process| fs::read_dir(process.path().join("task")).ok());
    threads.map(|threads| threads.count() as u64).sum()
}

/// The limit does not hold for root, so the desk runs as somebody else.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn calls_without_a_thread_are_done_or_refused_and_the_desk_lives_on() {
    let desk = Desk::setup().by_somebody().start().await;
    let mut work = Work::prepare(&desk).await;
    let user = user_of(desk.pid());
    let mut line = Line::Http(desk.port);
    for more in [0, 1, 2] {
        let limit = Limit::set(desk.pid(), "nproc", threads_of(user) + more);
        for _ in 0..3 {
            work.round(&mut line, "").await;
        }
        drop(limit);
        work.goes_on(&mut line).await;
    }
    work.check(&desk).await;
    assert_eq!(desk.get("/readyz").await.status, 200);
    assert!(!desk.log().contains("panicked"), "{}", desk.log());
}

/// The first call needs threads that a desk does not start without one.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_that_got_no_thread_for_its_first_calls_goes_on_later() {
    let mut desk = Desk::setup().by_somebody().start().await;
    let mut work = Work::prepare(&desk).await;
    desk.signal("TERM");
    desk.ended().await;
    let desk = Desk::setup().place(&desk.place).by_somebody().start().await;
    let user = user_of(desk.pid());
    let mut line = Line::Http(desk.port);
    let limit = Limit::set(desk.pid(), "nproc", threads_of(user));
    work.round(&mut line, "").await;
    drop(limit);
    work.goes_on(&mut line).await;
    work.check(&desk).await;
    // The limit was met.
    let log = desk.log();
    assert!(log.contains("could not be started"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}
