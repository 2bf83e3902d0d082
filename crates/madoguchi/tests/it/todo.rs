//! The todo counter through the real program, while a person edits the same
//! files.

mod clients;

use std::{fs, path::PathBuf, time::Duration};

use serde_json::{Value, json};

use crate::harness::{LEGACY, Pipe, Place, modern, plain, refused, result, structured};

/// One agent's process on the project at `place`.
struct Agent {
    pipe: Pipe,
    id: u64,
}

impl Agent {
    fn start(place: &Place) -> Self {
        let mut command = place.command();
        command.args(["stdio", "todo", "--root"]).arg(root(place));
        Self {
            pipe: Pipe::start(&mut command),
            id: 0,
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        let message = self.pipe.request(&modern(self.id, "tools/call", params));
        result(&message).clone()
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        structured(&self.call(tool, arguments)).clone()
    }

    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value, code: &str) -> Value {
        refused(&self.call(tool, arguments), code).clone()
    }
}

fn root(place: &Place) -> PathBuf {
    place.path().join("project")
}

fn project() -> Place {
    let place = Place::new();
    fs::create_dir(root(&place)).unwrap();
    place
}

fn task_file(place: &Place) -> PathBuf {
    root(place).join(".todo/task.md")
}

/// A file written by a person, with everything that a formatter would change.
const BY_HAND: &str = "\u{feff}# Task\r\n\r\nSome prose,   oddly spaced.\r\n\r\n## SPEC\r\n\
    - [ ] 要件定義を作成 #T001\r\n  - [ ] エラーハンドリング仕様確認\r\n  - [x] レート制限設計完了\r\n\
    * [X] starred #T007 with words after it\r\n\r\n<!-- - [ ] not a task #T900 -->\r\n\
    ```\r\n- [ ] code #T901\r\n```\r\n\r\n## Frontend\r\n- [-] Reactコンポーネントを検討 #T002\r\n\
    \t- [ ] a tab\r\n- [ ] no id yet";

#[tokio::test]
async fn a_call_changes_nothing_else_in_the_file() {
    let place = project();
    fs::create_dir(root(&place).join(".todo")).unwrap();
    fs::write(task_file(&place), BY_HAND).unwrap();
    let mut agent = Agent::start(&place);
    let list = agent.ok("list_tasks", json!({}));
    let ids: Vec<&str> = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|task| task["task_id"].as_str())
        .collect();
    // The item without an id is listed with the id that is promised to it.
    assert_eq!(ids[..3], ["T001", "T007", "T002"]);
    assert_eq!(list["tasks"][3]["title"], "no id yet");
    assert_eq!(
        fs::read_to_string(task_file(&place)).unwrap(),
        BY_HAND,
        "reading changes nothing"
    );

    agent.ok(
        "update_task",
        json!({ "task_id": "T002", "status": "done" }),
    );
    let wanted = BY_HAND.replace("- [-] React", "- [x] React");
    assert_eq!(fs::read_to_string(task_file(&place)).unwrap(), wanted);

    // A person saves by renaming, as editors do. The next call keeps that change.
    let edited = wanted.replace("Some prose", "Some other prose");
    let temporary = root(&place).join(".todo/task.md~");
    fs::write(&temporary, &edited).unwrap();
    fs::rename(&temporary, task_file(&place)).unwrap();
    agent.ok(
        "update_task",
        json!({ "task_id": "T001", "title": "要件定義" }),
    );
    let wanted = edited.replace("要件定義を作成 #T001", "要件定義 #T001");
    assert_eq!(fs::read_to_string(task_file(&place)).unwrap(), wanted);

    agent.ok("undo", json!({}));
    assert_eq!(fs::read_to_string(task_file(&place)).unwrap(), edited);
}

#[tokio::test]
async fn every_tool_of_the_seed_works() {
    let place = project();
    let mut agent = Agent::start(&place);
    let created = agent.ok(
        "create_task",
        json!({ "title": "書く", "category": "SPEC", "description": "まず調べる", "subtasks": ["一", "二"] }),
    );
    assert_eq!(created["task_id"], "T001");
    assert!(
        root(&place)
            .join(created["file_path"].as_str().unwrap())
            .exists(),
        "{created}"
    );
    let second = agent.ok(
        "create_task",
        json!({ "title": "Second", "category": "SPEC" }),
    );
    assert_eq!(second["task_id"], "T002");
    let moved = agent.ok(
        "reorder_task",
        json!({ "task_id": "T002", "position": "first" }),
    );
    assert_eq!(
        (&moved["old_position"], &moved["new_position"]),
        (&json!(2), &json!(1))
    );
    let updated = agent.ok(
        "update_task",
        json!({ "task_id": "T001", "status": "in_progress" }),
    );
    assert_eq!(updated["updated_fields"], json!(["status"]));
    let listed = agent.ok("list_tasks", json!({ "status": "in_progress" }));
    assert_eq!(listed["total_count"], 1);
    assert_eq!(listed["tasks"][0]["subtasks_count"], 2);
    let found = agent.ok(
        "search_tasks",
        json!({ "query": "かく", "search_in": ["title", "context"] }),
    );
    assert!(found["total_matches"].is_u64());
    agent.ok(
        "update_context",
        json!({ "task_id": "T001", "content": "Ｒｕｓｔで書く", "append": true }),
    );
    contexts_and_decisions_work(&mut agent);
    let deleted = agent.ok("delete_task", json!({ "task_id": "T001" }));
    assert!(
        !root(&place).join(".todo/context/T001.md").exists(),
        "{deleted}"
    );
    let third = agent.ok("create_task", json!({ "title": "Third" }));
    assert_eq!(
        third["task_id"], "T003",
        "a number is not used twice while others are free"
    );
}

