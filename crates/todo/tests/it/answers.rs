//! What an agent learns from an answer: what a change did, why a list is empty,
//! what to do next.

use kit::testing::details;
use serde_json::{Value, json};

use crate::project::{TestProject, adr, column, rows};

fn codes(answer: &Value) -> Vec<String> {
    match answer.get("warnings") {
        Some(warnings) => column(warnings, "code"),
        None => Vec::new(),
    }
}

#[tokio::test]
async fn one_subtask_is_changed_without_the_others() {
    let text = "- [ ] a #T001\n  - [ ] write tests\n  - [x] レビュー\n";
    // The sub-task, and the lines it leads to.
    for (subtask, wanted) in [
        (
            json!({"title": "write tests", "status": "done"}),
            text.replace("[ ] write", "[x] write"),
        ),
        (
            json!({"title": "ﾚﾋﾞｭｰ", "status": "todo"}),
            text.replace("[x] レビュー", "[ ] レビュー"),
        ),
        (
            json!({"title": "Write Tests", "remove": true}),
            text.replace("  - [ ] write tests\n", ""),
        ),
        (json!({"title": "new"}), format!("{text}  - [ ] new\n")),
        (json!("new"), format!("{text}  - [ ] new\n")),
    ] {
        let project = TestProject::with(text);
        let change = json!({"task_id": "T001", "subtask": subtask});
        let answer = project.ok("update_task", change).await;
        assert_eq!(project.tasks(), wanted, "{subtask}");
        assert_eq!(answer["updated_fields"], json!(["subtasks"]));
    }
    let project = TestProject::with(text);
    for subtask in [
        json!({"title": "write test", "status": "done"}),
        json!({"title": "write test", "remove": true}),
    ] {
        let change = json!({"task_id": "T001", "subtask": subtask});
        let error = project.refused("update_task", change).await;
        assert_eq!(error.code, "SUBTASK_NOT_FOUND");
        assert_eq!(details(&error)["subtasks"][0], "write tests");
    }
    assert_eq!(project.tasks(), text);
    let both = json!({"task_id": "T001", "subtasks": ["x"], "subtask": "y"});
    assert_eq!(project.code("update_task", both).await, "INVALID_ARGUMENT");
    // Replacing the list names what was lost.
    let all = json!({"task_id": "T001", "subtasks": [{"title": "write tests"}]});
    let answer = project.ok("update_task", all).await;
    assert_eq!(codes(&answer), ["SUBTASKS_REMOVED"]);
    assert_eq!(answer["warnings"][0]["removed"], json!(["レビュー"]));
}

#[tokio::test]
async fn a_title_that_several_subtasks_have_is_refused_with_candidates() {
    let twice = "- [ ] a #T001\n  - [x] same\n  - [ ] same\n";
    let project = TestProject::with(twice);
    let change = json!({"task_id": "T001", "subtask": {"title": "same", "status": "done"}});
    let error = project.refused("update_task", change).await;
    assert_eq!(error.code, "AMBIGUOUS_SUBTASK");
    let candidates = json!([
        {"position": 1, "title": "same", "status": "done"},
        {"position": 2, "title": "same", "status": "todo"},
    ]);
    assert_eq!(details(&error)["candidates"], candidates);
    assert_eq!(project.tasks(), twice);
}

#[tokio::test]
async fn a_change_that_changes_nothing_says_so() {
    let project = TestProject::with("## A\n- [x] a #T001 after:#T002\n- [ ] b #T002\n");
    project.ok("create_adr", adr("One")).await;
    let write = json!({"task_id": "T001", "content": "x"});
    assert!(codes(&project.ok("update_context", write).await).is_empty());
    let calls = r#"
update_task {"task_id": "T001", "status": "done", "title": "a", "category": "A"}
update_task {"task_id": "T001"}
reorder_task {"task_id": "T001", "position": "first"}
update_context {"task_id": "T001", "content": "x"}
link_tasks {"task_id": "T001", "relation": "depends_on", "target": "T002"}
update_adr_status {"adr_number": 1, "status": "Proposed"}
"#;
    for ([tool], arguments) in rows(calls) {
        let answer = project.ok(tool, arguments).await;
        assert_eq!(codes(&answer), ["NOTHING_CHANGED"], "{tool}");
        assert!(answer.get("change_id").is_none(), "{tool}");
        if tool == "update_task" {
            assert_eq!(answer["updated_fields"], json!([]));
        }
    }
}

