//! Tasks: created, changed, moved and listed.

use serde_json::{Value, json};

use crate::project::{TestProject, column, rows};

const BOARD: &str = "# Task\n\n## A\n- [ ] one #T001\n- [ ] two #T002\n- [x] three #T003\n\n## B\n- [-] four #T004 due:2026-11-14\n";

#[tokio::test]
async fn a_change_edits_only_its_line() {
    for row in [
        r#"[ ] one => [x] one => {"task_id": "T001", "status": "done"}"#,
        r#"one #T001 => uno #T001 => {"task_id": "T001", "title": "uno"}"#,
        r#"one #T001 => one #T001 due:2026-12-01 => {"task_id": "T001", "due": "2026-12-01"}"#,
        r#" due:2026-11-14 =>  => {"task_id": "T004", "clear": ["due"], "title": "", "category": ""}"#,
        r#"[x] three => [ ] three => {"task_id": "T003", "status": "todo"}"#,
        r#"one #T001 => one #T001\n  - [ ] s => {"task_id": "T001", "subtasks": ["s"]}"#,
    ] {
        let row = row.replace("\\n", "\n");
        let [from, to, arguments] = row.split(" => ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let project = TestProject::with(BOARD);
        let arguments = serde_json::from_str(arguments).unwrap();
        project.ok("update_task", arguments).await;
        assert_eq!(project.tasks(), BOARD.replace(from, to), "{row}");
    }
    let project = TestProject::with(BOARD);
    let to_b = json!({"task_id": "T001", "category": "b"});
    project.ok("update_task", to_b).await;
    let moved = BOARD.replace("- [ ] one #T001\n", "") + "- [ ] one #T001\n";
    assert_eq!(project.tasks(), moved);
}

#[tokio::test]
async fn crlf_bom_and_a_missing_final_newline_stay() {
    let text = "\u{feff}# Task\r\n\r\n## A\r\n- [ ] one #T001\r\n- [ ] two #T002";
    let project = TestProject::with(text);
    let new = json!({"title": "x", "category": "A", "subtasks": ["y"]});
    project.ok("create_task", new).await;
    let wanted = format!("{text}\r\n- [ ] x #T003\r\n  - [ ] y");
    assert_eq!(project.tasks(), wanted);
    project.set_status("T002", "done").await;
    project.delete("T003").await;
    assert_eq!(project.tasks(), text.replace("[ ] two", "[x] two"));
}

#[tokio::test]
async fn reorder_task_moves_a_task_within_its_category() {
    let project = TestProject::with(BOARD);
    // The old position, the new one, and the order of all tasks.
    let cases = r#"
3 1 3124 {"task_id": "T003", "position": "first"}
1 3 1234 {"task_id": "T003", "position": "last"}
1 2 2134 {"task_id": "T001", "position": "after", "reference_task_id": "T002"}
3 2 2314 {"task_id": "T003", "position": "before", "reference_task_id": "T001"}
1 1 2314 {"task_id": "T004", "position": "first"}
"#;
    for ([old, new, wanted], arguments) in rows(cases) {
        let moved = project.ok("reorder_task", arguments.clone()).await;
        let positions = [&moved["old_position"], &moved["new_position"]];
        assert_eq!(positions.map(Value::to_string), [old, new]);
        let text = project.tasks();
        let order = text.lines().filter_map(|line| line.split("#T00").nth(1));
        let order: String = order.map(|rest| &rest[..1]).collect();
        assert_eq!(order, wanted, "{arguments}");
    }
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let project = TestProject::with(BOARD);
    let cases = r#"
1234 {}
12 {"status": "todo"}
4 {"status": "In Progress"}
4 {"category": "B"}
4 {"category": "ｂ"}
 {"category": "C"}
4 {"overdue": true}
12 {"overdue": false, "status": "todo"}
12 {"ready": true}
12 {"limit": 2}
34 {"limit": "2", "cursor": "p2"}
"#;
    for ([wanted], arguments) in rows(cases) {
        let answer = project.ok("list_tasks", arguments.clone()).await;
        let ids = column(&answer["tasks"], "task_id").concat();
        assert_eq!(ids.replace("T00", ""), wanted, "{arguments}");
    }
    let page = project.ok("list_tasks", json!({"limit": 3})).await;
    assert_eq!(
        (&page["total_count"], &page["next_cursor"]),
        (&json!(4), &json!("p3"))
    );
    assert_eq!(page["tasks"][2]["priority"], 3);
}

#[tokio::test]
async fn items_without_an_id_get_one_when_changed() {
    let text = "## A\n- [ ] by hand\n- [ ] one #T001\n- [ ] by hand\n";
    let project = TestProject::with(text);
    let listed = project.list().await;
    let ids = column(&listed["tasks"], "task_id");
    assert_eq!(ids, ["T002", "T001", "T003"]);
    assert_eq!(project.tasks(), text, "looking changes nothing");
    // Another process sees the same id, and it stays when tasks are added.
    let other = TestProject::at(&project.root);
    assert_eq!(other.list().await, listed);
    assert_eq!(other.task("new").await, "T004");
    project.set_status("T003", "done").await;
    let numbered = "## A\n- [ ] by hand\n- [ ] one #T001\n- [x] by hand #T003\n";
    assert!(project.tasks().starts_with(numbered));
    let note = json!({"task_id": "T002", "content": "x"});
    project.ok("update_context", note).await;
    assert!(project.tasks().starts_with("## A\n- [ ] by hand #T002\n"));
}

#[tokio::test]
async fn duplicate_ids_are_reported_with_their_lines() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T001\n- [ ] c #T002\n");
    let warning = project.list().await["warnings"][0].to_string();
    assert!(warning.contains("lines 1 and 2"), "{warning}");
    let change = json!({"task_id": "T001", "status": "done"});
    let error = project.refused("update_task", change).await;
    assert_eq!(error.code, "DUPLICATE_TASK_ID");
    assert!(error.message.contains("lines 1 and 2"), "{error}");
    project.set_status("T002", "done").await;
    assert_eq!(
        project.tasks(),
        "- [ ] a #T001\n- [ ] b #T001\n- [x] c #T002\n"
    );
}

