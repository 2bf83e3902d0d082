//! Tasks: created, changed, moved and listed.

use serde_json::json;

use crate::project::TestProject;

const BOARD: &str = "# Task\n\n## A\n- [ ] one #T001\n- [ ] two #T002\n- [x] three #T003\n\n## B\n- [-] four #T004 due:2026-11-14\n";

#[tokio::test]
async fn a_change_edits_only_its_line() {
    for (arguments, from, to) in [
        (
            json!({"task_id": "T001", "status": "done"}),
            "[ ] one",
            "[x] one",
        ),
        (
            json!({"task_id": "T001", "title": "uno"}),
            "one #T001",
            "uno #T001",
        ),
        (
            json!({"task_id": "T001", "due": "2026-12-01"}),
            "one #T001",
            "one #T001 due:2026-12-01",
        ),
        (
            json!({"task_id": "T004", "clear": ["due"], "title": "", "category": ""}),
            " due:2026-11-14",
            "",
        ),
        (
            json!({"task_id": "T003", "status": "todo"}),
            "[x] three",
            "[ ] three",
        ),
        (
            json!({"task_id": "T001", "subtasks": ["s"]}),
            "one #T001\n",
            "one #T001\n  - [ ] s\n",
        ),
        (json!({"task_id": "T001", "category": "b"}), "", ""),
    ] {
        let project = TestProject::with(BOARD);
        project.ok("update_task", arguments.clone()).await;
        if from.is_empty() {
            let moved = BOARD.replace("- [ ] one #T001\n", "") + "- [ ] one #T001\n";
            assert_eq!(project.tasks(), moved);
        } else {
            assert_eq!(project.tasks(), BOARD.replace(from, to), "{arguments}");
        }
    }
}

#[tokio::test]
async fn crlf_bom_and_a_missing_final_newline_stay() {
    let text = "\u{feff}# Task\r\n\r\n## A\r\n- [ ] one #T001\r\n- [ ] two #T002";
    let project = TestProject::with(text);
    project
        .ok(
            "create_task",
            json!({"title": "x", "category": "A", "subtasks": ["y"]}),
        )
        .await;
    assert_eq!(
        project.tasks(),
        format!("{text}\r\n- [ ] x #T003\r\n  - [ ] y")
    );
    project
        .ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
    project.ok("delete_task", json!({"task_id": "T003"})).await;
    assert_eq!(project.tasks(), text.replace("[ ] two", "[x] two"));
}

