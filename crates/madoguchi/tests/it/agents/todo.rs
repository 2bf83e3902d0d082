//! Tasks for the todo counter.

use serde_json::{Value, json};

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "todo",
        config: "[todo]\ntime_zone = \"Asia/Tokyo\"\n",
        has_demo: false,
        tasks: [planning(), working(), deciding()]
            .into_iter()
            .flatten()
            .collect(),
    }
}

fn new(title: &str) -> Value {
    json!({ "title": title })
}

/// Words without digits: those are also found in the times that contexts hold.
fn query(words: &str) -> Value {
    json!({ "query": words })
}

/// Release notes with two steps, and a release that waits for them.
fn release(asked: &'static str) -> Task {
    let notes = json!({ "title": "Write the release notes", "subtasks": ["draft", "review"] });
    let waits = json!({ "task_id": "T002", "relation": "depends_on", "target": "T001" });
    Task::new(asked)
        .given("create_task", notes)
        .given("create_task", new("Release Maple"))
        .given("link_tasks", waits)
}

fn planning() -> Vec<Task> {
    vec![
        Task::new("Note that I have to call the printer")
            .call("create_task", new("Call the printer"))
            .shows("T001"),
        release("What should I do next?")
            .call("next_tasks", json!({}))
            .shows("T002 waits for it"),
        release("What is overdue?")
            .call("list_tasks", json!({ "overdue": true }))
            .shows("Without overdue: 2."),
        release("The release is due in four days")
            .call("search", query("release maple"))
            .call(
                "update_task",
                json!({ "task_id": "$1/results/0/id", "due": "$today+4" }),
            )
            .shows("due:"),
    ]
}

fn working() -> Vec<Task> {
    let step = |subtask: Value| json!({ "task_id": "$1/results/0/id", "subtask": subtask });
    vec![
        release("Tick off the draft of the release notes")
            .call("search", query("release notes"))
            .call(
                "update_task",
                step(json!({ "title": "draft", "status": "done" })),
            )
            .shows("[x] draft"),
        release("The release notes also have to be translated")
            .call("search", query("release notes"))
            .call("update_task", step(json!({ "title": "translate" })))
            .shows("[ ] translate"),
        release("The release notes are done; what can start now?")
            .call("search", query("release notes"))
            .call(
                "update_task",
                json!({ "task_id": "$1/results/0/id", "status": "done" }),
            )
            .shows("Now ready: T002 Release Maple."),
        // Refused first: the release waits for it.
        release("Delete the release notes, we do not need them")
            .call("search", query("release notes"))
            .call("delete_task", json!({ "task_id": "$1/results/0/id" }))
            .refused("TASK_HAS_DEPENDANTS")
            .call(
                "delete_task",
                json!({ "task_id": "$1/results/0/id", "relink": true }),
            )
            .shows("relinked"),
        release("Call the release Cedar. No, put that back")
            .call("search", query("release maple"))
            .call(
                "update_task",
                json!({ "task_id": "$1/results/0/id", "title": "Release Cedar" }),
            )
            .call("undo", json!({ "change_id": "$2/change_id" }))
            .shows("+- [ ] Release Maple"),
    ]
}

fn deciding() -> Vec<Task> {
    let bug = json!({ "title": "Fix the login bug", "description": "Look at the token refresh." });
    let decision = |title: &str| {
        json!({
            "title": title, "context": "We need a store.", "decision": title,
            "rationale": "Not stated.", "status": "Accepted"
        })
    };
    let mut postgres = decision("Use PostgreSQL");
    postgres["supersedes"] = json!("$1/adrs/0/adr_number");
    vec![
        Task::new("Where did we mention the token refresh?")
            .given("create_task", bug.clone())
            .call("search", query("token refresh"))
            .shows(".todo/context/T001.md:5"),
        Task::new("ログイン不具合の原因は時計のずれだったと記録して")
            .given("create_task", new("ログイン不具合を直す"))
            .call("search", query("ログイン"))
            .call(
                "update_context",
                json!({ "task_id": "$1/results/0/id", "content": "時計のずれ", "section": "原因" }),
            )
            .shows("原因"),
        Task::new("We decided on PostgreSQL instead of SQLite")
            .given("create_adr", decision("Use SQLite"))
            .call("list_adrs", json!({}))
            .call("create_adr", postgres)
            .shows("adr-002-use-postgresql"),
    ]
}
