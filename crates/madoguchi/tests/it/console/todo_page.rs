//! The page of tasks: the board, a task with its context, decisions, and the files that
//! change.

use std::fs;

use serde_json::json;

use super::{
    counter_pages::{assert_harmless, hostile, press},
    visitor::{Visitor, between},
};
use crate::harness::{Desk, Place, structured};

/// A desk on a project with this `task.md`.
async fn desk_with(config: &str, tasks: &str) -> Desk {
    let place = Place::new();
    fs::create_dir(place.path().join(".todo")).unwrap();
    fs::write(place.path().join(".todo/task.md"), tasks).unwrap();
    Desk::setup().place(&place).config(config).start().await
}

fn text(desk: &Desk, file: &str) -> String {
    fs::read_to_string(desk.place.path().join(".todo").join(file)).unwrap()
}

/// What a form for editing says that it is based on.
fn base(page: &str) -> &str {
    between(page, "&quot;base&quot;:&quot;", "&quot;")
}

const TASKS: &str = "# Task\r\n\r\nBy hand.\r\n\r\n## SPEC\r\n- [ ] Write it #T001 due:2020-01-02\r\n\
    \x20 - [x] Outline\r\n- [-] Read it #T002 after:#T001\r\n\r\n## Later\r\n- [ ] Sell it #T003\r\n";

const BOARD: &str = "/console/todo";

