//! What is gone from the trail was erased by `audit erase`, or is missed.

use std::fs;

use kit::sql::Budget;
use serde_json::{Value, json};

use super::{
    Trail,
    trail::{eventually, on_both, store_of},
};

/// Blanks what is kept of a record's arguments, as `audit erase` does it.
async fn erase_by_hand(trail: &Trail, seq: u64) {
    let blank = format!("{{\"seq\":{seq},\"erased\":true}}");
    let Some(url) = &trail.url else {
        let name = trail.segments()[0].file_name().unwrap().to_owned();
        let path = trail.directory().join("text").join(name);
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| {
            let length = line.len();
            match line.starts_with(&format!("{{\"seq\":{seq},")) {
                true => format!("{blank:<length$}\n"),
                false => format!("{line}\n"),
            }
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
        return;
    };
    let store = store_of(url).await;
    let changed = store.transaction(Budget::default(), move |sql| {
        sql.execute(
            "UPDATE desk_audit SET beside = $1 WHERE seq = $2 AND beside IS NOT NULL",
            &[(&blank).into(), seq.cast_signed().into()],
        )
    });
    assert_eq!(changed.await.unwrap(), 1);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_erasure_that_nobody_recorded_is_a_broken_link_on_both_engines() {
    for (mut desk, trail) in on_both("").await {
        for a in [1, 2] {
            let sum = json!({ "a": a, "b": 2 });
            desk.ok("fixture", "fixture_sum", sum).await;
        }
        eventually(&trail, "two calls", |records| records.len() == 2).await;
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        let calls = trail.calls();
        let [first, second] = &calls[..] else {
            panic!("{calls:#?}");
        };
        let id = |call: &Value| call["call"].as_str().unwrap().to_owned();
        // One is erased in order, and stays right.
        trail.run(&["erase", "--call", &id(first)]).ok();
        assert_eq!(trail.verified()["erased"], 1);
        let seq = second["seq"].as_u64().unwrap();
        erase_by_hand(&trail, seq).await;
        let broken = trail.broken();
        assert!(broken.contains(&format!("line {seq}:")), "{broken}");
        assert!(broken.contains("no erasure is recorded"), "{broken}");
        // It can't be erased in order afterwards, for there is nothing to erase.
        let again = trail.run(&["erase", "--call", &id(second), "--json"]).ok();
        assert_eq!(again.json()["erased"], 0);
        trail.broken();
    }
}

/// The record of the erasure is there, the process that made it died.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_erasure_that_was_cut_short_is_finished_by_the_next_desk() {
    for (mut desk, trail) in on_both("").await {
        let sum = json!({ "a": 4711, "b": 2 });
        desk.ok("fixture", "fixture_sum", sum).await;
        eventually(&trail, "a call", |records| records.len() == 1).await;
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        let beside = keep_text(&trail).await;
        let call = trail.calls()[0]["call"].as_str().unwrap().to_owned();
        trail.run(&["erase", "--call", &call]).ok();
        put_text_back(&trail, beside).await;
        let report = trail.verified();
        assert_eq!(
            (&report["erased"], &report["not_yet_erased"]),
            (&json!(0), &json!(1))
        );
        let mut setup = crate::harness::Desk::setup().place(&trail.place);
        if let Some(url) = &trail.url {
            setup = setup.database(url);
        }
        let desk = setup.start().await;
        let report = trail.verified();
        assert_eq!(
            (&report["erased"], &report["not_yet_erased"]),
            (&json!(1), &json!(0))
        );
        assert!(!format!("{:?}", trail.records()).contains("4711"));
        drop(desk);
    }
}

/// What stands beside the records, as it is now.
async fn keep_text(trail: &Trail) -> Vec<(String, String)> {
    let Some(url) = &trail.url else {
        let texts = fs::read_dir(trail.directory().join("text")).unwrap();
        let texts = texts.map(|entry| entry.unwrap().path());
        let kept = texts.map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.to_str().unwrap().to_owned(), text)
        });
        return kept.collect();
    };
    let store = store_of(url).await;
    let kept = store.query(Budget::default(), |sql| {
        let rows = sql.query(
            "SELECT record, beside FROM desk_audit WHERE beside IS NOT NULL",
            &[],
        )?;
        rows.iter()
            .map(|row| Ok((row.text(0)?, row.text(1)?)))
            .collect()
    });
    kept.await.unwrap()
}

async fn put_text_back(trail: &Trail, kept: Vec<(String, String)>) {
    let Some(url) = &trail.url else {
        for (path, text) in kept {
            fs::write(path, text).unwrap();
        }
        return;
    };
    let store = store_of(url).await;
    let put = store.transaction(Budget::default(), move |sql| {
        for (record, beside) in &kept {
            sql.execute(
                "UPDATE desk_audit SET beside = $1 WHERE record = $2",
                &[beside.into(), record.into()],
            )?;
        }
        Ok(())
    });
    put.await.unwrap();
}
