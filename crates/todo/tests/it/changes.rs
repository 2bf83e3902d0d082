//! Batches and undo.

use serde_json::json;

use crate::project::{TestProject, adr, rows};

#[tokio::test]
async fn a_batch_is_one_write() {
    let project = TestProject::with("## A\n- [ ] a #T001\n");
    let answer = project
        .ok(
            "batch",
            json!({"operations": [
                {"tool": "create_task", "arguments": {"title": "b", "category": "A"}},
                {"tool": "create_adr", "arguments": {"title": "why", "context": "", "decision": "", "rationale": ""}},
                {"tool": "link_tasks", "arguments": {"task_id": "$1", "relation": "depends_on", "target": "T001"}},
                {"tool": "link_tasks", "arguments": {"task_id": "$1", "relation": "decided_by", "target": "$2"}},
                {"tool": "update_context", "arguments": {"task_id": "$1", "content": "x", "section": "Notes"}},
                {"tool": "update_task", "arguments": {"task_id": "T001", "status": "in_progress"}},
                {"tool": "reorder_task", "arguments": {"task_id": "$1", "position": "first"}},
                {"tool": "update_adr_status", "arguments": {"adr_number": "$2", "status": "Accepted"}}
            ]}),
        )
        .await;
    assert_eq!(answer["results"].as_array().unwrap().len(), 8);
    assert_eq!(
        project.tasks(),
        "## A\n- [ ] b #T002 after:#T001 adr:001\n- [-] a #T001\n"
    );
    assert!(project.text("context/T002.md").ends_with("## Notes\n\nx\n"));
    assert!(
        project
            .text("adr/adr-001-why.md")
            .contains("## Status\n\nAccepted\n")
    );
    assert!(!project.exists(".journal"));
    // `undo` reverts the whole batch.
    let undone = project.ok("undo", json!({})).await;
    let label = undone["undone"].as_str().unwrap();
    assert!(label.starts_with("create_task T002, create_adr 1"));
    assert_eq!(project.tasks(), "## A\n- [ ] a #T001\n");
    assert!(!project.exists("context/T002.md") && !project.exists("adr/adr-001-why.md"));
}

#[tokio::test]
async fn a_batch_that_fails_changes_nothing() {
    let project = TestProject::with("- [ ] a #T001\n");
    let error = project
        .refused(
            "batch",
            json!({"operations": [
                {"tool": "update_task", "arguments": {"task_id": "T001", "status": "done"}},
                {"tool": "create_task", "arguments": {"title": "b"}},
                {"tool": "delete_task", "arguments": {"task_id": "T077"}}
            ]}),
        )
        .await;
    assert_eq!(error.code, "TASK_NOT_FOUND");
    let details = error.details.unwrap();
    assert_eq!(
        (&details["operation"], &details["value"]),
        (&json!(3), &json!("T077"))
    );
    assert_eq!(project.tasks(), "- [ ] a #T001\n");
    assert!(!project.exists("context"));
    for operations in [
        json!([]),
        json!([{"tool": "undo", "arguments": {}}]),
        json!([{"tool": "delete_task", "arguments": {"task_id": "$1"}}]),
    ] {
        let batch = json!({"operations": operations});
        assert_eq!(project.code("batch", batch).await, "INVALID_ARGUMENT");
    }
}

#[tokio::test]
async fn every_change_can_be_undone() {
    let text = "## A\n- [ ] a #T001\n  - [ ] s\n- [x] b #T002\n\n## B\n- [ ] c #T003";
    let project = TestProject::with(text);
    project.put("context/T001.md", "# Context for T001\n");
    let calls = r#"
create_task {"title": "x"}
update_task {"task_id": "T001", "title": "y", "status": "done", "subtasks": []}
update_task {"task_id": "T001", "category": "New"}
delete_task {"task_id": "T001"}
reorder_task {"task_id": "T002", "position": "first"}
update_context {"task_id": "T001", "content": "x"}
link_tasks {"task_id": "T001", "relation": "blocks", "target": "T003"}
create_adr {"title": "x", "context": "", "decision": "", "rationale": ""}
"#;
    for ([tool], arguments) in rows(calls) {
        project.ok(tool, arguments).await;
        let undone = project.ok("undo", json!({})).await;
        let label = undone["undone"].as_str().unwrap();
        assert!(label.starts_with(tool), "{undone}");
        assert_eq!(project.tasks(), text, "{tool}");
        assert_eq!(project.text("context/T001.md"), "# Context for T001\n");
        assert!(!project.exists("context/T004.md"));
    }
    assert_eq!(project.code("undo", json!({})).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn undo_keeps_later_changes_by_others() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n- [ ] c #T003\n- [ ] d #T004\n");
    let other = project.other_caller();
    project.set_status("T001", "done").await;
    let update = json!({"task_id": "T003", "status": "done"});
    other.ok("update_task", update).await;
    project.put("task.md", project.tasks() + "\nA person was here.\n");
    project.ok("undo", json!({})).await;
    assert_eq!(
        project.tasks(),
        "- [ ] a #T001\n- [ ] b #T002\n- [x] c #T003\n- [ ] d #T004\n\nA person was here.\n"
    );
    // Each caller can only undo its own changes.
    assert_eq!(project.code("undo", json!({})).await, "NOTHING_TO_UNDO");
    other.ok("undo", json!({})).await;
    assert!(project.tasks().contains("[ ] c"));
    // A line that somebody else changed is a conflict, and the error names
    // it.
    project.set_status("T002", "done").await;
    project.put("task.md", project.tasks().replace("b #T002", "B! #T002"));
    let error = project.refused("undo", json!({})).await;
    assert_eq!(error.code, "EDIT_CONFLICT");
    assert!(
        error.message.contains(".todo/task.md") && error.message.contains("line 2"),
        "{error}"
    );
    assert!(project.tasks().contains("[x] B! #T002"));
}

/// If the answer was lost or the process was killed, the same call with the
/// same key creates nothing twice, in any process.
#[tokio::test]
async fn a_retry_with_the_same_key_creates_nothing_twice() {
    let project = TestProject::bare();
    let create = json!({"title": "One", "idempotency_key": "k1"});
    let first = project.ok("create_task", create.clone()).await;
    let mut why = adr("Why");
    why["idempotency_key"] = json!("k1");
    let decided = project.ok("create_adr", why.clone()).await;
    let before = project.tasks();
    for _ in 0..2 {
        let again = TestProject::at(&project.root);
        assert_eq!(again.ok("create_task", create.clone()).await, first);
        assert_eq!(again.ok("create_adr", why.clone()).await, decided);
    }
    assert_eq!(project.tasks(), before);
    assert_eq!(project.ok("list_adrs", json!({})).await["total_count"], 1);

    // As if killed after the key was noted and before anything was written.
    project.put("task.md", "# Task\n");
    let made = project.ok("create_task", create).await;
    assert_eq!(made["task_id"], first["task_id"]);
    assert!(project.tasks().contains("- [ ] One #T001\n"));

    let other = json!({"title": "Two", "idempotency_key": "k1"});
    let code = project.code("create_task", other.clone()).await;
    assert_eq!(code, "IDEMPOTENCY_KEY_REUSED");
    // Keys are separate for each caller, and an empty key counts as none.
    let made = project.other_caller().ok("create_task", other).await;
    assert_eq!(made["task_id"], "T002");
    for id in ["T003", "T004"] {
        let blank = json!({"title": "Three", "idempotency_key": " "});
        assert_eq!(project.ok("create_task", blank).await["task_id"], id);
    }
}
