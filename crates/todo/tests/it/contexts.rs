//! Context files written by agents and people.

use serde_json::json;

use crate::project::TestProject;

#[tokio::test]
async fn sections_are_replaced_and_added_to() {
    let project = TestProject::bare();
    project.task("a").await;
    let made = project.text("context/T001.md");
    let write = |content: &str, append: bool, section: Option<&str>| json!({"task_id": "T001", "content": content, "append": append, "section": section});
    project
        .ok(
            "update_context",
            write("better", false, Some("Task Description")),
        )
        .await;
    assert_eq!(
        project.text("context/T001.md"),
        made.replace("\na\n", "\nbetter\n")
    );
    project
        .ok("update_context", write("first", true, Some("Notes")))
        .await;
    project
        .ok("update_context", write("second", true, Some("notes")))
        .await;
    project
        .ok("update_context", write("tail", true, None))
        .await;
    let wanted = format!(
        "{}\n## Notes\n\nfirst\n\nsecond\n\ntail\n",
        made.replace("\na\n", "\nbetter\n")
    );
    assert_eq!(project.text("context/T001.md"), wanted);
    let read = project.ok("get_context", json!({"task_id": "T001"})).await;
    assert_eq!(read["content"], wanted.as_str());
    assert_eq!(read["file_path"], ".todo/context/T001.md");
    project
        .ok("update_context", write("all new", false, None))
        .await;
    assert_eq!(
        project.text("context/T001.md"),
        "# Context for T001\n\nall new\n\n## Created\n\n2026-11-15T10:00:00+09:00\n"
    );
}

#[tokio::test]
async fn editing_a_section_leaves_all_other_bytes_unchanged() {
    let project = TestProject::with("- [ ] a #T001\n");
    let text = "\u{feff}# My notes\r\n\r\n```\r\n## Notes\r\n```\r\n## Notes\r\nold\r\n\r\n\r\n## Rest\r\n\tx";
    project.put("context/T001.md", text);
    project
        .ok(
            "update_context",
            json!({"task_id": "T001", "content": "a\nb", "section": "Notes"}),
        )
        .await;
    assert_eq!(
        project.text("context/T001.md"),
        text.replace("old", "a\r\nb")
    );
    let same = json!({"task_id": "T001", "content": "a\nb", "section": "Notes"});
    let before = std::fs::metadata(project.path("context/T001.md"))
        .unwrap()
        .modified()
        .unwrap();
    project.ok("update_context", same).await;
    let after = std::fs::metadata(project.path("context/T001.md"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after, "what is the same is not written again");
}

#[tokio::test]
async fn a_fence_left_open_does_not_swallow_the_rest() {
    let project = TestProject::bare();
    project.task("a").await;
    let open = json!({"task_id": "T001", "content": "```\nx", "section": "Task Description"});
    assert_eq!(
        project.code("update_context", open).await,
        "INVALID_ARGUMENT"
    );
}
