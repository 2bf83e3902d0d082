//! Every error code, with its field and value.

use kit::testing::details;
use serde_json::{Value, json};

use crate::project::{READ_AND_WRITE, TestProject, adr, rows};

async fn assert_refused(
    project: &TestProject,
    tool: &str,
    arguments: Value,
    code: &str,
    field: &str,
) {
    let error = project.refused(tool, arguments.clone()).await;
    assert_eq!(error.code, code, "{tool} {arguments}: {error}");
    assert_eq!(details(&error)["field"], field, "{tool} {arguments}");
    assert!(details(&error).get("value").is_some(), "{tool} {arguments}");
}

/// Code, field, tool and arguments. `あ*101` stands for that many characters. The tests of the
/// program make these calls in batches, too.
const REFUSED: &str = include_str!("refused.txt");

fn with_long_texts(mut arguments: Value) -> Value {
    let long = |text: &str| Some("あ".repeat(text.strip_prefix("あ*")?.parse().ok()?));
    for value in arguments.as_object_mut().unwrap().values_mut() {
        if let Some(text) = value
            .as_array()
            .map_or(value.as_str(), |items| items[0].as_str())
            && let Some(text) = long(text)
        {
            *value = if value.is_array() {
                json!([text])
            } else {
                text.into()
            };
        }
    }
    arguments
}

#[tokio::test]
async fn every_error_code_names_field_and_value() {
    let project = TestProject::with(
        "## A\n- [ ] a #T001\n- [ ] b #T002\n## B\n- [ ] c #T003\n- [ ] d #T004\n- [ ] e #T004\n",
    );
    project.adr("One").await;
    let before = project.tasks();
    for ([code, field, tool], arguments) in rows(REFUSED) {
        let arguments = with_long_texts(arguments);
        assert_refused(&project, tool, arguments, code, field).await;
    }
    for (tool, arguments) in [
        (
            "create_task",
            json!({"title": "x", "subtasks": vec!["s"; 21]}),
        ),
        (
            "update_task",
            json!({"task_id": "T001", "subtasks": vec![json!({"title": "s"}); 21]}),
        ),
    ] {
        assert_refused(&project, tool, arguments, "CONTENT_TOO_LONG", "subtasks").await;
    }
    assert_eq!(
        project.tasks(),
        before,
        "nothing was changed by a refused call"
    );
    let fresh = TestProject::with("- [ ] a #T001\n");
    assert_eq!(fresh.code("undo", json!({})).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn limits_count_existing_tasks_and_adrs() {
    let tasks: String = (1..=998).map(|n| format!("- [ ] t #T{n:03}\n")).collect();
    let project = TestProject::with(&tasks);
    assert_eq!(project.task("the last").await, "T999");
    let code = project.code("create_task", json!({"title": "x"})).await;
    assert_eq!(code, "TASK_LIMIT_EXCEEDED");
    project.delete("T500").await;
    assert_eq!(project.task("again").await, "T500");
    for number in 1..=999 {
        project.put(&format!("adr/adr-{number:03}-x.md"), "# x\n");
    }
    let code = project.code("create_adr", adr("x")).await;
    assert_eq!(code, "ADR_LIMIT_EXCEEDED");
}

#[cfg(unix)]
#[tokio::test]
async fn read_only_files_and_links_out_of_the_project_are_denied() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let project = TestProject::with("- [ ] a #T001\n");
    fs::set_permissions(project.path("task.md"), fs::Permissions::from_mode(0o444)).unwrap();
    let done = json!({"task_id": "T001", "status": "done"});
    let code = project.code("update_task", done).await;
    assert_eq!(code, "PERMISSION_DENIED");
    project.list().await;
    fs::set_permissions(project.path("task.md"), fs::Permissions::from_mode(0o640)).unwrap();
    project.set_status("T001", "done").await;
    let mode = fs::metadata(project.path("task.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640, "the mode stays");

    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("T001.md");
    fs::write(&secret, "secret").unwrap();
    fs::create_dir_all(project.path("context")).unwrap();
    std::os::unix::fs::symlink(&secret, project.path("context/T001.md")).unwrap();
    let calls = r#"
get_context {"task_id": "T001"}
update_context {"task_id": "T001", "content": "x"}
"#;
    for ([tool], arguments) in rows(calls) {
        assert_eq!(project.code(tool, arguments).await, "PERMISSION_DENIED");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    let query = json!({"query": "secret"});
    let found = project.ok("search_contexts", query).await;
    assert_eq!(found["total_matches"], 0);
}

#[tokio::test]
async fn a_missing_project_is_reported() {
    let project = TestProject::at(std::path::Path::new("/nonexistent/project"));
    for ([tool], arguments) in rows(READ_AND_WRITE) {
        assert_eq!(project.code(tool, arguments).await, "FILE_NOT_FOUND");
    }
}

/// Only reads accept other spellings, and their descriptions list them.
#[tokio::test]
async fn writes_accept_only_the_published_spelling_of_ids_and_statuses() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n");
    project.adr("One").await;
    let before = (project.tasks(), project.text("adr/adr-001-one.md"));
    let calls = r#"
task_id update_task {"task_id": "ID", "status": "done"}
task_id delete_task {"task_id": "ID"}
task_id update_context {"task_id": "ID", "content": "x"}
task_id reorder_task {"task_id": "ID", "position": "first"}
reference_task_id reorder_task {"task_id": "T001", "position": "after", "reference_task_id": "ID"}
task_id link_tasks {"task_id": "ID", "relation": "relates", "target": "T001"}
target link_tasks {"task_id": "T001", "relation": "relates", "target": "ID"}
"#;
    for id in ["\"2\"", "2", "\"t2\"", "\"#T002\"", "\"Ｔ００２\""] {
        for ([field, tool], arguments) in rows(&calls.replace("\"ID\"", id)) {
            assert_refused(&project, tool, arguments, "INVALID_TASK_ID", field).await;
        }
        let id: Value = serde_json::from_str(id).unwrap();
        let read = project.ok("get_task", json!({"task_id": id})).await;
        assert_eq!(read["task_id"], "T002");
    }
    let calls = r#"
INVALID_STATUS status update_adr_status {"adr_number": 1, "status": "deprecated"}
INVALID_ADR_NUMBER adr_number update_adr_status {"adr_number": "adr-001", "status": "Deprecated"}
INVALID_STATUS status update_task {"task_id": "T001", "status": "completed"}
"#;
    for ([code, field, tool], arguments) in rows(calls) {
        assert_refused(&project, tool, arguments, code, field).await;
    }
    assert_eq!(
        (project.tasks(), project.text("adr/adr-001-one.md")),
        before
    );
}
