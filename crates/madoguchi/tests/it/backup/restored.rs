//! What a restored installation does, and does not do, by itself.

use std::time::Duration;

use serde_json::json;

use super::{CONFIG, back_up, restore, text};
use crate::{
    audit::trail::store_of,
    harness::{Desk, Place, mentions},
};

async fn firings(place: &Place) -> i64 {
    let url = format!("sqlite:///{}", place.data().join("madoguchi.db").display());
    let store = store_of(&url).await;
    let count = store.query(Default::default(), |sql| {
        let row = sql.query_one("SELECT COUNT(*) FROM innervoice_firings", &[])?;
        row.unwrap().int(0)
    });
    count.await.unwrap()
}

#[tokio::test]
async fn reminders_are_held_until_a_person_releases_them() {
    let desk = Desk::setup().config(CONFIG).start().await;
    let place = desk.place.clone();
    let key = place.create_key(&["phone"]);
    let due = jiff::Timestamp::now() + Duration::from_secs(10);
    let reminder = json!({ "time": due.to_string(), "note": "take the tea out" });
    let made = desk
        .call_as(&key, "innervoice", "reminder_create", reminder)
        .await;
    assert_eq!(
        made.message()["result"]["isError"],
        false,
        "{}",
        made.text()
    );
    // Before the reminder is due.
    drop(desk);
    back_up(&place);
    let (other, restored) = restore(&place);
    assert_eq!(restored["held"], true);
    let doctor = other.run_line("doctor");
    mentions(&doctor.stdout, &["FAIL held", "restore --release"]);
    let desk = Desk::setup().place(&other).config(CONFIG).start().await;
    mentions(&desk.log(), &["are held since"]);
    let long_due = due + Duration::from_secs(3);
    let wait = long_due.duration_since(jiff::Timestamp::now());
    tokio::time::sleep(wait.try_into().unwrap_or_default()).await;
    assert_eq!(firings(&other).await, 0);
    let released = other.run_line("restore --release").ok();
    mentions(&released.stdout, &["Released"]);
    for _ in 0..100 {
        if firings(&other).await == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(firings(&other).await, 1);
    let again = other.run_line("restore --release --json").ok();
    assert_eq!(again.json(), json!({ "released": false }));
    drop(desk);
    let doctor = other.run_line("doctor");
    assert!(!doctor.stdout.contains("held"), "{}", doctor.stdout);
}

/// What a person approved before the backup may have been done since.
#[tokio::test]
async fn approvals_lapse_also_when_they_were_given() {
    let config = "[approval]\nhold_seconds = 0\ntools = { \"cinema.reserve_seats\" = \"ask\" }\n";
    let desk = Desk::setup().config(config).start().await;
    let place = desk.place.clone();
    let show = crate::harness::show_to_book(&desk, "M001", 0).await;
    let booking = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A1"] });
    desk.call("cinema", "reserve_seats", booking.clone()).await;
    let waiting = place.run_line("approvals list --json").ok().json();
    let id = waiting[0]["id"].as_str().unwrap();
    place.run(&["approvals", "approve", id]).ok();
    back_up(&place);
    drop(desk);
    let (other, restored) = restore(&place);
    assert_eq!(restored["lapsed_approvals"], 1);
    let desk = Desk::setup().place(&other).config(config).start().await;
    let again = desk.call("cinema", "reserve_seats", booking).await;
    assert_eq!(again["isError"], true, "the old approval was used: {again}");
}

#[tokio::test]
async fn a_restore_needs_an_empty_directory() {
    let place = Place::new();
    place.create_key(&["phone"]);
    back_up(&place);
    let file = place.path().join("backup.tar");
    let refuse = |other: &Place, what: &str| {
        let said = other.run(&["restore", text(&file)]).failed();
        mentions(&said, &["TARGET_NOT_EMPTY", what]);
    };
    refuse(&place, "audit");
    for (directory, name) in [
        ("data", "madoguchi.db"),
        ("data", "madoguchi.db-wal"),
        ("data", "desk.secret"),
        ("data/audit", "x.jsonl"),
        ("data/rooms", "rooms.json"),
        ("data/assets", "picture.png"),
    ] {
        let other = Place::new();
        std::fs::create_dir_all(other.path().join(directory)).unwrap();
        other.file(&format!("{directory}/{name}"), "mine");
        refuse(&other, directory.trim_start_matches("data/"));
        let kept = std::fs::read_to_string(other.path().join(directory).join(name));
        assert_eq!(kept.unwrap(), "mine");
        assert_eq!(crate::audit::files(other.path()).len(), 1);
    }
    let postgres = [("MADOGUCHI_DATABASE__URL", "postgres://me@127.0.0.1/x")];
    let other = Place::new();
    other
        .run_with(&["restore", text(&file)], &postgres)
        .fails_with("DATA_ON_POSTGRES");
    let refused = other.run_with(&["backup", "b.tar"], &postgres);
    mentions(&refused.failed(), &["DATA_ON_POSTGRES", "pg_dump"]);
}
