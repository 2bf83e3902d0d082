//! Several changes at once, and changes taken back.

use serde_json::json;

use crate::yard::{Yard, context};

#[tokio::test]
async fn a_batch_is_one_write() {
    let yard = Yard::with("## A\n- [ ] a #T001\n");
    let answer = yard
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
        yard.tasks(),
        "## A\n- [ ] b #T002 after:#T001 adr:001\n- [-] a #T001\n"
    );
    assert!(yard.text("context/T002.md").ends_with("## Notes\n\nx\n"));
    assert!(
        yard.text("adr/adr-001-why.md")
            .contains("## Status\n\nAccepted\n")
    );
    assert!(!yard.exists(".journal"));
    // All of it is one change to take back.
    let undone = yard.ok("undo", json!({})).await;
    assert!(
        undone["undone"]
            .as_str()
            .unwrap()
            .starts_with("create_task T002, create_adr 1")
    );
    assert_eq!(yard.tasks(), "## A\n- [ ] a #T001\n");
    assert!(!yard.exists("context/T002.md") && !yard.exists("adr/adr-001-why.md"));
}

#[tokio::test]
async fn a_batch_that_fails_changes_nothing() {
    let yard = Yard::with("- [ ] a #T001\n");
    let error = yard
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
    assert_eq!(yard.tasks(), "- [ ] a #T001\n");
    assert!(!yard.exists("context"));
    for (operations, code) in [
        (json!([]), "INVALID_ARGUMENT"),
        (
            json!([{"tool": "undo", "arguments": {}}]),
            "INVALID_ARGUMENT",
        ),
        (
            json!([{"tool": "delete_task", "arguments": {"task_id": "$1"}}]),
            "INVALID_ARGUMENT",
        ),
    ] {
        assert_eq!(
            yard.code("batch", json!({"operations": operations})).await,
            code
        );
    }
}

#[tokio::test]
async fn every_change_can_be_taken_back() {
    let text = "## A\n- [ ] a #T001\n  - [ ] s\n- [x] b #T002\n\n## B\n- [ ] c #T003";
    let yard = Yard::with(text);
    yard.put("context/T001.md", "# Context for T001\n");
    for (tool, arguments) in [
        ("create_task", json!({"title": "x"})),
        (
            "update_task",
            json!({"task_id": "T001", "title": "y", "status": "done", "subtasks": []}),
        ),
        ("update_task", json!({"task_id": "T001", "category": "New"})),
        ("delete_task", json!({"task_id": "T001"})),
        (
            "reorder_task",
            json!({"task_id": "T002", "position": "first"}),
        ),
        ("update_context", json!({"task_id": "T001", "content": "x"})),
        (
            "link_tasks",
            json!({"task_id": "T001", "relation": "blocks", "target": "T003"}),
        ),
        (
            "create_adr",
            json!({"title": "x", "context": "", "decision": "", "rationale": ""}),
        ),
    ] {
        yard.ok(tool, arguments).await;
        let undone = yard.ok("undo", json!({})).await;
        assert!(
            undone["undone"].as_str().unwrap().starts_with(tool),
            "{undone}"
        );
        assert_eq!(yard.tasks(), text, "{tool}");
        assert_eq!(yard.text("context/T001.md"), "# Context for T001\n");
        assert!(!yard.exists("context/T004.md"));
    }
    assert_eq!(yard.code("undo", json!({})).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn what_others_did_since_stays() {
    let yard = Yard::with("- [ ] a #T001\n- [ ] b #T002\n- [ ] c #T003\n- [ ] d #T004\n");
    let other = context("other");
    yard.ok("update_task", json!({"task_id": "T001", "status": "done"}))
        .await;
    let update = json!({"task_id": "T003", "status": "done"});
    yard.call_as(&other, "update_task", update).await.unwrap();
    yard.put("task.md", yard.tasks() + "\nA person was here.\n");
    yard.ok("undo", json!({})).await;
    assert_eq!(
        yard.tasks(),
        "- [ ] a #T001\n- [ ] b #T002\n- [x] c #T003\n- [ ] d #T004\n\nA person was here.\n"
    );
    // The other's change is the other's to take back.
    assert_eq!(yard.code("undo", json!({})).await, "NOTHING_TO_UNDO");
    yard.call_as(&other, "undo", json!({})).await.unwrap();
    assert!(yard.tasks().contains("[ ] c"));
    // The same line changed by somebody else is a conflict, and says where.
    yard.ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
    yard.put("task.md", yard.tasks().replace("b #T002", "B! #T002"));
    let error = yard.refused("undo", json!({})).await;
    assert_eq!(error.code, "EDIT_CONFLICT");
    assert!(
        error.message.contains(".todo/task.md") && error.message.contains("line 2"),
        "{error}"
    );
    assert!(yard.tasks().contains("[x] B! #T002"));
}

/// The answer got lost, or the process was killed: the same call with the same
/// key makes nothing twice, in whichever process.
#[tokio::test]
async fn a_retry_with_the_same_key_makes_nothing_twice() {
    let yard = Yard::bare();
    let create = json!({"title": "One", "idempotency_key": "k1"});
    let first = yard.ok("create_task", create.clone()).await;
    let words = json!({"title": "Why", "context": "c", "decision": "d", "rationale": "r",
        "idempotency_key": "k1"});
    let adr = yard.ok("create_adr", words.clone()).await;
    let before = yard.tasks();
    for again in [Yard::at(&yard.root), Yard::at(&yard.root)] {
        assert_eq!(again.ok("create_task", create.clone()).await, first);
        assert_eq!(again.ok("create_adr", words.clone()).await, adr);
    }
    assert_eq!(yard.tasks(), before);
    assert_eq!(yard.ok("list_adrs", json!({})).await["total_count"], 1);

    // Killed after the key was noted, and before anything was written.
    yard.put("task.md", "# Task\n");
    let made = yard.ok("create_task", create).await;
    assert_eq!(made["task_id"], first["task_id"]);
    assert!(yard.tasks().contains("- [ ] One #T001\n"));

    let other = json!({"title": "Two", "idempotency_key": "k1"});
    let code = yard.code("create_task", other.clone()).await;
    assert_eq!(code, "IDEMPOTENCY_KEY_REUSED");
    // Somebody else's key is another one, and an empty one is none.
    let made = yard
        .call_as(&crate::yard::context("other"), "create_task", other)
        .await
        .unwrap();
    assert_eq!(made["task_id"], "T002");
    let blank = json!({"title": "Three", "idempotency_key": " "});
    assert_eq!(
        yard.ok("create_task", blank.clone()).await["task_id"],
        "T003"
    );
    assert_eq!(yard.ok("create_task", blank).await["task_id"], "T004");
}
