//! The files as resources.

use kit::resource::{Body, CompletionQuestion, Reference};
use serde_json::json;

use crate::project::TestProject;

#[tokio::test]
async fn resources_are_the_files_unchanged() {
    let project = TestProject::bare();
    assert_eq!(project.read("file://.todo/task.md").await, None);
    project.task("a").await;
    project.adr("認証").await;
    for name in [
        "task.md",
        "index.md",
        "context/T001.md",
        "adr/adr-001-認証.md",
    ] {
        let uri = format!("file://.todo/{name}");
        let resources = project.counter.resources.as_ref().unwrap();
        let contents = resources.read(&project.context, &uri).await.unwrap();
        let contents = contents.unwrap();
        assert_eq!(contents.mime_type, "text/markdown");
        assert!(
            matches!(contents.body, Body::Text(text) if text == project.text(name)),
            "{name}"
        );
    }
    let resources = project.counter.resources.as_ref().unwrap();
    let page = resources.list(&project.context, None).await.unwrap();
    let uris: Vec<&str> = page.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(
        uris,
        [
            "file://.todo/index.md",
            "file://.todo/task.md",
            "file://.todo/adr/adr-001-%E8%AA%8D%E8%A8%BC.md",
            "file://.todo/context/T001.md"
        ]
    );
    let encoded = project.read(uris[2]).await.unwrap();
    assert_eq!(encoded, project.text("adr/adr-001-認証.md"));
    for name in ["context/T002.md", "adr/../task.md"] {
        assert_eq!(project.read(&format!("file://.todo/{name}")).await, None);
    }
    let templates = resources.templates();
    let templates: Vec<&str> = templates.iter().map(|it| it.uri_template).collect();
    assert_eq!(
        templates,
        [
            "file://.todo/adr/{adr_id}.md",
            "file://.todo/context/{task_id}.md"
        ]
    );
}

#[tokio::test]
async fn file_names_are_completed() {
    let project = TestProject::bare();
    for title in ["Use Rust", "Use SQLite", "認証"] {
        project.adr(title).await;
        project.task(title).await;
    }
    for (template, argument, typed, wanted) in [
        ("file://.todo/adr/{adr_id}.md", "adr_id", "adr-00", 3),
        ("file://.todo/adr/{adr_id}.md", "adr_id", "use", 2),
        ("file://.todo/adr/{adr_id}.md", "adr_id", "認", 1),
        ("file://.todo/context/{task_id}.md", "task_id", "t00", 3),
        ("file://.todo/context/{task_id}.md", "adr_id", "", 0),
        ("other", "task_id", "", 0),
    ] {
        let question = CompletionQuestion {
            about: Reference::Template(template.into()),
            argument: argument.into(),
            typed: typed.into(),
            settled: Vec::new(),
        };
        let resources = project.counter.resources.as_ref().unwrap();
        let values = resources
            .complete(&project.context, &question)
            .await
            .unwrap();
        assert_eq!(values.len(), wanted, "{typed}: {values:?}");
    }
}

#[tokio::test]
async fn a_call_announces_the_resources_that_it_changed() {
    let project = TestProject::bare();
    project.task("a").await;
    let changes = format!("{:?}", project.context.take_changes());
    for part in [
        "file://.todo/task.md",
        "file://.todo/context/T001.md",
        "file://.todo/index.md",
        "ResourceList",
    ] {
        assert!(changes.contains(part), "{part} in {changes}");
    }
    project.list().await;
    assert!(project.context.take_changes().is_empty());
    let change = json!({"task_id": "T009", "status": "done"});
    project.refused("update_task", change).await;
    assert!(project.context.take_changes().is_empty());
}
