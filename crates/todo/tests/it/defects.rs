//! Defects of the seed author's own program: it lost text, reordered categories
//! and overwrote unreadable files.

use serde_json::json;

use crate::project::TestProject;

const LIVED_IN: &str = "\
---
owner: みんな
---
# Task

読む前に [index.md](index.md) を。  \nHard break above.

## Zebra
Prose before the list.

- [ ] 要件定義を作成 #T001
  - [ ] エラーハンドリング仕様確認
    details
  - [x] レート制限設計完了
- [ ] nameless, added by a person

<!-- - [ ] hidden #T900 -->

## Apple
* [-] Reactコンポーネントを検討 #T002 due:2026-12-01

```md
- [ ] an example #T901
```

| a | b |
|---|---|
| 1 | 2 |

## Mango ##
1. [X] numbered #T003

Last words without a line break";

#[tokio::test]
async fn no_text_is_lost() {
    let project = TestProject::with(LIVED_IN);
    project
        .ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
    assert_eq!(
        project.tasks(),
        LIVED_IN.replace("* [-] React", "* [x] React")
    );
    project
        .ok(
            "update_task",
            json!({"task_id": "T002", "status": "in_progress"}),
        )
        .await;
    assert_eq!(project.tasks(), LIVED_IN);
    let made = project
        .ok("create_task", json!({"title": "x", "category": "Apple"}))
        .await;
    let id = made["task_id"].as_str().unwrap();
    let line = format!("due:2026-12-01\n* [ ] x #{id}\n");
    assert_eq!(project.tasks(), LIVED_IN.replace("due:2026-12-01\n", &line));
    project.ok("delete_task", json!({"task_id": id})).await;
    assert_eq!(project.tasks(), LIVED_IN);
}

#[tokio::test]
async fn categories_keep_their_order_and_their_tasks() {
    let project = TestProject::with(LIVED_IN);
    project
        .ok("create_task", json!({"title": "new", "category": "Banana"}))
        .await;
    let text = project.tasks();
    let places: Vec<usize> = ["## Zebra", "## Apple", "## Mango", "## Banana"]
        .iter()
        .map(|h| text.find(h).unwrap())
        .collect();
    assert!(places.is_sorted());
    assert!(text.starts_with(LIVED_IN));
    assert!(!text.ends_with('\n'));
    let listed = project.ok("list_tasks", json!({})).await;
    let categories: Vec<&str> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["category"].as_str().unwrap())
        .collect();
    assert_eq!(categories, ["Zebra", "Zebra", "Apple", "Mango", "Banana"]);
}

#[tokio::test]
async fn files_that_cannot_be_read_are_not_overwritten() {
    let utf16: Vec<u8> = "- [ ] a #T001"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let cases: [&[u8]; 4] = [
        b"- [ ] caf\xe9 #T001\n",
        &[&[0xff, 0xfe], utf16.as_slice()].concat(),
        b"- [ ] a #T001\0\n",
        b"<<<<<<< HEAD\n- [ ] a #T001\n=======\n- [x] a #T001\n>>>>>>> other\n",
    ];
    for bytes in cases {
        let project = TestProject::bare();
        project.put("task.md", bytes);
        for (tool, arguments) in [
            ("list_tasks", json!({})),
            ("create_task", json!({"title": "x"})),
            ("update_task", json!({"task_id": "T001", "status": "done"})),
            ("delete_task", json!({"task_id": "T001"})),
            ("search_tasks", json!({"query": "a"})),
        ] {
            let error = project.refused(tool, arguments).await;
            assert_eq!(error.code, "FILE_READ_ERROR", "{tool}");
            assert_eq!(error.details.unwrap()["field"], "file");
        }
        assert_eq!(std::fs::read(project.path("task.md")).unwrap(), bytes);
    }
}

#[tokio::test]
async fn contexts_and_records_that_cannot_be_read_are_not_overwritten() {
    let project = TestProject::with("- [ ] a #T001\n");
    project.put("context/T001.md", b"\xff\xfe broken");
    project.put("adr/adr-001-x.md", b"\xff\xfe broken");
    for (tool, arguments) in [
        ("get_context", json!({"task_id": "T001"})),
        ("update_context", json!({"task_id": "T001", "content": "x"})),
        (
            "update_context",
            json!({"task_id": "T001", "content": "x", "append": true}),
        ),
        (
            "update_adr_status",
            json!({"adr_number": 1, "status": "Accepted"}),
        ),
        ("get_adr", json!({"adr_number": 1})),
        ("list_adrs", json!({})),
    ] {
        assert_eq!(
            project.code(tool, arguments).await,
            "FILE_READ_ERROR",
            "{tool}"
        );
    }
    for name in ["context/T001.md", "adr/adr-001-x.md"] {
        assert_eq!(
            std::fs::read(project.path(name)).unwrap(),
            b"\xff\xfe broken"
        );
    }
}

#[tokio::test]
async fn a_directory_in_place_of_a_file_is_an_error() {
    let project = TestProject::bare();
    std::fs::create_dir_all(project.path("task.md")).unwrap();
    assert_eq!(
        project.code("list_tasks", json!({})).await,
        "FILE_READ_ERROR"
    );
    assert_eq!(
        project.code("create_task", json!({"title": "x"})).await,
        "FILE_READ_ERROR"
    );
}
