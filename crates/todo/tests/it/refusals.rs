//! Every code there is, with the field and the value it is about.

use serde_json::{Value, json};

use crate::yard::{Yard, details};

async fn assert_refused(yard: &Yard, tool: &str, arguments: Value, code: &str, field: &str) {
    let error = yard.refused(tool, arguments.clone()).await;
    assert_eq!(error.code, code, "{tool} {arguments}: {error}");
    assert_eq!(details(&error)["field"], field, "{tool} {arguments}");
    assert!(details(&error).get("value").is_some(), "{tool} {arguments}");
    // The same through a batch, where no schema stands in front.
    let batched = [
        "create_task",
        "update_task",
        "delete_task",
        "reorder_task",
        "link_tasks",
        "update_context",
        "create_adr",
        "update_adr_status",
    ];
    if batched.contains(&tool) {
        let operations = json!({"operations": [{"tool": tool, "arguments": arguments}]});
        let error = yard.refused("batch", operations).await;
        let known = [code, "INVALID_ARGUMENT"];
        assert!(
            known.contains(&&*error.code),
            "batch {tool} {arguments}: {error}"
        );
        if error.code != "INVALID_ARGUMENT" {
            assert_eq!(details(&error)["field"], field, "batch {tool} {arguments}");
        }
        assert_eq!(details(&error)["operation"], 1);
    }
}