#[tokio::test]
async fn titles_cannot_break_the_file() {
    let project = TestProject::bare();
    for (title, shown) in [
        ("two\nlines\r\n", "two lines"),
        ("- [x] fake #T900", "- [x] fake #T900"),
        ("#T001 mine", "#T001 mine"),
        ("## heading", "## heading"),
        ("`code", "`code"),
        ("``` fence", "``` fence"),
        ("<!-- comment", "<!-- comment"),
        ("trailing \\", "trailing \\"),
        ("｜全角＃Ｔ００１", "｜全角＃Ｔ００１"),
    ] {
        let id = project.task(title).await;
        let task = project.ok("get_task", json!({"task_id": id})).await;
        assert_eq!(task["title"], shown);
        let again = json!({"task_id": id, "title": title, "status": "done"});
        project.ok("update_task", again).await;
    }
    let listed = project.list().await;
    assert_eq!(listed["total_count"], 9);
    assert!(listed.get("warnings").is_none(), "{listed:#}");
}

#[tokio::test]
async fn get_task_returns_everything_about_a_task() {
    let project = TestProject::with(
        "## A\n- [ ] a #T001 due:2026-11-01 after:#T002 adr:1 see:#T003\n  - [x] s\n- [ ] b #T002\n- [ ] c #T003 after:#T001\n",
    );
    let note = json!({"task_id": "T001", "content": "what to know"});
    project.ok("update_context", note).await;
    let task = project.ok("get_task", json!({"task_id": "t1"})).await;
    assert_eq!(
        task,
        json!({
            "task_id": "T001", "title": "a", "status": "todo", "category": "A", "priority": 1,
            "line": 2, "due": "2026-11-01", "overdue": true, "ready": false,
            "today": "2026-11-15", "time_zone": "Asia/Tokyo",
            "subtasks": [{"title": "s", "status": "done"}],
            "depends_on": ["T002"], "blocks": ["T003"], "relates": ["T003"], "decided_by": [1],
            "blocked_by": ["T002"], "context_excerpt": "what to know"
        })
    );
}

#[tokio::test]
async fn deleting_a_task_deletes_its_context() {
    let project = TestProject::bare();
    project.task("a").await;
    let deleted = project.delete("T001").await;
    assert_eq!(deleted["deleted_files"], json!([".todo/context/T001.md"]));
    assert!(!project.exists("context/T001.md"));
    assert_eq!(project.task("b").await, "T002", "numbers do not come back");
    let project = TestProject::with("- [ ] a #T001\n");
    assert_eq!(project.delete("T001").await["deleted_files"], json!([]));
}

#[tokio::test]
async fn long_titles_are_shortened_in_lists() {
    let project = TestProject::with(&format!("- [ ] {} #T001\n", "長い".repeat(50_000)));
    let listed = project.list().await;
    let found = project.ok("search_tasks", json!({"query": "長い"})).await;
    for answer in [&listed, &found] {
        assert!(answer.to_string().chars().count() < 1000);
    }
    let task = project.ok("get_task", json!({"task_id": "T001"})).await;
    assert_eq!(task["title"].as_str().unwrap().chars().count(), 100_000);
}