#[tokio::test]
async fn replacing_a_context_answers_with_what_it_removed() {
    let project = TestProject::bare();
    project.task("a").await;
    let write = async |arguments: Value| project.ok("update_context", arguments).await;
    let added = write(json!({"task_id": "T001", "content": "learnt", "append": true})).await;
    assert!(added.get("removed").is_none());
    let before = project.text("context/T001.md");
    let replaced = write(json!({"task_id": "T001", "content": "new"})).await;
    assert_eq!(replaced["removed"], "## Task Description\n\na\n\nlearnt");
    let undo = json!({"change_id": replaced["change_id"]});
    project.ok("undo", undo).await;
    assert_eq!(project.text("context/T001.md"), before);
    let section = json!({"task_id": "T001", "content": "b", "section": "Task Description"});
    assert_eq!(write(section).await["removed"], "a");
}

#[tokio::test]
async fn a_task_that_others_wait_for_is_not_deleted() {
    let text = "- [ ] a #T001 after:#T009\n- [ ] release #T002 after:#T001\n- [ ] c #T003 blocks:#T001\n- [x] old #T004 after:#T001\n- [ ] d #T009\n";
    let project = TestProject::with(text);
    let delete = json!({"task_id": "T001"});
    let error = project.refused("delete_task", delete).await;
    assert_eq!(error.code, "TASK_HAS_DEPENDANTS");
    let dependants = json!([{"task_id": "T002", "title": "release"}]);
    assert_eq!(details(&error)["dependants"], dependants);
    assert!(error.text().contains("relink: true"), "{error}");
    assert_eq!(project.tasks(), text);
    // What waited for it now waits for what it waited for.
    let relink = json!({"task_id": "T001", "relink": true});
    let answer = project.ok("delete_task", relink).await;
    assert_eq!(answer["relinked"], json!(["T002", "T004"]));
    assert_eq!(
        project.tasks(),
        "- [ ] release #T002 after:#T003,#T009\n- [ ] c #T003\n- [x] old #T004 after:#T003,#T009\n- [ ] d #T009\n"
    );
    // A finished task blocks nobody.
    project.set_status("T003", "done").await;
    project.delete("T003").await;
}

#[tokio::test]
async fn finishing_a_task_names_what_became_ready_and_what_is_open() {
    let project = TestProject::with(
        "- [-] a #T001\n  - [ ] left\n  - [x] done\n- [ ] b #T002 after:#T001\n- [ ] c #T003 after:#T001,#T004\n- [ ] d #T004\n",
    );
    let answer = project.set_status("T001", "done").await;
    assert_eq!(answer["now_ready"], json!(["T002"]));
    assert_eq!(
        answer["message"],
        "Now ready: T002 b. T003 c still waits for T004."
    );
    assert_eq!(answer["lines"], "- [x] a #T001\n  - [ ] left\n  - [x] done");
    assert_eq!(codes(&answer), ["OPEN_SUBTASKS"]);
    assert_eq!(answer["warnings"][0]["open"], json!(["left"]));
    let again = project.set_status("T001", "done").await;
    assert!(again.get("now_ready").is_none());
}

#[tokio::test]
async fn one_search_covers_tasks_contexts_and_adrs() {
    let project = TestProject::bare();
    let new =
        json!({"title": "支払い画面", "description": "レート制限を表示する", "subtasks": ["文言"]});
    project.ok("create_task", new).await;
    project.task("レート制限").await;
    project.ok("create_adr", adr("レート制限は毎分100")).await;
    project.put("notes/meeting.md", "# Meeting\n\nwe want れーと制限\n");
    let answer = project.ok("search", json!({"query": "ﾚｰﾄ制限"})).await;
    let results = &answer["results"];
    assert_eq!(results[0]["kind"], "task");
    assert_eq!(results[0]["id"], "T002");
    assert_eq!(results[0]["place"], ".todo/task.md:6");
    let places = column(results, "place");
    for place in [
        ".todo/context/T001.md:5",
        ".todo/adr/adr-001-レート制限は毎分100.md:1",
        ".todo/notes/meeting.md:3",
    ] {
        assert!(places.contains(&place.to_owned()), "{place} in {answer:#}");
    }
    let described = results.as_array().unwrap().iter();
    let mut described = described.filter(|it| it["id"] == "T001");
    assert_eq!(described.next().unwrap()["title"], "支払い画面");
    assert_eq!(answer["total_matches"], 5);
}

