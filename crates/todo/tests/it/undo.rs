//! Undo after others, or the caller, changed the same things again.

use serde_json::json;

use crate::project::TestProject;

#[tokio::test]
async fn undoing_a_move_does_not_restore_or_double_a_task() {
    let text = "- [ ] a #T001\n- [ ] b #T002\n- [ ] c #T003\n- [ ] d #T004\n";
    for now in [
        "- [ ] a #T001\n- [ ] b #T002\n- [ ] d #T004\n",
        "- [ ] a #T001\n- [ ] c #T003\n- [ ] b #T002\n- [ ] d #T004\n",
    ] {
        let project = TestProject::with(text);
        let first = json!({"task_id": "T003", "position": "first"});
        project.ok("reorder_task", first).await;
        project.put("task.md", now);
        let error = project.refused("undo", json!({})).await;
        assert_eq!(error.code, "EDIT_CONFLICT");
        let message = ".todo/task.md was edited since this change; nothing was undone.";
        assert_eq!(error.message, message);
        assert_eq!(project.tasks(), now);
    }
}

#[tokio::test]
async fn a_task_that_others_wait_for_is_not_undone() {
    let project = TestProject::with("## A\n- [ ] a #T001\n\n## B\n- [ ] z #T009\n");
    let create = json!({"title": "b", "category": "B"});
    let made = project.ok("create_task", create).await;
    let undo = json!({"change_id": made["change_id"]});
    let waits = project.tasks().replace("#T001", "#T001 after:#T010");
    project.put("task.md", waits);
    let error = project.refused("undo", undo.clone()).await;
    assert_eq!(error.code, "TASK_HAS_DEPENDANTS");
    project.put("task.md", project.tasks().replace(" after:#T010", ""));
    project.ok("undo", undo).await;
    assert!(!project.tasks().contains("T010"));
    // Tasks that wait for each other go together.
    let operations = json!([
        {"tool": "create_task", "arguments": {"title": "c"}},
        {"tool": "create_task", "arguments": {"title": "d"}},
        {"tool": "link_tasks", "arguments": {"task_id": "$2", "relation": "depends_on", "target": "$1"}},
    ]);
    project.ok("batch", json!({"operations": operations})).await;
    project.ok("undo", json!({})).await;
}

#[tokio::test]
async fn the_id_of_a_deleted_task_is_not_issued_again() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n");
    let deleted = project.ok("delete_task", json!({"task_id": "T002"})).await;
    let undo = json!({"change_id": deleted["change_id"]});
    let made = project.ok("create_task", json!({"title": "c"})).await;
    assert_eq!(made["task_id"], "T003");
    // A person may still use it.
    project.put("task.md", "- [ ] x #T002\n\nText.\n\n- [ ] a #T001\n");
    let error = project.refused("undo", undo.clone()).await;
    assert_eq!(error.code, "EDIT_CONFLICT");
    assert!(error.message.contains("T002 by now"), "{error}");
    project.put("task.md", "- [ ] x\n\nText.\n\n- [ ] a #T001\n");
    project.ok("undo", undo).await;
    assert!(project.tasks().contains("- [ ] b #T002\n"));
}

#[tokio::test]
async fn a_conflict_names_the_callers_own_later_change() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n");
    let status = json!({"task_id": "T001", "status": "done"});
    let first = project.ok("update_task", status).await;
    project.set_status("T002", "done").await;
    let title = json!({"task_id": "T001", "title": "A"});
    let second = project.ok("update_task", title).await;
    project.set_status("T002", "todo").await;
    let undo = json!({"change_id": first["change_id"]});
    let error = project.refused("undo", undo.clone()).await;
    assert_eq!(error.code, "EDIT_CONFLICT");
    assert!(!error.message.contains("somebody"), "{error}");
    let later = error.details.unwrap()["later_change"].clone();
    let expected = json!({"change_id": second["change_id"], "operations": "update_task T001"});
    assert_eq!(later, expected);
    let second = json!({"change_id": second["change_id"]});
    project.ok("undo", second).await;
    project.ok("undo", undo).await;
    assert_eq!(project.tasks(), "- [ ] a #T001\n- [ ] b #T002\n");
}
