//! Context files written by agents and people.

use serde_json::{Value, json};

use crate::project::{TEN_O_CLOCK, TestProject};

#[tokio::test]
async fn sections_are_replaced_and_added_to() {
    let project = TestProject::bare();
    project.task("a").await;
    let write = async |content: &str, append: bool, section: Option<&str>| -> Value {
        let arguments =
            json!({"task_id": "T001", "content": content, "append": append, "section": section});
        project.ok("update_context", arguments).await
    };
    let better = project
        .text("context/T001.md")
        .replace("\na\n", "\nbetter\n");
    write("better", false, Some("Task Description")).await;
    assert_eq!(project.text("context/T001.md"), better);
    write("first", true, Some("Notes")).await;
    write("second", true, Some("notes")).await;
    write("tail", true, None).await;
    let wanted = format!("{better}\n## Notes\n\nfirst\n\nsecond\n\ntail\n");
    assert_eq!(project.text("context/T001.md"), wanted);
    let read = project.ok("get_context", json!({"task_id": "T001"})).await;
    assert_eq!(read["content"], wanted.as_str());
    assert_eq!(read["file_path"], ".todo/context/T001.md");
    write("all new", false, None).await;
    let replaced = format!("# Context for T001\n\nall new\n\n## Created\n\n{TEN_O_CLOCK}\n");
    assert_eq!(project.text("context/T001.md"), replaced);
}

#[tokio::test]
async fn editing_a_section_leaves_all_other_bytes_unchanged() {
    let project = TestProject::with("- [ ] a #T001\n");
    let text = "\u{feff}# My notes\r\n\r\n```\r\n## Notes\r\n```\r\n## Notes\r\nold\r\n\r\n\r\n## Rest\r\n\tx";
    project.put("context/T001.md", text);
    let arguments = json!({"task_id": "T001", "content": "a\nb", "section": "Notes"});
    project.ok("update_context", arguments.clone()).await;
    assert_eq!(
        project.text("context/T001.md"),
        text.replace("old", "a\r\nb")
    );
    let modified = || {
        let metadata = std::fs::metadata(project.path("context/T001.md"));
        metadata.unwrap().modified().unwrap()
    };
    let before = modified();
    project.ok("update_context", arguments).await;
    assert_eq!(before, modified(), "what is the same is not written again");
}

#[tokio::test]
async fn a_fence_left_open_does_not_swallow_the_rest() {
    let project = TestProject::bare();
    project.task("a").await;
    let open = json!({"task_id": "T001", "content": "```\nx", "section": "Task Description"});
    let code = project.code("update_context", open).await;
    assert_eq!(code, "INVALID_ARGUMENT");
}
