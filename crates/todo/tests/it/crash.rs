//! Killed at any moment, a process leaves the old file or the new one.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{processes::spawn, yard::Yard};

/// Writes one generation after the other: into one task, its context and a
/// record, all in one change.
pub async fn victim(yard: &Yard, first: usize) {
    for generation in first.. {
        yard.ok(
            "batch",
            json!({"operations": [
                {"tool": "update_task", "arguments": {"task_id": "T001", "title": format!("gen {generation}")}},
                {"tool": "update_context", "arguments": {"task_id": "T001", "content": format!("gen {generation}"), "section": "State"}},
                {"tool": "update_context", "arguments": {"task_id": "T002", "content": format!("gen {generation}"), "section": "State"}}
            ]}),
        )
        .await;
    }
}

fn generation(text: &str) -> usize {
    let after = text.split("gen ").nth(1).unwrap();
    after
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn killed_at_random() {
    let filler: String = (3..300)
        .map(|n| format!("- [ ] filler {n} #T{n:03}\n  - [ ] sub\n"))
        .collect();
    let yard = Yard::with(&format!("- [ ] gen 0 #T001\n- [ ] other #T002\n{filler}"));
    for id in ["T001", "T002"] {
        yard.ok(
            "update_context",
            json!({"task_id": id, "content": "gen 0", "section": "State"}),
        )
        .await;
    }
    let frame = yard.tasks().replace("gen 0", "");
    let mut spread: BTreeMap<usize, usize> = BTreeMap::new();
    for kill in 0..25u64 {
        let from = generation(&yard.tasks()) + 1;
        let mut child = spawn("victim", &yard.root, from);
        // Once it has got going, somewhere in the middle of it.
        let started = Instant::now();
        while generation(&yard.tasks()) < from && started.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros((kill * 7919) % 9000));
        child.kill().unwrap();
        child.wait().unwrap();

        // What anybody sees right after: whole files.
        let text = yard.tasks();
        let now = generation(&text);
        assert_eq!(
            text.replace(&format!("gen {now}"), ""),
            frame,
            "the file is whole"
        );
        // The next write finishes what was begun: all three are of one kind.
        yard.ok("update_task", json!({"task_id": "T299", "status": "done"}))
            .await;
        yard.ok("update_task", json!({"task_id": "T299", "status": "todo"}))
            .await;
        let now = generation(&yard.tasks());
        for name in ["context/T001.md", "context/T002.md"] {
            assert_eq!(
                generation(&yard.text(name)),
                now,
                "{name} after kill {kill}"
            );
        }
        assert!(!yard.exists(".journal"));
        *spread.entry(now + 1 - from).or_default() += 1;
    }
    assert!(
        spread.keys().any(|steps| *steps > 0),
        "it was killed too early: {spread:?}"
    );
}