#[tokio::test]
async fn reorder_task_moves_a_task_within_its_category() {
    let project = TestProject::with(BOARD);
    let order = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|l| l.split("#T00").nth(1))
            .map(|l| l[..1].to_owned())
            .collect()
    };
    for (arguments, old, new, wanted) in [
        (
            json!({"task_id": "T003", "position": "first"}),
            3,
            1,
            ["3", "1", "2", "4"],
        ),
        (
            json!({"task_id": "T003", "position": "last"}),
            1,
            3,
            ["1", "2", "3", "4"],
        ),
        (
            json!({"task_id": "T001", "position": "after", "reference_task_id": "T002"}),
            1,
            2,
            ["2", "1", "3", "4"],
        ),
        (
            json!({"task_id": "T003", "position": "before", "reference_task_id": "T001"}),
            3,
            2,
            ["2", "3", "1", "4"],
        ),
        (
            json!({"task_id": "T004", "position": "first"}),
            1,
            1,
            ["2", "3", "1", "4"],
        ),
    ] {
        let moved = project.ok("reorder_task", arguments.clone()).await;
        assert_eq!(
            (&moved["old_position"], &moved["new_position"]),
            (&json!(old), &json!(new))
        );
        assert_eq!(order(&project.tasks()), wanted, "{arguments}");
    }
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let project = TestProject::with(BOARD);
    let ids = |answer: &serde_json::Value| -> Vec<String> {
        let tasks = answer["tasks"].as_array().unwrap();
        tasks
            .iter()
            .map(|t| t["task_id"].as_str().unwrap().to_owned())
            .collect()
    };
    for (arguments, wanted) in [
        (json!({}), vec!["T001", "T002", "T003", "T004"]),
        (json!({"status": "todo"}), vec!["T001", "T002"]),
        (json!({"status": "In Progress"}), vec!["T004"]),
        (json!({"category": "B"}), vec!["T004"]),
        (json!({"category": "ｂ"}), vec!["T004"]),
        (json!({"category": "C"}), vec![]),
        (json!({"overdue": true}), vec!["T004"]),
        (
            json!({"overdue": false, "status": "todo"}),
            vec!["T001", "T002"],
        ),
        (json!({"ready": true}), vec!["T001", "T002"]),
        (json!({"limit": 2}), vec!["T001", "T002"]),
        (json!({"limit": "2", "cursor": "p2"}), vec!["T003", "T004"]),
    ] {
        let answer = project.ok("list_tasks", arguments.clone()).await;
        assert_eq!(ids(&answer), wanted, "{arguments}");
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
    let listed = project.ok("list_tasks", json!({})).await;
    let ids: Vec<&str> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["task_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["T002", "T001", "T003"]);
    assert_eq!(project.tasks(), text, "looking changes nothing");
    // Another process sees the same id, and it stays when tasks are added.
    let other = TestProject::at(&project.root);
    assert_eq!(other.ok("list_tasks", json!({})).await, listed);
    assert_eq!(other.task("new").await, "T004");
    project
        .ok("update_task", json!({"task_id": "T003", "status": "done"}))
        .await;
    assert!(
        project
            .tasks()
            .starts_with("## A\n- [ ] by hand\n- [ ] one #T001\n- [x] by hand #T003\n")
    );
    project
        .ok("update_context", json!({"task_id": "T002", "content": "x"}))
        .await;
    assert!(project.tasks().starts_with("## A\n- [ ] by hand #T002\n"));
}

#[tokio::test]
async fn duplicate_ids_are_reported_with_their_lines() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T001\n- [ ] c #T002\n");
    let listed = project.ok("list_tasks", json!({})).await;
    assert!(
        listed["warnings"][0]
            .as_str()
            .unwrap()
            .contains("lines 1 and 2")
    );
    let error = project
        .refused("update_task", json!({"task_id": "T001", "status": "done"}))
        .await;
    assert_eq!(error.code, "DUPLICATE_TASK_ID");
    assert!(error.message.contains("lines 1 and 2"), "{error}");
    project
        .ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
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
        project
            .ok(
                "update_task",
                json!({"task_id": id, "title": title, "status": "done"}),
            )
            .await;
    }
    let listed = project.ok("list_tasks", json!({})).await;
    assert_eq!(listed["total_count"], 9);
    assert!(listed.get("warnings").is_none(), "{listed:#}");
}

#[tokio::test]
async fn get_task_returns_everything_about_a_task() {
    let project = TestProject::with(
        "## A\n- [ ] a #T001 due:2026-11-01 after:#T002 adr:1 see:#T003\n  - [x] s\n- [ ] b #T002\n- [ ] c #T003 after:#T001\n",
    );
    project
        .ok(
            "update_context",
            json!({"task_id": "T001", "content": "what to know"}),
        )
        .await;
    let task = project.ok("get_task", json!({"task_id": "t1"})).await;
    assert_eq!(
        task,
        json!({
            "task_id": "T001", "title": "a", "status": "todo", "category": "A", "priority": 1,
            "line": 2, "due": "2026-11-01", "overdue": true, "ready": false,
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
    let deleted = project.ok("delete_task", json!({"task_id": "T001"})).await;
    assert_eq!(deleted["deleted_files"], json!([".todo/context/T001.md"]));
    assert!(!project.exists("context/T001.md"));
    assert_eq!(project.task("b").await, "T002", "numbers do not come back");
    let project = TestProject::with("- [ ] a #T001\n");
    let deleted = project.ok("delete_task", json!({"task_id": "T001"})).await;
    assert_eq!(deleted["deleted_files"], json!([]));
}

#[tokio::test]
async fn long_titles_are_shortened_in_lists() {
    let project = TestProject::with(&format!("- [ ] {} #T001\n", "長い".repeat(50_000)));
    let listed = project.ok("list_tasks", json!({})).await;
    let found = project.ok("search_tasks", json!({"query": "長い"})).await;
    for answer in [&listed, &found] {
        assert!(answer.to_string().chars().count() < 1000);
    }
    let task = project.ok("get_task", json!({"task_id": "T001"})).await;
    assert_eq!(task["title"].as_str().unwrap().chars().count(), 100_000);
}
