//! The twelve tools as their document publishes them.

use serde_json::{Value, json};

use crate::project::{TEN_O_CLOCK, TestProject};

fn published() -> Value {
    serde_json::from_str(include_str!("seed.json")).unwrap()
}

/// Our schema has everything that the document's schema has, and may have more.
/// Descriptions of fields are left out where the name says it, to save space.
fn assert_holds(ours: &Value, seed: &Value, place: &str) {
    match (ours, seed) {
        (Value::Object(ours), Value::Object(seed)) => {
            let is_text = |key: &str, value: &Value| key == "description" && value.is_string();
            for (key, value) in seed.iter().filter(|(key, value)| !is_text(key, value)) {
                let own = ours
                    .get(key)
                    .unwrap_or_else(|| panic!("{place}.{key} is missing"));
                assert_holds(own, value, &format!("{place}.{key}"));
            }
        }
        _ => assert_eq!(ours, seed, "{place}"),
    }
}

#[tokio::test]
async fn tools_match_the_schemas_of_the_document() {
    let counter = TestProject::bare().counter.clone();
    assert_eq!(counter.about.server_name, "agentic-todo-mcp");
    assert_eq!(counter.about.version, "0.0.1");
    let seed = published();
    let names: Vec<&str> = counter.tools.iter().map(|tool| tool.name).collect();
    let wanted: Vec<&String> = seed.as_object().unwrap().keys().collect();
    assert_eq!(names[..12], wanted[..]);
    for (name, words) in seed.as_object().unwrap() {
        let tool = counter.tool(name).unwrap();
        // In English first, then in the document's words.
        let words_of_seed = words["description"].as_str().unwrap();
        assert!(tool.description.ends_with(words_of_seed), "{name}");
        let english = tool.description.trim_end_matches(words_of_seed);
        assert!(
            english.is_ascii() && english.ends_with(". "),
            "{name}: {english}"
        );
        assert_holds(&tool.input, &words["input"], name);
        let output = tool.output.as_ref().unwrap();
        assert_holds(output, &words["output"], name);
        let warning = &output["properties"]["warnings"]["items"];
        assert_eq!(warning["required"], json!(["code", "message"]), "{name}");
        assert_eq!(
            tool.input.get("required"),
            words["input"].get("required"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn tool_definitions_are_portable_and_small() {
    let counter = TestProject::bare().counter.clone();
    let mut size = 0;
    for tool in &counter.tools {
        assert_eq!(tool.hints.read_only, tool.effect == kit::Effect::Read);
        let output = tool.output.as_ref().unwrap();
        for schema in [&tool.input, output] {
            jsonschema::validator_for(schema).unwrap();
            for foreign in ["$ref", "anyOf", "oneOf", "allOf", "null"] {
                assert!(
                    !schema.to_string().contains(foreign),
                    "{}: {foreign}",
                    tool.name
                );
            }
        }
        // As the program lists it, with hints.
        let listed = json!({
            "name": tool.name, "title": tool.title, "description": tool.description,
            "inputSchema": tool.input, "outputSchema": output,
            "annotations": {
                "readOnlyHint": tool.hints.read_only,
                "destructiveHint": tool.hints.destructive,
                "idempotentHint": tool.hints.idempotent, "openWorldHint": tool.hints.open_world,
            },
        });
        // And the comma between two of them.
        size += listed.to_string().chars().count() + 1;
    }
    assert!(size <= 14_000, "the tool list has {size} characters");
}

#[tokio::test]
async fn the_example_of_the_document_works() {
    let project = TestProject::bare();
    let new = json!({
        "title": "要件定義を作成", "category": "SPEC", "description": "まず要件から",
        "subtasks": ["エラーハンドリング仕様確認", "レート制限設計完了"]
    });
    let made = project.ok("create_task", new).await;
    assert_eq!(
        made,
        json!({
            "task_id": "T001", "file_path": ".todo/context/T001.md",
            "created_at": TEN_O_CLOCK, "change_id": made["change_id"]
        })
    );
    let new = json!({"title": "Reactコンポーネントを検討", "category": "Frontend"});
    project.ok("create_task", new).await;
    project.set_status("T002", "in_progress").await;
    let subtasks = json!([
        {"title": "エラーハンドリング仕様確認"}, {"title": "レート制限設計完了", "status": "done"}
    ]);
    let change = json!({"task_id": "T001", "subtasks": subtasks});
    let updated = project.ok("update_task", change).await;
    assert_eq!(updated["updated_fields"], json!(["subtasks"]));
    let seed = "# Task\n\n## SPEC\n- [ ] 要件定義を作成 #T001\n  - [ ] エラーハンドリング仕様確認\n  - [x] レート制限設計完了\n\n## Frontend\n- [-] Reactコンポーネントを検討 #T002\n";
    assert_eq!(project.tasks(), seed);
    let context = project.text("context/T001.md");
    assert_eq!(
        context,
        "# Context for T001\n\n## Task Description\n\nまず要件から\n\n## Created\n\n2026-11-15T10:00:00+09:00\n"
    );
    let listed = project.ok("list_tasks", json!({"category": "SPEC"})).await;
    assert_eq!(
        listed,
        json!({
            "tasks": [{
                "task_id": "T001", "title": "要件定義を作成", "status": "todo", "category": "SPEC",
                "subtasks_count": 2, "subtasks_done": 1, "priority": 1
            }],
            "total_count": 1
        })
    );
}

#[tokio::test]
async fn errors_have_the_shape_of_the_document() {
    let project = TestProject::bare();
    let id = json!({"task_id": "T001"});
    let shape = project.refused("delete_task", id).await.structured();
    let error = &shape["error"];
    assert_eq!(error["code"], "TASK_NOT_FOUND");
    let details = json!({"field": "task_id", "value": "T001"});
    assert_eq!(error["details"], details);
    assert!(error["message"].to_string().contains("list_tasks"));
    assert!(
        !project.exists(""),
        "a refused call leaves no directory behind"
    );
}
