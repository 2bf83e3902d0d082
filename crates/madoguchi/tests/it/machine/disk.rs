//! No space left, on real file systems: for everything at once, for the audit trail alone,
//! for tasks alone, for the search index alone.

use std::{
    fs,
    time::{Duration, Instant},
};

use kit::testing::SmallDisk;
use serde_json::{Value, json};

use super::work::{Line, Work};
use crate::{
    audit::Trail,
    harness::{Desk, Place, mentions, refused, structured},
};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn on_a_full_disk_nothing_is_half_done_and_work_goes_on_when_there_is_space() {
    let place = Place::new();
    let disk = SmallDisk::mount_at(&place.data(), "size=64m");
    let tasks = SmallDisk::mount_at(&place.path().join(".todo"), "size=1m");
    let desk = Desk::setup().place(&place).start().await;
    let mut work = Work::prepare(&desk).await;
    let mut line = Line::Http(desk.port);
    work.goes_on(&mut line).await;
    for _ in 0..2 {
        let ballast = [disk.fill(), tasks.fill()];
        let padding = "x".repeat(9_000);
        for _ in 0..5 {
            work.round(&mut line, &padding).await;
        }
        mentions(&desk.answers_readyz(503).await, &["disk", "full"]);
        for file in ballast {
            fs::remove_file(file).unwrap();
        }
        desk.answers_readyz(200).await;
        work.goes_on(&mut line).await;
    }
    let refusals = work.refusals();
    for code in ["STORAGE_ERROR", "FILE_WRITE_ERROR"] {
        assert!(refusals.contains(&code), "{refusals:?}");
    }
    work.check(&desk).await;
    assert!(!desk.log().contains("panicked"), "{}", desk.log());
}

async fn cart(desk: &Desk) -> Value {
    let plan = json!({ "items": [{ "product_id": 1, "quantity": 1 }] });
    let arguments = json!({ "cart_plan": plan, "products": [], "reserve": false });
    desk.call("merchant", "build_cart_mandates", arguments)
        .await
}

/// Only the trail is full: where a record is required nothing is changed, and elsewhere the
/// records are written later.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn calls_without_space_for_their_record_are_refused_or_recorded_later() {
    for required in [true, false] {
        let place = Place::new();
        let disk = SmallDisk::mount_at(&place.data().join("audit"), "size=256k");
        let config = format!("[audit]\nrequired = {required}\n");
        let setup = Desk::setup().place(&place).config(&config);
        let desk = setup.start().await;
        structured(&cart(&desk).await);
        let ballast = disk.fill();
        // What is in the last block of the file has space yet.
        let began = Instant::now();
        let mut done = 1;
        while !desk.log().contains("the audit trail can't be written") {
            done += usize::from(cart(&desk).await["isError"] != true);
            assert!(began.elapsed() < Duration::from_secs(20), "{}", desk.log());
        }
        let answer = cart(&desk).await;
        match required {
            true => drop(refused(&answer, "AUDIT_UNAVAILABLE").clone()),
            false => {
                structured(&answer);
                done += 1;
            }
        }
        fs::remove_file(ballast).unwrap();
        desk.logs("that it goes on", |entry| {
            entry["message"] == "the audit trail can be written again"
        })
        .await;
        structured(&cart(&desk).await);
        let trail = Trail::of(&place);
        trail.verified();
        let is_done =
            |one: &&Value| one["tool"] == "build_cart_mandates" && one["outcome"] == "done";
        let recorded = trail.calls().iter().filter(is_done).count();
        assert_eq!(recorded, done + 1, "required: {required}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn tasks_on_a_disk_that_became_read_only_can_be_read_and_not_changed() {
    let place = Place::new();
    let disk = SmallDisk::mount_at(&place.path().join(".todo"), "size=1m");
    let desk = Desk::setup().place(&place).start().await;
    desk.ok("todo", "create_task", json!({ "title": "one" }))
        .await;
    let before = fs::read_to_string(disk.path().join("task.md")).unwrap();
    disk.remount("ro");
    let answer = desk
        .call("todo", "create_task", json!({ "title": "two" }))
        .await;
    refused(&answer, "PERMISSION_DENIED");
    let list = desk.ok("todo", "list_tasks", json!({})).await;
    assert_eq!(list["tasks"][0]["title"], "one", "{list}");
    disk.remount("rw");
    assert_eq!(
        fs::read_to_string(disk.path().join("task.md")).unwrap(),
        before
    );
    desk.ok("todo", "create_task", json!({ "title": "two" }))
        .await;
}

/// Products are found without it, and it is built when there is space.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_search_index_without_space_is_built_later() {
    let place = Place::new();
    let disk = SmallDisk::mount_at(&place.data().join("search"), "size=16k");
    let desk = Desk::setup().place(&place).start().await;
    let find = async || {
        let search = json!({ "keywords": ["カレンダー"], "limit": 5 });
        desk.ok("merchant", "search_products", search).await
    };
    for _ in 0..3 {
        let found = find().await;
        assert_eq!(found["fallback"], true, "{found}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    // Everything else works.
    structured(&cart(&desk).await);
    disk.remount("size=32m");
    let began = Instant::now();
    while find().await["fallback"] == true {
        assert!(began.elapsed() < Duration::from_secs(90), "{}", desk.log());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