#[tokio::test]
async fn every_code() {
    let yard = Yard::with(
        "## A\n- [ ] a #T001\n- [ ] b #T002\n## B\n- [ ] c #T003\n- [ ] d #T004\n- [ ] e #T004\n",
    );
    yard.adr("One").await;
    let long = |n: usize| "あ".repeat(n);
    let cases: Vec<(&str, Value, &str, &str)> = vec![
        (
            "create_task",
            json!({"title": "x", "due": " "}),
            "INVALID_DATE",
            "due",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "due": "2026-12-01", "clear": ["due"]}),
            "INVALID_ARGUMENT",
            "due",
        ),
        (
            "create_task",
            json!({"title": long(101)}),
            "CONTENT_TOO_LONG",
            "title",
        ),
        (
            "create_task",
            json!({"title": ""}),
            "INVALID_ARGUMENT",
            "title",
        ),
        (
            "create_task",
            json!({"title": " \n "}),
            "INVALID_ARGUMENT",
            "title",
        ),
        (
            "create_task",
            json!({"title": "x", "category": long(51)}),
            "INVALID_CATEGORY",
            "category",
        ),
        (
            "create_task",
            json!({"title": "x", "category": " "}),
            "INVALID_CATEGORY",
            "category",
        ),
        (
            "create_task",
            json!({"title": "x", "category": "a\nb"}),
            "INVALID_CATEGORY",
            "category",
        ),
        (
            "create_task",
            json!({"title": "x", "category": "a #"}),
            "INVALID_CATEGORY",
            "category",
        ),
        (
            "create_task",
            json!({"title": "x", "description": long(501)}),
            "CONTENT_TOO_LONG",
            "description",
        ),
        (
            "create_task",
            json!({"title": "x", "description": "```"}),
            "INVALID_ARGUMENT",
            "description",
        ),
        (
            "create_task",
            json!({"title": "x", "subtasks": vec!["s"; 21]}),
            "CONTENT_TOO_LONG",
            "subtasks",
        ),
        (
            "create_task",
            json!({"title": "x", "subtasks": [long(101)]}),
            "CONTENT_TOO_LONG",
            "subtasks",
        ),
        (
            "create_task",
            json!({"title": "x", "due": "tomorrow"}),
            "INVALID_DATE",
            "due",
        ),
        (
            "update_task",
            json!({"task_id": "X1"}),
            "INVALID_TASK_ID",
            "task_id",
        ),
        (
            "update_task",
            json!({"task_id": "T999"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "update_task",
            json!({"task_id": "T004", "status": "done"}),
            "DUPLICATE_TASK_ID",
            "task_id",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "status": "later"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "title": long(101)}),
            "CONTENT_TOO_LONG",
            "title",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "category": " "}),
            "INVALID_CATEGORY",
            "category",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "subtasks": vec![json!({"title": "s"}); 21]}),
            "CONTENT_TOO_LONG",
            "subtasks",
        ),
        (
            "delete_task",
            json!({"task_id": "T999"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "delete_task",
            json!({"task_id": "TASK"}),
            "INVALID_TASK_ID",
            "task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T999", "position": "first"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "middle"}),
            "INVALID_POSITION",
            "position",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "before"}),
            "INVALID_POSITION",
            "reference_task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "after", "reference_task_id": "T001"}),
            "INVALID_POSITION",
            "reference_task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "after", "reference_task_id": "T003"}),
            "INVALID_POSITION",
            "reference_task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "after", "reference_task_id": "T999"}),
            "REFERENCE_TASK_NOT_FOUND",
            "reference_task_id",
        ),
        (
            "reorder_task",
            json!({"task_id": "T001", "position": "after", "reference_task_id": "zz"}),
            "INVALID_TASK_ID",
            "reference_task_id",
        ),
        (
            "list_tasks",
            json!({"status": "x"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "list_tasks",
            json!({"limit": 101}),
            "INVALID_ARGUMENT",
            "limit",
        ),
        (
            "search_tasks",
            json!({"query": long(201)}),
            "CONTENT_TOO_LONG",
            "query",
        ),
        (
            "create_adr",
            json!({"title": long(101), "context": "", "decision": "", "rationale": ""}),
            "CONTENT_TOO_LONG",
            "title",
        ),
        (
            "create_adr",
            json!({"title": "x", "context": long(2001), "decision": "", "rationale": ""}),
            "CONTENT_TOO_LONG",
            "context",
        ),
        (
            "create_adr",
            json!({"title": "x", "context": "", "decision": "", "rationale": "", "status": "x"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 0, "status": "Accepted"}),
            "INVALID_ADR_NUMBER",
            "adr_number",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1000, "status": "Accepted"}),
            "INVALID_ADR_NUMBER",
            "adr_number",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 7, "status": "Accepted"}),
            "ADR_NOT_FOUND",
            "adr_number",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Maybe"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Accepted", "reason": long(501)}),
            "CONTENT_TOO_LONG",
            "reason",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Deprecated", "superseded_by": 9}),
            "ADR_NOT_FOUND",
            "superseded_by",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Deprecated", "superseded_by": 1}),
            "INVALID_ADR_NUMBER",
            "superseded_by",
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Accepted", "superseded_by": 1}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "get_adr",
            json!({"adr_number": 9}),
            "ADR_NOT_FOUND",
            "adr_number",
        ),
        (
            "list_adrs",
            json!({"status": "x"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "update_context",
            json!({"task_id": "T001", "content": long(10001)}),
            "CONTENT_TOO_LONG",
            "content",
        ),
        (
            "update_context",
            json!({"task_id": "T999", "content": "x"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "update_context",
            json!({"task_id": "T001", "content": "x", "section": long(51)}),
            "CONTENT_TOO_LONG",
            "section",
        ),
        (
            "get_context",
            json!({"task_id": "T999"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "get_context",
            json!({"task_id": "T001"}),
            "FILE_NOT_FOUND",
            "task_id",
        ),
        (
            "get_task",
            json!({"task_id": "T999"}),
            "TASK_NOT_FOUND",
            "task_id",
        ),
        (
            "link_tasks",
            json!({"task_id": "T001", "relation": "blocks", "target": "T999"}),
            "TASK_NOT_FOUND",
            "target",
        ),
        (
            "link_tasks",
            json!({"task_id": "T001", "relation": "blocks", "target": "T001"}),
            "DEPENDENCY_CYCLE",
            "target",
        ),
        (
            "link_tasks",
            json!({"task_id": "T001", "relation": "decided_by", "target": "9"}),
            "ADR_NOT_FOUND",
            "target",
        ),
        (
            "link_tasks",
            json!({"task_id": "T001", "relation": "blocks", "target": "?"}),
            "INVALID_TASK_ID",
            "target",
        ),
    ];
    let before = yard.tasks();
    for (tool, arguments, code, field) in cases {
        assert_refused(&yard, tool, arguments, code, field).await;
    }
    assert_eq!(
        yard.tasks(),
        before,
        "nothing was changed by a refused call"
    );
    let fresh = Yard::with("- [ ] a #T001\n");
    assert_eq!(fresh.code("undo", json!({})).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn limits_count_what_there_is() {
    let tasks: String = (1..=998).map(|n| format!("- [ ] t #T{n:03}\n")).collect();
    let yard = Yard::with(&tasks);
    assert_eq!(yard.task("the last").await, "T999");
    assert_eq!(
        yard.code("create_task", json!({"title": "x"})).await,
        "TASK_LIMIT_EXCEEDED"
    );
    yard.ok("delete_task", json!({"task_id": "T500"})).await;
    assert_eq!(yard.task("again").await, "T500");
    for number in 1..=999 {
        yard.put(&format!("adr/adr-{number:03}-x.md"), "# x\n");
    }
    let adr = json!({"title": "x", "context": "", "decision": "", "rationale": ""});
    assert_eq!(yard.code("create_adr", adr).await, "ADR_LIMIT_EXCEEDED");
}

#[cfg(unix)]
#[tokio::test]
async fn protected_files_and_ways_out() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let yard = Yard::with("- [ ] a #T001\n");
    fs::set_permissions(yard.path("task.md"), fs::Permissions::from_mode(0o444)).unwrap();
    let done = json!({"task_id": "T001", "status": "done"});
    assert_eq!(
        yard.code("update_task", done.clone()).await,
        "PERMISSION_DENIED"
    );
    yard.ok("list_tasks", json!({})).await;
    fs::set_permissions(yard.path("task.md"), fs::Permissions::from_mode(0o640)).unwrap();
    yard.ok("update_task", done).await;
    let mode = fs::metadata(yard.path("task.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640, "the mode stays");

    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("T001.md"), "secret").unwrap();
    fs::create_dir_all(yard.path("context")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("T001.md"), yard.path("context/T001.md"))
        .unwrap();
    assert_eq!(
        yard.code("get_context", json!({"task_id": "T001"})).await,
        "PERMISSION_DENIED"
    );
    let write = json!({"task_id": "T001", "content": "x"});
    assert_eq!(
        yard.code("update_context", write).await,
        "PERMISSION_DENIED"
    );
    assert_eq!(
        fs::read_to_string(outside.path().join("T001.md")).unwrap(),
        "secret"
    );
    let found = yard.ok("search_contexts", json!({"query": "secret"})).await;
    assert_eq!(found["total_matches"], 0);
}

#[tokio::test]
async fn a_project_that_is_not_there() {
    let yard = Yard::at(std::path::Path::new("/nonexistent/project"));
    assert_eq!(yard.code("list_tasks", json!({})).await, "FILE_NOT_FOUND");
    assert_eq!(
        yard.code("create_task", json!({"title": "x"})).await,
        "FILE_NOT_FOUND"
    );
}

/// Reads understand other spellings, and their descriptions name them.
#[tokio::test]
async fn a_call_that_changes_something_takes_ids_and_statuses_as_published() {
    let yard = Yard::with("- [ ] a #T001\n- [ ] b #T002\n");
    yard.adr("One").await;
    let before = (yard.tasks(), yard.text("adr/adr-001-one.md"));
    for id in [
        json!("2"),
        json!(2),
        json!("t2"),
        json!("#T002"),
        json!("Ｔ００２"),
    ] {
        for (tool, arguments, field) in [
            (
                "update_task",
                json!({"task_id": id, "status": "done"}),
                "task_id",
            ),
            ("delete_task", json!({"task_id": id}), "task_id"),
            (
                "update_context",
                json!({"task_id": id, "content": "x"}),
                "task_id",
            ),
            (
                "reorder_task",
                json!({"task_id": id, "position": "first"}),
                "task_id",
            ),
            (
                "reorder_task",
                json!({"task_id": "T001", "position": "after", "reference_task_id": id}),
                "reference_task_id",
            ),
            (
                "link_tasks",
                json!({"task_id": id, "relation": "relates", "target": "T001"}),
                "task_id",
            ),
            (
                "link_tasks",
                json!({"task_id": "T001", "relation": "relates", "target": id}),
                "target",
            ),
        ] {
            assert_refused(&yard, tool, arguments, "INVALID_TASK_ID", field).await;
        }
        let read = yard.ok("get_task", json!({"task_id": id})).await;
        assert_eq!(read["task_id"], "T002");
    }
    for (tool, arguments, code, field) in [
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "deprecated"}),
            "INVALID_STATUS",
            "status",
        ),
        (
            "update_adr_status",
            json!({"adr_number": "adr-001", "status": "Deprecated"}),
            "INVALID_ADR_NUMBER",
            "adr_number",
        ),
        (
            "update_task",
            json!({"task_id": "T001", "status": "completed"}),
            "INVALID_STATUS",
            "status",
        ),
    ] {
        assert_refused(&yard, tool, arguments, code, field).await;
    }
    assert_eq!((yard.tasks(), yard.text("adr/adr-001-one.md")), before);
}
