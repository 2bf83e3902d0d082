//! No memory left.

use std::fs;

use futures::future::join_all;
use serde_json::json;

use super::{
    Limit,
    work::{Line, Work},
};
use crate::harness::{Desk, call, post};

/// How much memory it may write to.
fn bytes(desk: &Desk) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", desk.pid())).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let size = size.unwrap().trim().trim_end_matches(" kB");
    size.parse::<u64>().unwrap() * 1024
}

/// A program without memory ends at once. What it acknowledged is there when it starts
/// again, and what it refused is not.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_without_memory_loses_nothing_it_has_acknowledged() {
    let mut desk = Desk::start().await;
    let mut work = Work::prepare(&desk).await;
    let (mut ended, padding) = (0, "x".repeat(9_000));
    for more in [0, 1, 4, 16] {
        let mut line = Line::Http(desk.port);
        let limit = Limit::set(desk.pid(), "data", bytes(&desk) + (more << 20));
        let mut lives = true;
        for _ in 0..5 {
            lives = lives && work.round(&mut line, &padding).await;
        }
        // Each takes far more memory than it is long, and together more than the
        // allocator may have kept from earlier calls.
        let numbers = json!({ "roomName": "r", "metadata": { "n": vec![0; 400_000] } });
        let large = call(1, "send_message", numbers);
        let posts = (0..8).map(|_| post(desk.port, "rooms", None, &large));
        let answers = join_all(posts).await;
        lives = lives && answers.iter().all(Result::is_ok);
        drop(limit);
        if !lives {
            ended += 1;
            desk.ended().await;
            let log = desk.log();
            assert!(log.contains("memory allocation"), "{log}");
            desk = Desk::setup().place(&desk.place).start().await;
        }
        work.goes_on(&mut Line::Http(desk.port)).await;
        work.check(&desk).await;
    }
    assert!(
        ended > 0,
        "memory never ran out; refused: {:?}",
        work.refusals()
    );
}
