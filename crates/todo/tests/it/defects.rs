//! Defects of the seed author's own program: it lost text, reordered categories
//! and overwrote unreadable files.

use serde_json::json;

use crate::project::{READ_AND_WRITE, TestProject, column, rows};

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
    project.set_status("T002", "done").await;
    assert_eq!(
        project.tasks(),
        LIVED_IN.replace("* [-] React", "* [x] React")
    );
    project.set_status("T002", "in_progress").await;
    assert_eq!(project.tasks(), LIVED_IN);
    let new = json!({"title": "x", "category": "Apple"});
    let made = project.ok("create_task", new).await;
    let id = made["task_id"].as_str().unwrap();
    let line = format!("due:2026-12-01\n* [ ] x #{id}\n");
    assert_eq!(project.tasks(), LIVED_IN.replace("due:2026-12-01\n", &line));
    project.delete(id).await;
    assert_eq!(project.tasks(), LIVED_IN);
}

#[tokio::test]
async fn categories_keep_their_order_and_their_tasks() {
    let project = TestProject::with(LIVED_IN);
    let new = json!({"title": "new", "category": "Banana"});
    project.ok("create_task", new).await;
    let text = project.tasks();
    let places: Vec<usize> = ["## Zebra", "## Apple", "## Mango", "## Banana"]
        .iter()
        .map(|h| text.find(h).unwrap())
        .collect();
    assert!(places.is_sorted());
    assert!(text.starts_with(LIVED_IN));
    assert!(!text.ends_with('\n'));
    let categories = column(&project.list().await["tasks"], "category");
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
    let calls = r#"
list_tasks {}
create_task {"title": "x"}
update_task {"task_id": "T001", "status": "done"}
delete_task {"task_id": "T001"}
search_tasks {"query": "a"}
"#;
    for bytes in cases {
        let project = TestProject::bare();
        project.put("task.md", bytes);
        for ([tool], arguments) in rows(calls) {
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
    let names = ["context/T001.md", "adr/adr-001-x.md"];
    for name in names {
        project.put(name, b"\xff\xfe broken");
    }
    let calls = r#"
get_context {"task_id": "T001"}
update_context {"task_id": "T001", "content": "x"}
update_context {"task_id": "T001", "content": "x", "append": true}
update_adr_status {"adr_number": 1, "status": "Accepted"}
get_adr {"adr_number": 1}
list_adrs {}
"#;
    for ([tool], arguments) in rows(calls) {
        let code = project.code(tool, arguments).await;
        assert_eq!(code, "FILE_READ_ERROR", "{tool}");
    }
    for name in names {
        let bytes = std::fs::read(project.path(name)).unwrap();
        assert_eq!(bytes, b"\xff\xfe broken");
    }
}

#[tokio::test]
async fn a_directory_in_place_of_a_file_is_an_error() {
    let project = TestProject::bare();
    std::fs::create_dir_all(project.path("task.md")).unwrap();
    for ([tool], arguments) in rows(READ_AND_WRITE) {
        assert_eq!(project.code(tool, arguments).await, "FILE_READ_ERROR");
    }
}
