//! The files under the seed's addresses.

use kit::resource::{Body, Question, Reference};
use serde_json::json;

use crate::yard::Yard;

async fn read(yard: &Yard, uri: &str) -> Option<String> {
    let shelf = yard.counter.resources.as_ref().unwrap();
    let contents = shelf.read(&yard.context, uri).await.unwrap()?;
    assert_eq!(contents.mime_type, "text/markdown");
    match contents.body {
        Body::Text(text) => Some(text),
        Body::Blob(_) => panic!("text was expected"),
    }
}

#[tokio::test]
async fn files_are_read_as_they_are() {
    let yard = Yard::bare();
    assert_eq!(read(&yard, "file://.todo/task.md").await, None);
    yard.task("a").await;
    yard.adr("認証").await;
    for name in [
        "task.md",
        "index.md",
        "context/T001.md",
        "adr/adr-001-認証.md",
    ] {
        let text = read(&yard, &format!("file://.todo/{name}")).await;
        assert_eq!(text, Some(yard.text(name)), "{name}");
    }
    let shelf = yard.counter.resources.as_ref().unwrap();
    let page = shelf.list(&yard.context, None).await.unwrap();
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
    assert_eq!(
        read(&yard, uris[2]).await,
        Some(yard.text("adr/adr-001-認証.md"))
    );
    assert_eq!(read(&yard, "file://.todo/context/T002.md").await, None);
    assert_eq!(read(&yard, "file://.todo/adr/../task.md").await, None);
    let templates: Vec<&str> = shelf.templates().iter().map(|t| t.uri_template).collect();
    assert_eq!(
        templates,
        [
            "file://.todo/adr/{adr_id}.md",
            "file://.todo/context/{task_id}.md"
        ]
    );
}

#[tokio::test]
async fn names_are_completed() {
    let yard = Yard::bare();
    for title in ["Use Rust", "Use SQLite", "認証"] {
        yard.adr(title).await;
        yard.task(title).await;
    }
    for (template, argument, typed, wanted) in [
        ("file://.todo/adr/{adr_id}.md", "adr_id", "adr-00", 3),
        ("file://.todo/adr/{adr_id}.md", "adr_id", "use", 2),
        ("file://.todo/adr/{adr_id}.md", "adr_id", "認", 1),
        ("file://.todo/context/{task_id}.md", "task_id", "t00", 3),
        ("file://.todo/context/{task_id}.md", "adr_id", "", 0),
        ("other", "task_id", "", 0),
    ] {
        let question = Question {
            about: Reference::Template(template.into()),
            argument: argument.into(),
            typed: typed.into(),
            settled: Vec::new(),
        };
        let shelf = yard.counter.resources.as_ref().unwrap();
        let values = shelf.complete(&yard.context, &question).await.unwrap();
        assert_eq!(values.len(), wanted, "{typed}: {values:?}");
    }
}

#[tokio::test]
async fn a_call_says_what_it_changed() {
    let yard = Yard::bare();
    yard.task("a").await;
    let changes = format!("{:?}", yard.context.take_changes());
    for part in [
        "file://.todo/task.md",
        "file://.todo/context/T001.md",
        "file://.todo/index.md",
        "ResourceList",
    ] {
        assert!(changes.contains(part), "{part} in {changes}");
    }
    yard.ok("list_tasks", json!({})).await;
    assert!(yard.context.take_changes().is_empty());
    yard.refused("update_task", json!({"task_id": "T009", "status": "done"}))
        .await;
    assert!(yard.context.take_changes().is_empty());
}
