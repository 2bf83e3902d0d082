//! A trail that grows for months: it is compressed, bounded and summarised, and nobody is
//! surprised by a full disk.

use std::{fs, process::Command, time::Duration};

use kit::testing::SmallDisk;
use serde_json::{Value, json};

use super::{
    Trail, files,
    trail::{count, eventually, on_both},
};
use crate::harness::{Desk, Place, mentions};

async fn stop(desk: &mut Desk) {
    desk.signal("TERM");
    assert!(desk.ended().await.success());
}

async fn write(desk: &Desk, times: usize) {
    for _ in 0..times {
        desk.ok("fixture", "fixture_write", json!({})).await;
    }
}

fn endings(trail: &Trail) -> Vec<String> {
    let names = files(&trail.directory()).into_iter();
    let names = names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let mut endings: Vec<String> = names
        .filter(|name| !name.starts_with('.') && !name.starts_with("checkpoints"))
        .map(|name| name.split_once('.').unwrap().1.to_owned())
        .collect();
    endings.sort();
    endings
}

#[tokio::test]
async fn sealed_segments_are_compressed_and_read_as_before() {
    let place = Place::new();
    let mut desk = Desk::setup().place(&place).start().await;
    for a in 0..60 {
        let sum = json!({ "a": a, "b": 2 });
        desk.ok("fixture", "fixture_sum", sum).await;
    }
    stop(&mut desk).await;
    let trail = Trail::of(&place);
    let before = trail.records();
    assert_eq!(before.len(), 60);
    assert_eq!(endings(&trail), ["jsonl", "jsonl"]);
    let _next = Desk::setup().place(&place).start().await;
    for _ in 0..100 {
        if endings(&trail) == ["jsonl.gz", "jsonl.gz"] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(endings(&trail), ["jsonl.gz", "jsonl.gz"]);
    assert_eq!(trail.records(), before);
    assert_eq!(trail.verified()["records"], 62);
    let call = before[7]["call"].as_str().unwrap();
    trail.run(&["erase", "--call", call]).ok();
    assert_eq!(trail.verified()["erased"], 1);
    // Any program can read it.
    let path = files(&trail.directory()).into_iter();
    let path = path.filter(|path| path.parent() == Some(&*trail.directory()));
    let path = path.into_iter().find(|it| it.extension().unwrap() == "gz");
    let read = Command::new("zcat").arg(path.unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(read.stdout).unwrap().lines().count(), 62);
}

#[tokio::test]
async fn a_trail_that_is_too_large_loses_its_oldest_segments() {
    const LIMIT: u64 = 20_000;
    let place = Place::new();
    let config = format!("[audit]\nmax_bytes = {LIMIT}\n");
    let mut desk = Desk::setup().place(&place).config(&config).start().await;
    for a in 0..200 {
        let sum = json!({ "a": a, "b": 2 });
        desk.ok("fixture", "fixture_sum", sum).await;
    }
    write(&desk, 1).await;
    stop(&mut desk).await;
    let trail = Trail::of(&place);
    let size = || -> u64 {
        let files = files(&trail.directory()).into_iter();
        files.map(|path| fs::metadata(path).unwrap().len()).sum()
    };
    let (before, newest) = (size(), trail.records().pop().unwrap());
    assert!(before > 2 * LIMIT, "{before}");
    let next = Desk::setup().place(&place).config(&config).start().await;
    next.logs("what was dropped", |entry| {
        let message = entry["message"].as_str().unwrap_or_default();
        message.starts_with("dropped the oldest audit segments")
    })
    .await;
    // The checkpoints that say so come on top.
    assert!(size() <= LIMIT + 5000, "{}", size());
    let report = trail.verified();
    assert!(report["dropped"].as_u64() > Some(1), "{report}");
    let left = trail.records();
    assert!(left.len() > 5 && left.len() < 200, "{}", left.len());
    assert_eq!(left.last(), Some(&newest));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reads_are_summarised_where_the_operator_wants_that() {
    for (mut desk, trail) in on_both("[audit]\nreads = \"summary\"\n").await {
        for _ in 0..5 {
            desk.ok("fixture", "fixture_sum", json!({ "a": 1, "b": 2 }))
                .await;
        }
        let wrong = json!({ "a": "x" });
        desk.call("fixture", "fixture_sum", wrong).await;
        desk.call("fixture", "fixture_panic", json!({})).await;
        write(&desk, 2).await;
        stop(&mut desk).await;
        let records = trail.records();
        for (tool, outcome) in [
            ("fixture_sum", "INVALID_ARGUMENT"),
            ("fixture_panic", "failed"),
        ] {
            assert_eq!(count(&records, tool, outcome), 1, "{tool} {outcome}");
        }
        assert_eq!(count(&records, "fixture_write", "done"), 2);
        let counted: Vec<&Value> = records
            .iter()
            .filter(|record| record["kind"] == "read_count")
            .collect();
        // The minute may have changed in between.
        let sum: u64 = counted.iter().map(|it| it["count"].as_u64().unwrap()).sum();
        assert!((1..=2).contains(&counted.len()), "{records:#?}");
        assert_eq!(sum, 5);
        assert_eq!(counted[0]["tool"], "fixture_sum");
        assert_eq!(counted[0]["caller"], "anonymous");
        assert!(counted[0]["first"].as_str() <= counted[0]["last"].as_str());
        assert!(counted[0].get("arguments").is_none());
        assert_eq!(trail.verified()["summarised"], 5);
        let shown = trail.run(&["tail", "--tool", "fixture_sum", "--outcome", "done"]);
        mentions(&shown.ok().stdout, &["fixture.fixture_sum", "reads"]);
        let exported = trail.run(&["export"]).ok().stdout;
        mentions(&exported, &["\"kind\":\"read_count\""]);
    }
}

#[tokio::test]
async fn the_space_that_is_left_is_shown() {
    let desk = Desk::start().await;
    write(&desk, 3).await;
    let trail = Trail::of(&desk.place);
    eventually(&trail, "three calls", |records| records.len() == 3).await;
    let said = desk.place.run(&["doctor"]).stdout;
    mentions(
        &said,
        &["ok   disk", "free; the audit trail takes", "a day"],
    );
    let mut metrics = String::new();
    for _ in 0..50 {
        metrics = desk.get("/metrics").await.text();
        if metrics.contains("disk_free_bytes") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for name in ["disk_free_bytes", "audit_bytes", "audit_bytes_per_day"] {
        mentions(&metrics, &[&format!("\nmadoguchi_{name} ")]);
    }
    assert!(!metrics.contains("\nmadoguchi_disk_days_left"), "{metrics}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_disk_that_is_nearly_full_is_reported_before_it_is() {
    let place = Place::new();
    let disk = SmallDisk::mount("size=32m");
    let data = disk.path().to_str().unwrap();
    let desk = Desk::setup()
        .place(&place)
        .env("MADOGUCHI_DATA", data)
        .start()
        .await;
    let warned = desk.logs("that the disk will be full", |entry| {
        entry["message"] == "the disk will soon be full"
    });
    let warned = warned.await;
    let ready = desk.get("/readyz").await.status;
    let said = place.run_with(&["doctor"], &[("MADOGUCHI_DATA", data)]);
    assert!(warned["free_bytes"].as_u64() < Some(32 << 20), "{warned}");
    assert_eq!(ready, 200, "it can still be written to");
    assert_eq!(said.code, Some(1));
    mentions(&said.stdout, &["FAIL disk", "MB free", "max_bytes"]);
}
