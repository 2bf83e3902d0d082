//! The todo counter through the real program, while a person edits the same
//! files.

mod clients;
mod refusals;

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

fn tasks(place: &Place) -> String {
    fs::read_to_string(task_file(place)).unwrap()
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
    for (at, id) in ["T001", "T007", "T002"].into_iter().enumerate() {
        assert_eq!(list["tasks"][at]["task_id"], id);
    }
    // The item without an id is listed with the id that is promised to it.
    assert_eq!(list["tasks"][3]["title"], "no id yet");
    assert_eq!(tasks(&place), BY_HAND, "reading changes nothing");

    let done = json!({ "task_id": "T002", "status": "done" });
    agent.ok("update_task", done);
    let wanted = BY_HAND.replace("- [-] React", "- [x] React");
    assert_eq!(tasks(&place), wanted);

    // A person saves by renaming, as editors do. The next call keeps that change.
    let edited = wanted.replace("Some prose", "Some other prose");
    let temporary = root(&place).join(".todo/task.md~");
    fs::write(&temporary, &edited).unwrap();
    fs::rename(&temporary, task_file(&place)).unwrap();
    let title = json!({ "task_id": "T001", "title": "要件定義" });
    agent.ok("update_task", title);
    let wanted = edited.replace("要件定義を作成 #T001", "要件定義 #T001");
    assert_eq!(tasks(&place), wanted);

    agent.ok("undo", json!({}));
    assert_eq!(tasks(&place), edited);
}

/// A call, and fields of its answer. Each line builds on those before it.
const EVERY_TOOL: &str = r#"
create_task { "title": "書く", "category": "SPEC", "subtasks": ["一", "二"] } => { "/task_id": "T001", "/file_path": ".todo/context/T001.md" }
create_task { "title": "Second", "category": "SPEC", "description": "まず調べる" } => { "/task_id": "T002" }
reorder_task { "task_id": "T002", "position": "first" } => { "/old_position": 2, "/new_position": 1 }
update_task { "task_id": "T001", "status": "in_progress" } => { "/updated_fields": ["status"] }
list_tasks { "status": "in_progress" } => { "/total_count": 1, "/tasks/0/subtasks_count": 2 }
search_tasks { "query": "書く", "search_in": ["title", "context"] } => { "/total_matches": 1 }
update_context { "task_id": "T001", "content": "Ｒｕｓｔで書く", "append": true } => { "/task_id": "T001" }
search_contexts { "query": "rust" } => { "/results/0/task_id": "T001" }
create_adr { "title": "Use Rust", "context": "c", "decision": "d", "rationale": "r" } => { "/adr_id": "adr-001-use-rust" }
update_adr_status { "adr_number": 1, "status": "Accepted" } => { "/old_status": "Proposed", "/new_status": "Accepted" }
list_adrs {} => { "/adrs/0/status": "Accepted" }
"#;

#[tokio::test]
async fn every_tool_of_the_seed_works() {
    let place = project();
    let mut agent = Agent::start(&place);
    for row in EVERY_TOOL.lines().filter(|row| !row.is_empty()) {
        let (call, wanted) = row.split_once(" => ").unwrap();
        let (tool, arguments) = call.split_once(' ').unwrap();
        let answer = agent.ok(tool, serde_json::from_str(arguments).unwrap());
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        for (field, value) in wanted.as_object().unwrap() {
            assert_eq!(answer.pointer(field), Some(value), "{tool}: {answer}");
        }
    }
    let file = root(&place).join(".todo/context/T001.md");
    let context = agent.ok("get_context", json!({ "task_id": "T001" }));
    assert_eq!(
        context["content"],
        fs::read_to_string(&file).unwrap().as_str()
    );
    assert!(
        context["content"]
            .as_str()
            .unwrap()
            .starts_with("# Context for T001")
    );
    let deleted = agent.ok("delete_task", json!({ "task_id": "T001" }));
    assert!(!file.exists(), "{deleted}");
    let third = agent.ok("create_task", json!({ "title": "Third" }));
    assert_eq!(
        third["task_id"], "T003",
        "a number is not used twice while others are free"
    );
}

#[tokio::test]
async fn every_error_has_its_code_and_names_field_and_value() {
    let place = project();
    let mut agent = Agent::start(&place);
    agent.ok("create_task", json!({ "title": "One" }));
    let id = json!({ "task_id": "one" });
    let error = agent.refused("get_context", id, "INVALID_TASK_ID");
    let details = &error["details"];
    assert_eq!([&details["field"], &details["value"]], ["task_id", "one"]);
    let refusals = r#"
TASK_NOT_FOUND update_task { "task_id": "T999", "title": "x" }
INVALID_STATUS update_task { "task_id": "T001", "status": "maybe" }
INVALID_CATEGORY create_task { "title": "x", "category": "a\nb" }
CONTENT_TOO_LONG update_context { "task_id": "T001", "content": "MANY" }
INVALID_ADR_NUMBER update_adr_status { "adr_number": 1000, "status": "Accepted" }
ADR_NOT_FOUND update_adr_status { "adr_number": 9, "status": "Accepted" }
REFERENCE_TASK_NOT_FOUND reorder_task { "task_id": "T001", "position": "before", "reference_task_id": "T555" }
INVALID_POSITION reorder_task { "task_id": "T001", "position": "before" }
"#;
    let refusals = refusals.replace("MANY", &"x".repeat(10_001));
    for row in refusals.lines().filter(|row| !row.is_empty()) {
        let [code, tool, arguments] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        agent.refused(tool, serde_json::from_str(arguments).unwrap(), code);
    }
    // An argument that agents expect is answered with the tool that does it.
    let urgent = json!({ "task_id": "T001", "priority": "high" });
    let error = agent.refused("update_task", urgent, "UNKNOWN_ARGUMENT");
    assert!(error["message"].to_string().contains("reorder_task"));

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

    fs::write(task_file(&place), tasks(&place) + "- [ ] by hand\n").unwrap();
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