#[tokio::test]
async fn empty_results_say_why() {
    let project = TestProject::with("## Backend\n- [ ] a #T001\n- [x] b #T002\n\n## Docs\n");
    project.ok("create_adr", adr("One")).await;
    // A part of the sentence, and what the call was.
    for (part, tool, arguments) in [
        (
            "Without category: 1. Categories: Backend, Docs.",
            "list_tasks",
            json!({"category": "Backendd", "status": "done"}),
        ),
        (
            "No task matches status: in_progress. Without status: 2.",
            "list_tasks",
            json!({"status": "in_progress"}),
        ),
        (
            "There are: Proposed 1.",
            "list_adrs",
            json!({"status": "Accepted"}),
        ),
        (
            "There are: Proposed 1.",
            "list_adrs",
            json!({"status": "Superseded"}),
        ),
        (
            "2 tasks, 1 ADRs",
            "search",
            json!({"query": "nothing like it"}),
        ),
        ("2 tasks", "search_tasks", json!({"query": "zzz"})),
        (
            "`search` finds ADR 1.",
            "search_tasks",
            json!({"query": "One"}),
        ),
        (
            "`search` finds ADR 1.",
            "search_contexts",
            json!({"query": "One"}),
        ),
        ("no letters", "search", json!({"query": "!?"})),
    ] {
        let answer = project.ok(tool, arguments.clone()).await;
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(part), "{tool} {arguments}: {message}");
    }
    let none = project.ok("list_tasks", json!({"category": "docs"})).await;
    assert_eq!(none["details"], json!({"without": {"category": 2}}));
}

#[tokio::test]
async fn superseded_is_understood() {
    let project = TestProject::bare();
    for title in ["Old", "New"] {
        project.ok("create_adr", adr(title)).await;
    }
    let alone = json!({"adr_number": 1, "status": "Superseded"});
    let error = project.refused("update_adr_status", alone).await;
    assert_eq!(error.code, "INVALID_STATUS");
    assert!(error.message.contains("superseded_by"), "{error}");
    let by = json!({"adr_number": 1, "status": "Superseded", "superseded_by": 2});
    let answer = project.ok("update_adr_status", by).await;
    assert_eq!(answer["new_status"], "Deprecated");
    assert_eq!(answer["superseded_by"], 2);
    assert!(
        project
            .text("adr/adr-001-old.md")
            .contains("Superseded by [2. New]")
    );
    let status = json!({"status": "superseded"});
    let listed = project.ok("list_adrs", status).await;
    assert_eq!(listed["adrs"][0]["adr_number"], 1);
    assert_eq!(listed["total_count"], 1);
}

#[tokio::test]
async fn next_tasks_gives_a_reason_for_each() {
    let project = TestProject::with(
        "## A\n- [ ] later #T001\n- [ ] key #T002\n- [ ] waits #T003 after:#T002\n- [ ] soon #T004 due:2026-11-17\n- [ ] late #T005 due:2026-11-14\n- [-] begun #T006\n- [x] old #T007\n",
    );
    let answer = project.ok("next_tasks", json!({})).await;
    let ids = column(&answer["tasks"], "task_id");
    assert_eq!(ids, ["T006", "T005", "T004", "T002", "T001"]);
    let reasons = column(&answer["tasks"], "reason");
    assert_eq!(
        reasons,
        [
            "in progress",
            "overdue since Saturday 2026-11-14",
            "due Tuesday 2026-11-17, in 2 days",
            "T003 waits for it",
            "ready, number 1 in A"
        ]
    );
    assert_eq!(answer["today"], "2026-11-15");
    assert_eq!(answer["time_zone"], "Asia/Tokyo");
    assert_eq!(answer["message"], "Waiting: T003 for T002.");
    let done = TestProject::with("- [x] a #T001\n");
    let answer = done.ok("next_tasks", json!({})).await;
    assert_eq!(answer["message"], "All tasks are done: 1.");
}