#[tokio::test]
async fn moving_a_card_changes_one_line_of_the_file() {
    let desk = desk_with("", TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page(BOARD).await.text();
    for shown in [
        "To do",
        "In progress",
        "Write it",
        "overdue 2020-01-02",
        "waits for T001",
        "SPEC · 1",
        "1/1",
        "- [-] Read it #T002",
        "?category=Later",
        "aria-label=\"Done: T001\"",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let done = json!({ "task_id": "T002", "status": "done" });
    let moved = press(&visitor, BOARD, "update_task", done, &[("place", "0-0")]).await;
    assert!(
        moved.contains("Done.") && moved.contains("- [x] Read it #T002"),
        "{moved}"
    );
    assert_eq!(
        text(&desk, "task.md"),
        TASKS.replace("- [-] Read", "- [x] Read")
    );
    let filtered = visitor.page("/console/todo?category=Later").await.text();
    let board = between(&filtered, "class=\"board\"", "</form>");
    assert!(
        board.contains("Sell it") && !board.contains("Write it"),
        "{board}"
    );

    let fields = [
        ("argument/title", "Print it"),
        ("argument/due", "2030-01-02"),
    ];
    let made = press(&visitor, BOARD, "create_task", json!({}), &fields).await;
    assert!(made.contains("Print it"), "{made}");
    assert!(text(&desk, "task.md").contains("Print it #T004 due:2030-01-02"));
    let path = "/console/todo?task=T004";
    let fields = [
        ("argument/title", "Print all"),
        ("argument/status", "in_progress"),
    ];
    let changed = press(
        &visitor,
        path,
        "update_task",
        json!({ "task_id": "T004" }),
        &fields,
    )
    .await;
    assert!(changed.contains("- [-] Print all #T004"), "{changed}");
    let missing = visitor.page("/console/todo?task=T900").await.text();
    assert!(missing.contains("TASK_NOT_FOUND"), "{missing}");
}

/// A page that has been open for a while does not undo what an agent has done meanwhile.
#[tokio::test]
async fn only_what_the_person_changes_in_a_task_is_saved() {
    let desk = desk_with("", TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let path = "/console/todo?task=T001";
    let page = visitor.page(path).await.text();
    for shown in [
        "name=\"before/title\" value=\"Write it\"",
        "name=\"before/status\" value=\"todo\"",
        "name=\"before/category\" value=\"SPEC\"",
        "name=\"before/due\" value=\"2020-01-02\"",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let by_an_agent = json!({ "task_id": "T001", "status": "done", "category": "Later" });
    structured(&desk.call("todo", "update_task", by_an_agent).await);
    let this = json!({ "task_id": "T001" });
    let fields = [
        ("argument/title", "Write it all"),
        ("before/title", "Write it"),
        ("argument/status", "todo"),
        ("before/status", "todo"),
        ("argument/category", "SPEC"),
        ("before/category", "SPEC"),
        ("argument/due", "2020-01-02"),
        ("before/due", "2020-01-02"),
    ];
    let saved = press(&visitor, path, "update_task", this.clone(), &fields).await;
    assert!(saved.contains("- [x] Write it all #T001"), "{saved}");
    let tasks = text(&desk, "task.md");
    let later = tasks.split("## Later").nth(1).unwrap();
    assert!(later.contains("Write it all #T001"), "{tasks}");
    // Nothing was changed.
    let same = press(&visitor, path, "update_task", this, &fields[2..]).await;
    assert!(same.contains("NOTHING_CHANGED"), "{same}");
    assert_eq!(text(&desk, "task.md"), tasks);
}

#[tokio::test]
async fn contexts_and_adrs_are_edited_with_a_preview() {
    let desk = desk_with("", TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let write = json!({ "task_id": "T001", "content": "## Plan\n\n- <b>one</b>\n" });
    structured(&desk.call("todo", "update_context", write).await);
    let task = visitor.page("/console/todo?task=T001").await.text();
    assert!(
        task.contains("<h4>Plan</h4>") && task.contains("&lt;b&gt;one"),
        "{task}"
    );
    let path = "/console/todo?task=T001&edit=1";
    let form = visitor.page(path).await.text();
    let before = text(&desk, "context/T001.md");
    assert!(form.contains("## Plan\n\n- &lt;b&gt;one"), "{form}");
    let fixed = json!({ "task_id": "T001", "base": base(&form) });
    let content = ("lines/content", "# Context for T001\r\n\r\n## New <i>\r\n");
    let place = ("place", "1-0");
    let preview = [content, place, ("preview", "yes")];
    let seen = press(&visitor, path, "edit_document", fixed.clone(), &preview).await;
    assert!(seen.contains("<h4>New &lt;i&gt;</h4>"), "{seen}");
    assert!(seen.contains("Nothing is saved yet."), "{seen}");
    assert_eq!(text(&desk, "context/T001.md"), before);
    let saved = press(
        &visitor,
        path,
        "edit_document",
        fixed.clone(),
        &[content, place],
    )
    .await;
    assert!(saved.contains("Done."), "{saved}");
    assert_eq!(
        text(&desk, "context/T001.md"),
        "# Context for T001\n\n## New <i>\n"
    );
    // It is not what was edited any more. What was entered stays.
    let again = [("lines/content", "mine"), place];
    let refused = press(&visitor, path, "edit_document", fixed, &again).await;
    assert!(refused.contains("EDIT_CONFLICT"), "{refused}");
    let area = between(&refused, "<textarea", "</textarea>");
    assert!(area.ends_with("mine"), "{area}");
    assert_eq!(
        text(&desk, "context/T001.md"),
        "# Context for T001\n\n## New <i>\n"
    );

    let adr = json!({ "title": "Use Rust", "context": "c", "decision": "d", "rationale": "r" });
    structured(&desk.call("todo", "create_adr", adr).await);
    let path = "/console/todo?adr=1&edit=1";
    let form = visitor.page(path).await.text();
    let old = text(&desk, "adr/adr-001-use-rust.md");
    let new = old.replace("## Decision\n\nd\n", "## Decision\n\nRust it is.\n");
    let fixed = json!({ "adr_number": 1, "base": base(&form) });
    let fields = [("lines/content", new.as_str())];
    press(&visitor, path, "edit_document", fixed, &fields).await;
    assert_eq!(text(&desk, "adr/adr-001-use-rust.md"), new);
    let status = [
        ("argument/status", "Accepted"),
        ("argument/reason", "agreed"),
    ];
    let fixed = json!({ "adr_number": 1 });
    let decided = press(
        &visitor,
        "/console/todo?adr=1",
        "update_adr_status",
        fixed,
        &status,
    )
    .await;
    assert!(
        decided.contains("Accepted: agreed") && decided.contains("Rust it is."),
        "{decided}"
    );
}

/// Whoever edits a text is told that it changed, however often they look at a preview.
#[tokio::test]
async fn a_preview_takes_up_nothing_that_was_written_meanwhile() {
    let desk = desk_with("", TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let path = "/console/todo?task=T001&edit=1";
    let form = visitor.page(path).await.text();
    let write = json!({ "task_id": "T001", "content": "theirs" });
    structured(&desk.call("todo", "update_context", write).await);
    let theirs = text(&desk, "context/T001.md");
    let mine = [("lines/content", "mine"), ("place", "1-0")];
    let preview = [mine[0], mine[1], ("preview", "yes")];
    let mut shown = form.clone();
    for entered in [&preview[..], &mine, &mine] {
        let fixed = json!({ "task_id": "T001", "base": base(&shown) });
        shown = press(&visitor, path, "edit_document", fixed, entered).await;
        assert_eq!(base(&shown), base(&form), "{shown}");
        assert_eq!(text(&desk, "context/T001.md"), theirs);
    }
    assert!(shown.contains("EDIT_CONFLICT"), "{shown}");
    let fixed = json!({ "task_id": "T001", "base": base(&visitor.page(path).await.text()) });
    press(&visitor, path, "edit_document", fixed, &mine).await;
    assert_eq!(text(&desk, "context/T001.md"), "mine\n");
}

#[tokio::test]
async fn a_text_that_is_too_long_to_be_saved_is_not_edited() {
    let desk = desk_with("", TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let contexts = desk.place.path().join(".todo/context");
    fs::create_dir(&contexts).unwrap();
    for (length, can_be_edited) in [(100_000, true), (100_001, false)] {
        fs::write(contexts.join("T001.md"), "字".repeat(length)).unwrap();
        let page = visitor.page("/console/todo?task=T001&edit=1").await.text();
        let has_form = page.contains("name=\"lines/content\"");
        assert_eq!(has_form, can_be_edited, "{length}");
    }
}

/// Agents have `update_context` and `update_adr_status`; whoever denies these denies
/// people the same.
#[tokio::test]
async fn only_the_page_edits_whole_documents_and_only_where_updates_are_allowed() {
    let denied = "[approval]\ntools = { \"todo.update_context\" = \"deny\" }\n";
    let desk = desk_with(denied, TASKS).await;
    let visitor = Visitor::enter(&desk).await;
    let path = "/console/todo?task=T001&edit=1";
    let form = visitor.page(path).await.text();
    let fixed = json!({ "task_id": "T001", "base": base(&form), "content": "x" });
    let params = json!({ "name": "edit_document", "arguments": fixed });
    let answer = desk.rpc("todo", "tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let list = desk.rpc("todo", "tools/list", json!({})).await;
    assert!(!list.to_string().contains("edit_document"), "{list}");
    let refused = press(&visitor, path, "edit_document", fixed, &[]).await;
    assert!(refused.contains("DENIED_BY_POLICY"), "{refused}");
    assert!(!desk.place.path().join(".todo/context/T001.md").exists());
}

#[tokio::test]
async fn hostile_texts_on_the_board_are_harmless() {
    let line = |length: usize| hostile(length).replace('\n', " ");
    let tasks = format!(
        "## {}\n- [ ] {} #T001\n  - [ ] {}\n",
        line(300),
        line(10_000),
        line(300)
    );
    let desk = desk_with("", &tasks).await;
    let visitor = Visitor::enter(&desk).await;
    let adr = desk.place.path().join(".todo/adr");
    fs::create_dir(&adr).unwrap();
    fs::write(
        adr.join("0001-x.md"),
        format!("# {}\n\n{}\n", line(300), hostile(10_000)),
    )
    .unwrap();
    let context = desk.place.path().join(".todo/context");
    fs::create_dir(&context).unwrap();
    fs::write(context.join("T001.md"), hostile(10_000)).unwrap();
    for path in [BOARD, "/console/todo?task=T001", "/console/todo?adr=1"] {
        assert_harmless(&visitor, path).await;
    }
    for odd in [
        "task=..%2Fx",
        "adr=99999",
        "category=%3Csvg%20onload=alert(1)%3E",
        "adr=2",
    ] {
        let page = visitor.page(&format!("{BOARD}?{odd}")).await;
        assert_eq!(page.status, 200, "{odd}");
        assert!(!page.text().contains("<svg onload"), "{odd}");
    }
}

#[tokio::test]
async fn a_board_of_999_tasks_shows_the_rest_on_request() {
    let mut tasks = String::from("# Task\n");
    for id in 1..=999 {
        if id % 100 == 1 {
            tasks.push_str(&format!("\n## Category {id}\n"));
        }
        let mark = ["[ ]", "[-]", "[x]"][id % 3];
        tasks.push_str(&format!(
            "- {mark} A task with some words #T{id:03} due:2026-12-01\n"
        ));
    }
    let desk = desk_with("", &tasks).await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page(BOARD).await.text();
    assert!(page.contains("233 more"), "{page}");
    let page = visitor.page("/console/todo?all=1").await.text();
    assert_eq!(page.matches("id=\"card-").count(), 999);
}
