//! A process that is killed at any moment leaves either the old file or the new
//! one.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{processes::spawn, project::TestProject};

/// Writes one generation after the other into a task, its context and a record,
/// each in one change.
pub async fn victim(project: &TestProject, first: usize) {
    for generation in first.. {
        project.ok(
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
async fn a_process_killed_at_any_moment_leaves_complete_files() {
    let filler: String = (3..300)
        .map(|n| format!("- [ ] filler {n} #T{n:03}\n  - [ ] sub\n"))
        .collect();
    let project = TestProject::with(&format!("- [ ] gen 0 #T001\n- [ ] other #T002\n{filler}"));
    for id in ["T001", "T002"] {
        let state = json!({"task_id": id, "content": "gen 0", "section": "State"});
        project.ok("update_context", state).await;
    }
    let frame = project.tasks().replace("gen 0", "");
    let mut spread: BTreeMap<usize, usize> = BTreeMap::new();
    for kill in 0..25u64 {
        let from = generation(&project.tasks()) + 1;
        let mut child = spawn("victim", &project.root, from);
        // Kills it somewhere in the middle of its work.
        let started = Instant::now();
        while generation(&project.tasks()) < from && started.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros((kill * 7919) % 9000));
        child.kill().unwrap();
        child.wait().unwrap();

        // All files are complete right after the kill.
        let text = project.tasks();
        let now = generation(&text);
        let rest = text.replace(&format!("gen {now}"), "");
        assert_eq!(rest, frame, "the file is whole");
        // The next write finishes the change: all three files have the
        // same generation.
        project.set_status("T299", "done").await;
        project.set_status("T299", "todo").await;
        let now = generation(&project.tasks());
        for name in ["context/T001.md", "context/T002.md"] {
            let its = generation(&project.text(name));
            assert_eq!(its, now, "{name} after kill {kill}");
        }
        assert!(!project.exists(".journal"));
        *spread.entry(now + 1 - from).or_default() += 1;
    }
    assert!(
        spread.keys().any(|steps| *steps > 0),
        "it was killed too early: {spread:?}"
    );
}