/// Of the task T001, whose context says something of Rust.
fn contexts_and_decisions_work(agent: &mut Agent) {
    let context = agent.ok("get_context", json!({ "task_id": "T001" }));
    assert!(
        context["content"]
            .as_str()
            .unwrap()
            .starts_with("# Context for T001"),
        "{context}"
    );
    let found = agent.ok("search_contexts", json!({ "query": "rust" }));
    assert_eq!(found["results"][0]["task_id"], "T001");
    let adr = agent.ok(
        "create_adr",
        json!({ "title": "Use Rust", "context": "c", "decision": "d", "rationale": "r" }),
    );
    assert!(
        adr["adr_id"].as_str().unwrap().starts_with("adr-001-"),
        "{adr}"
    );
    let changed = agent.ok(
        "update_adr_status",
        json!({ "adr_number": 1, "status": "Accepted" }),
    );
    assert_eq!(
        (&changed["old_status"], &changed["new_status"]),
        (&json!("Proposed"), &json!("Accepted"))
    );
    assert_eq!(
        agent.ok("list_adrs", json!({}))["adrs"][0]["status"],
        "Accepted"
    );
}

#[tokio::test]
async fn every_error_has_its_code_and_names_field_and_value() {
    let place = project();
    let mut agent = Agent::start(&place);
    agent.ok("create_task", json!({ "title": "One" }));
    let error = agent.refused(
        "get_context",
        json!({ "task_id": "one" }),
        "INVALID_TASK_ID",
    );
    assert_eq!(
        (&error["details"]["field"], &error["details"]["value"]),
        (&json!("task_id"), &json!("one"))
    );
    let long = "x".repeat(10_001);
    for (tool, arguments, code) in [
        (
            "update_task",
            json!({ "task_id": "T999", "title": "x" }),
            "TASK_NOT_FOUND",
        ),
        (
            "update_task",
            json!({ "task_id": "T001", "status": "maybe" }),
            "INVALID_STATUS",
        ),
        (
            "create_task",
            json!({ "title": "x", "category": "a\nb" }),
            "INVALID_CATEGORY",
        ),
        (
            "update_context",
            json!({ "task_id": "T001", "content": long }),
            "CONTENT_TOO_LONG",
        ),
        (
            "update_adr_status",
            json!({ "adr_number": 1000, "status": "Accepted" }),
            "INVALID_ADR_NUMBER",
        ),
        (
            "update_adr_status",
            json!({ "adr_number": 9, "status": "Accepted" }),
            "ADR_NOT_FOUND",
        ),
        (
            "reorder_task",
            json!({ "task_id": "T001", "position": "before", "reference_task_id": "T555" }),
            "REFERENCE_TASK_NOT_FOUND",
        ),
        (
            "reorder_task",
            json!({ "task_id": "T001", "position": "before" }),
            "INVALID_POSITION",
        ),
    ] {
        agent.refused(tool, arguments, code);
    }

    // An unreadable file is never overwritten.
    let broken: &[u8] = b"# Task\n\xff\xfe\n";
    fs::write(task_file(&place), broken).unwrap();
    agent.refused("create_task", json!({ "title": "x" }), "FILE_READ_ERROR");
    agent.refused("list_tasks", json!({}), "FILE_READ_ERROR");
    assert_eq!(fs::read(task_file(&place)).unwrap(), broken);
}

#[tokio::test]
async fn several_processes_issue_distinct_numbers_and_lose_nothing() {
    let place = project();
    let work: Vec<_> = (0..4)
        .map(|process| {
            let place = place.clone();
            std::thread::spawn(move || {
                let mut agent = Agent::start(&place);
                (0..15)
                    .map(|n| {
                        let title = format!("process {process} task {n}");
                        agent.ok("create_task", json!({ "title": title }))["task_id"].to_string()
                    })
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let ids: std::collections::BTreeSet<String> = work
        .into_iter()
        .flat_map(|work| work.join().unwrap())
        .collect();
    assert_eq!(ids.len(), 60);
    let list = Agent::start(&place).ok("list_tasks", json!({ "limit": 100 }));
    assert_eq!(list["total_count"], 60);
}

#[tokio::test]
async fn a_persons_save_is_announced_in_both_protocol_eras() {
    let place = project();
    let mut writer = Agent::start(&place);
    writer.ok("create_task", json!({ "title": "One" }));
    let uri = "file://.todo/task.md";
    let mut command = place.command();
    command.args(["stdio", "todo", "--root"]).arg(root(&place));

    let mut newer = Pipe::start(&mut command);
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    newer.send(&modern(9, "subscriptions/listen", filter));
    let acknowledged = newer.receive().unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let mut older = Pipe::with_handshake(&mut command, LEGACY);
    result(&older.request(&plain(2, "resources/subscribe", json!({ "uri": uri }))));
    // Both processes watch once they have answered a call.
    newer.send(&modern(10, "tools/list", json!({})));
    newer.receive();
    tokio::time::sleep(Duration::from_millis(500)).await;

    let text = fs::read_to_string(task_file(&place)).unwrap();
    fs::write(task_file(&place), text + "- [ ] by hand\n").unwrap();
    for pipe in [&mut newer, &mut older] {
        loop {
            let message = pipe.receive().unwrap();
            if message["method"] == "notifications/resources/updated" {
                assert_eq!(message["params"]["uri"], uri);
                break;
            }
        }
    }
    let read = newer.request(&modern(11, "resources/read", json!({ "uri": uri })));
    assert!(result(&read).to_string().contains("by hand"), "{read}");
}