#[tokio::test]
async fn answers_say_when_a_task_is_due_and_what_blocks_it() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002 after:#T001\n");
    let due = json!({"task_id": "T002", "due": "2026-11-20"});
    let answer = project.ok("update_task", due).await;
    let sentence = "T002 is due Friday 2026-11-20, in 5 days.";
    assert_eq!(answer["message"], sentence);
    assert_eq!(answer["today"], "2026-11-15");
    let new = json!({"title": "c", "due": "2026-11-16"});
    let answer = project.ok("create_task", new).await;
    assert_eq!(answer["message"], "T003 is due tomorrow, 2026-11-16.");
    let soon = json!({"task_id": "T001", "due": "soon"});
    let error = project.refused("update_task", soon).await;
    assert!(error.text().contains("Today is 2026-11-15."), "{error}");
    let first = json!({"task_id": "T002", "position": "first"});
    let moved = project.ok("reorder_task", first).await;
    assert_eq!(codes(&moved), ["BLOCKED"]);
    assert_eq!(moved["warnings"][0]["blocked_by"], json!(["T001"]));
    let begun = project.set_status("T002", "in_progress").await;
    assert_eq!(codes(&begun), ["BLOCKED"]);
}

#[tokio::test]
async fn a_new_decision_replaces_an_old_one_in_one_call() {
    let project = TestProject::bare();
    project.ok("create_adr", adr("Old")).await;
    let mut new = adr("New");
    new["supersedes"] = json!(1);
    let made = project.ok("create_adr", new.clone()).await;
    assert_eq!(made["supersedes"], 1);
    let read = project.ok("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(
        [&read["status"], &read["superseded_by"]],
        [&json!("Deprecated"), &json!(2)]
    );
    new["supersedes"] = json!(9);
    assert_eq!(project.code("create_adr", new).await, "ADR_NOT_FOUND");
    assert!(!project.exists("adr/adr-003-new.md"));
    // One change, so one undo.
    project.ok("undo", json!({})).await;
    let read = project.ok("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(read["status"], "Proposed");
}

#[tokio::test]
async fn a_change_is_undone_by_its_id_in_any_process() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n- [ ] c #T003\n");
    let first = project.set_status("T001", "done").await;
    let second = project.set_status("T003", "done").await;
    let other = TestProject::at(&project.root);
    assert_eq!(other.code("undo", json!({})).await, "NOTHING_TO_UNDO");
    let undo = json!({"change_id": first["change_id"]});
    let undone = other.ok("undo", undo.clone()).await;
    assert_eq!(undone["undone"], "update_task T001");
    assert_eq!(undone["diff"], "-- [x] a #T001\n+- [ ] a #T001");
    assert!(project.tasks().starts_with("- [ ] a"));
    assert_eq!(other.code("undo", undo).await, "CHANGE_NOT_FOUND");
    // The undo can be undone too, by its id.
    let redo = json!({"change_id": undone["change_id"]});
    project.ok("undo", redo).await;
    assert!(project.tasks().starts_with("- [x] a"));
    // Without an id it is still the last change of this process.
    let undone = project.ok("undo", json!({})).await;
    assert_eq!(undone["undone"], "update_task T003");
    for strange in ["", "../../task", "c0000000"] {
        let undo = json!({"change_id": strange});
        let code = project.other_caller().code("undo", undo).await;
        assert!(["CHANGE_NOT_FOUND", "NOTHING_TO_UNDO"].contains(&code.as_str()));
    }
    assert_ne!(first["change_id"], second["change_id"]);
    // Only the last changes are kept.
    for round in 0..70 {
        let status = if round % 2 == 0 { "done" } else { "todo" };
        project.set_status("T002", status).await;
    }
    let kept = std::fs::read_dir(project.path(".changes")).unwrap().count();
    assert!((50..=60).contains(&kept), "{kept}");
}
