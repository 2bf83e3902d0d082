//! What is kept, for how long, and what happens when it can't be.

use std::{fs, sync::Arc, time::Duration};

use desk::{
    audit,
    state::{DeskState, OpenState, Secret},
};
use serde_json::json;

use super::{
    Trail, files,
    trail::{count, eventually, on_both, store_of},
};
use crate::harness::{Desk, Place, mentions, refused};

const WISH: &str = "please keep this between us";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn erased_arguments_are_gone_and_verify_succeeds() {
    for (mut desk, trail) in on_both("").await {
        let rooms = |tool: &str| format!("agent_communication_{tool}");
        let room = json!({ "roomName": "dev" });
        desk.ok("rooms", &rooms("create_room"), room).await;
        let enter = json!({ "agentName": "aiko", "roomName": "dev" });
        desk.ok("rooms", &rooms("enter_room"), enter).await;
        let message = json!({ "agentName": "aiko", "roomName": "dev", "message": WISH, "metadata": { "password": "hunter2" } });
        desk.ok("rooms", &rooms("send_message"), message).await;
        let records = trail.records();
        let sent = records
            .iter()
            .find(|it| it["personal"]["message"] == WISH)
            .unwrap_or_else(|| panic!("{records:#?}"));
        let call = sent["call"].as_str().unwrap();
        assert!(!sent.to_string().contains("hunter2"), "{sent}");
        assert!(sent.to_string().contains("[secret]"), "{sent}");
        assert_eq!(sent["arguments"]["roomName"], "dev");
        // What people wrote is not exported unless it is asked for.
        let exported = trail.run(&["export"]).ok().stdout;
        assert!(!exported.contains(WISH) && exported.contains("dev"));
        assert!(
            trail
                .run(&["export", "--personal"])
                .ok()
                .stdout
                .contains(WISH)
        );

        // Beside the running desk, which goes on.
        let erased = trail.run(&["erase", "--call", call, "--json"]).ok();
        assert_eq!(erased.json()["erased"], 1);
        let again = trail.run(&["erase", "--call", call]).ok();
        assert!(again.stdout.contains("of 0 records"), "{again:?}");
        desk.ok("rooms", &rooms("list_rooms"), json!({})).await;
        desk.ok("fixture", "fixture_write", json!({})).await;
        let report = trail.verified();
        assert_eq!(report["erased"], 1, "{report}");
        assert_eq!(report["live"], 1, "{report}");
        let records = trail.records();
        assert!(!format!("{records:?}").contains(WISH));
        let stays = records.iter().find(|it| it["call"] == call).unwrap();
        assert_eq!(
            (&stays["erased"], &stays["outcome"]),
            (&json!(true), &sent["outcome"])
        );
        let said = records.iter().find(|it| it["kind"] == "erased").unwrap();
        assert!(said["what"].as_str().unwrap().contains(call), "{said}");
        assert_eq!(
            trail.run(&["erase"]).code,
            Some(2),
            "everything is not erased by leaving something out"
        );
        let all = trail.run(&["erase", "--caller", "anonymous", "--since", "1h", "--json"]);
        assert_eq!(all.ok().json()["erased"], 4);
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        trail.verified();
        if trail.url.is_none() {
            for file in files(&trail.directory()) {
                let text = fs::read_to_string(&file).unwrap();
                let shows = text.contains(WISH) || text.contains("roomName");
                assert!(!shows, "{} still has it", file.display());
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nothing_is_kept_of_arguments_where_the_operator_wants_none() {
    for (desk, trail) in on_both("[audit]\narguments = \"none\"\n").await {
        desk.ok("fixture", "fixture_sum", json!({ "a": 41, "b": 2 }))
            .await;
        desk.ok("fixture", "fixture_write", json!({})).await;
        let records = trail.records();
        assert_eq!(records.len(), 2, "{records:#?}");
        for record in records {
            assert_eq!(record.get("arguments"), None);
            assert_eq!(record.get("arguments_digest"), None);
        }
        trail.verified();
    }
}

/// As a full disk would: the directory can't be made.
async fn desk_without_room(config: &str) -> Desk {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    fs::write(place.data().join("audit"), "in the way").unwrap();
    Desk::setup().place(&place).config(config).start().await
}

#[tokio::test]
async fn calls_are_answered_and_logged_when_records_can_not_be_written() {
    let desk = desk_without_room("").await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    desk.ok("fixture", "fixture_sum", json!({ "a": 1, "b": 2 }))
        .await;
    let ready = desk.get("/readyz").await;
    assert_eq!(ready.status, 200);
    mentions(&ready.text(), &["audit: records can't be written"]);
    desk.logs("that the trail can't be written", |entry| {
        entry["message"] == "the audit trail can't be written"
    })
    .await;
    // When there is room again, what waited is written.
    fs::remove_file(desk.place.data().join("audit")).unwrap();
    let trail = Trail::of(&desk.place);
    eventually(&trail, "what waited", |records| records.len() == 2).await;
    trail.verified();
    while desk.get("/readyz").await.text().contains("audit") {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn changes_are_refused_when_required_records_can_not_be_written() {
    let desk = desk_without_room("[audit]\nrequired = true\n").await;
    let write = desk.call("fixture", "fixture_write", json!({})).await;
    refused(&write, "AUDIT_UNAVAILABLE");
    desk.ok("fixture", "fixture_sum", json!({ "a": 1, "b": 2 }))
        .await;
    let ready = desk.get("/readyz").await;
    assert_eq!(ready.status, 503);
    fs::remove_file(desk.place.data().join("audit")).unwrap();
    desk.ok("fixture", "fixture_write", json!({})).await;
    assert_eq!(desk.get("/readyz").await.status, 200);
    let trail = Trail::of(&desk.place);
    let records = trail.records();
    assert_eq!(count(&records, "fixture_write", "AUDIT_UNAVAILABLE"), 1);
    assert_eq!(count(&records, "fixture_write", "done"), 1);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn old_segments_are_dropped_by_rule_on_both_engines() {
    for (mut desk, trail) in on_both("").await {
        desk.ok("fixture", "fixture_write", json!({})).await;
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        assert_eq!(trail.calls().len(), 1);
        let place = match &trail.url {
            None => audit::AuditLocation::Directory(trail.directory()),
            Some(url) => {
                let url = url.clone();
                audit::AuditLocation::Table(Arc::new(DeskState::new(move || {
                    let url = url.clone();
                    Box::pin(async move {
                        let (store, secret) = (store_of(&url).await, Secret::random());
                        Ok(OpenState::new(store, secret))
                    })
                })))
            }
        };
        let store = place.open().unwrap();
        let in_100_days = jiff::Timestamp::now().as_millisecond() + 100 * 24 * 60 * 60 * 1000;
        let dropped = audit::blocking(&store, move |store, _| {
            audit::drop_old(store, 90, in_100_days)
        });
        let dropped = dropped.await;
        assert_eq!(dropped.unwrap(), 1);
        assert_eq!(trail.calls().len(), 0);
        let report = trail.verified();
        assert_eq!(
            (&report["dropped"], &report["segments"]),
            (&json!(1), &json!(0))
        );
    }
}
