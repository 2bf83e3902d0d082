//! `index.md`: kept current between its markers.

use serde_json::json;

use crate::yard::Yard;

#[tokio::test]
async fn counts_decisions_and_links() {
    let yard = Yard::bare();
    yard.ok("create_task", json!({"title": "a", "category": "SPEC"}))
        .await;
    yard.ok(
        "create_task",
        json!({"title": "b", "category": "Front end"}),
    )
    .await;
    yard.ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
    yard.adr("Use | Rust").await;
    let page = yard.text("index.md");
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
async fn what_people_write_around_it_stays() {
    let yard = Yard::bare();
    yard.put("index.md", "# Our project\r\n\r\nHello.\r\n");
    yard.task("a").await;
    let page = yard.text("index.md");
    assert!(
        page.starts_with("# Our project\r\n\r\nHello.\r\n\r\n<!-- todo:begin"),
        "{page}"
    );
    yard.put("index.md", page.clone() + "\r\nBelow.\r\n");
    yard.task("b").await;
    let now = yard.text("index.md");
    assert!(
        now.ends_with("<!-- todo:end -->\r\n\r\nBelow.\r\n"),
        "{now}"
    );
    assert!(now.contains("| [Default](task.md#default) | 2 |"));
    // Markers that are not a pair are left alone, and the task is made anyway.
    yard.put("index.md", "<!-- todo:begin -->\n");
    yard.task("c").await;
    assert_eq!(yard.text("index.md"), "<!-- todo:begin -->\n");
    yard.put("index.md", b"\xff");
    yard.task("d").await;
    assert_eq!(std::fs::read(yard.path("index.md")).unwrap(), b"\xff");
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let yard = Yard::bare();
    let settings = todo::Settings {
        keep_index: false,
        ..crate::yard::settings(&yard.root)
    };
    let mut quiet = Yard::at(&yard.root);
    quiet.counter = todo::counter(settings);
    quiet.task("a").await;
    assert!(!quiet.exists("index.md"));
}
