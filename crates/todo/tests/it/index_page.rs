//! `index.md` is kept current between its markers.

use serde_json::json;

use crate::project::TestProject;

#[tokio::test]
async fn the_index_page_counts_tasks_and_lists_decisions() {
    let project = TestProject::bare();
    for category in ["SPEC", "Front end"] {
        let new = json!({"title": "a", "category": category});
        project.ok("create_task", new).await;
    }
    project.set_status("T002", "done").await;
    project.adr("Use | Rust").await;
    let page = project.text("index.md");
    for part in [
        "[task.md](task.md)",
        "| [SPEC](task.md#spec) | 1 | 0 | 0 | 0 |",
        "| [Front end](task.md#front-end) | 0 | 0 | 1 | 0 |",
        "| 001 | [Use \\| Rust](<adr/adr-001-use-rust.md>) | Proposed |",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[tokio::test]
async fn text_outside_the_markers_stays() {
    let project = TestProject::bare();
    project.put("index.md", "# Our project\r\n\r\nHello.\r\n");
    project.task("a").await;
    let page = project.text("index.md");
    assert!(
        page.starts_with("# Our project\r\n\r\nHello.\r\n\r\n<!-- todo:begin"),
        "{page}"
    );
    project.put("index.md", page.clone() + "\r\nBelow.\r\n");
    project.task("b").await;
    let now = project.text("index.md");
    assert!(
        now.ends_with("<!-- todo:end -->\r\n\r\nBelow.\r\n"),
        "{now}"
    );
    assert!(now.contains("| [Default](task.md#default) | 2 |"));
    // A page with broken markers is left alone, and the task is created
    // anyway.
    project.put("index.md", "<!-- todo:begin -->\n");
    project.task("c").await;
    assert_eq!(project.text("index.md"), "<!-- todo:begin -->\n");
    project.put("index.md", b"\xff");
    project.task("d").await;
    assert_eq!(std::fs::read(project.path("index.md")).unwrap(), b"\xff");
}

#[tokio::test]
async fn the_index_page_can_be_disabled() {
    let project = TestProject::bare();
    let settings = todo::Settings {
        keep_index: false,
        ..crate::project::settings(&project.root)
    };
    let mut quiet = TestProject::at(&project.root);
    quiet.counter = todo::counter(settings);
    quiet.task("a").await;
    assert!(!quiet.exists("index.md"));
}
