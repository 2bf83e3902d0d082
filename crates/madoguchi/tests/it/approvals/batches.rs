//! Calls inside a call: each is held to scope, offer and policy like a call that
//! stands alone, before any of them runs.

use std::fs;

use desk::settings::Policy;
use serde_json::{Value, json};

use super::own_desk::OwnDesk;
use crate::harness::{Pipe, Place, call, configured_keys, mentions, refused, result, structured};

/// One agent's process on a project, and what a person does beside it.
struct Todo {
    place: Place,
    pipe: Pipe,
    id: u64,
}

impl Todo {
    fn start(config: &str, arguments: &[&str]) -> Self {
        Self::with_key(config, arguments, None)
    }

    fn with_key(config: &str, arguments: &[&str], key: Option<&str>) -> Self {
        let place = Place::new();
        let root = place.path().join("project");
        fs::create_dir_all(root.join(".todo")).unwrap();
        fs::write(
            root.join(".todo/task.md"),
            "# Task\n\n## SPEC\n- [ ] One #T001\n- [ ] Two #T002\n",
        )
        .unwrap();
        let config = place.file("todo.toml", config);
        let mut command = place.command();
        command.args(["stdio", "todo", "--root"]).arg(root);
        command.arg("--config").arg(config).args(arguments);
        if let Some(key) = key {
            command.env("MADOGUCHI_KEY", key);
        }
        let pipe = Pipe::start(&mut command);
        Self { place, pipe, id: 0 }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        let message = self.pipe.request(&call(self.id, tool, arguments));
        result(&message).clone()
    }

    fn batch(&mut self, operations: &[(&str, Value)]) -> Value {
        self.call("batch", json!({ "operations": calls(operations) }))
    }

    fn tasks(&self) -> String {
        fs::read_to_string(self.place.path().join("project/.todo/task.md")).unwrap()
    }

    fn approvals(&self) -> Vec<Value> {
        let listed = self.place.run(&["approvals", "list", "--json"]).ok().json();
        listed.as_array().unwrap().clone()
    }
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let calls = calls
        .iter()
        .map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments }));
    calls.collect()
}

fn delete() -> (&'static str, Value) {
    ("delete_task", json!({ "task_id": "T001" }))
}

fn update() -> (&'static str, Value) {
    (
        "update_task",
        json!({ "task_id": "T002", "title": "Changed" }),
    )
}

fn adr() -> (&'static str, Value) {
    let fields = json!({ "title": "A", "context": "c", "decision": "d", "rationale": "r" });
    ("create_adr", fields)
}

const POLICY: &str = "[approval]\nhold_seconds = 0\ntools = { \"todo.delete_task\" = \"deny\", \"todo.update_task\" = \"ask\" }\n";

#[tokio::test]
async fn one_forbidden_call_inside_refuses_the_whole_batch() {
    let mut todo = Todo::start(POLICY, &["--exclude-tools", "create_adr"]);
    let before = todo.tasks();
    let create = ("create_task", json!({ "title": "Three" }));
    for (operations, code, operation) in [
        (vec![create.clone(), delete()], "DENIED_BY_POLICY", None),
        (vec![create.clone(), adr()], "TOOL_NOT_OFFERED", Some(2)),
        (vec![delete(), update(), adr()], "TOOL_NOT_OFFERED", Some(3)),
    ] {
        let answer = todo.batch(&operations);
        let error = refused(&answer, code);
        if let Some(operation) = operation {
            assert_eq!(error["details"]["operation"], operation, "{answer}");
        }
    }
    assert_eq!(todo.tasks(), before);
    assert!(todo.approvals().is_empty(), "nobody is asked for a no");
}

#[tokio::test]
async fn a_batch_with_a_call_that_needs_approval_is_approved_as_a_whole() {
    let mut todo = Todo::start(POLICY, &[]);
    let before = todo.tasks();
    let create = ("create_task", json!({ "title": "Three" }));
    let operations = [create, update()];
    let asked = todo.batch(&operations);
    refused(&asked, "APPROVAL_REQUIRED");
    assert_eq!(todo.tasks(), before);
    let listed = todo.approvals();
    let [card] = listed.as_slice() else {
        panic!("{listed:?}");
    };
    assert_eq!(card["tool"], "batch");
    // Every call, also the one that alone would not be asked for.
    let lines = card["lines"].to_string();
    for part in [
        "1. create_task: title",
        "Three",
        "2. update_task: title",
        "Changed",
    ] {
        assert!(lines.contains(part), "{part}: {lines}");
    }
    let id = card["id"].as_str().unwrap();
    // Not for good, and a try at that decides nothing.
    let refused_always = todo
        .place
        .run(&["approvals", "approve", id, "--always"])
        .failed();
    assert!(refused_always.contains("ONCE_ONLY"), "{refused_always}");
    assert_eq!(todo.approvals()[0]["status"], "pending");
    todo.place.run(&["approvals", "approve", id]).ok();
    structured(&todo.batch(&operations));
    assert!(todo.tasks().contains("Changed"), "{}", todo.tasks());
    // The same once more is a new question, and so is another order.
    refused(&todo.batch(&operations), "APPROVAL_REQUIRED");
    let [create, update] = operations;
    refused(&todo.batch(&[update, create]), "APPROVAL_REQUIRED");
}

/// Undoing the creation of a task deletes it.
#[tokio::test]
async fn undo_is_held_to_the_policy_of_what_it_does() {
    let mut todo = Todo::start(POLICY, &[]);
    let created = todo.call("create_task", json!({ "title": "Three" }));
    let change_id = structured(&created)["change_id"].clone();
    let before = todo.tasks();
    for arguments in [json!({}), json!({ "change_id": change_id })] {
        refused(&todo.call("undo", arguments), "DENIED_BY_POLICY");
    }
    assert_eq!(todo.tasks(), before);
    let moved = json!({ "task_id": "T001", "position": "last" });
    structured(&todo.call("reorder_task", moved));
    structured(&todo.call("undo", json!({})));
    assert_eq!(todo.tasks(), before);
    // Undoing an update is an update, which needs approval here.
    let operations = [update()];
    refused(&todo.batch(&operations), "APPROVAL_REQUIRED");
    let approval = todo.approvals()[0]["id"].as_str().unwrap().to_owned();
    todo.place.run(&["approvals", "approve", &approval]).ok();
    structured(&todo.batch(&operations));
    refused(&todo.call("undo", json!({})), "APPROVAL_REQUIRED");
}

/// Deleting with `relink` changes links, and a new decision may replace another.
#[tokio::test]
async fn tools_are_held_to_the_policy_and_scope_of_what_they_imply() {
    let policy = "[approval]\nhold_seconds = 0\ntools = { \"todo.link_tasks\" = \"deny\", \"todo.update_adr_status\" = \"ask\" }\n";
    let secret = "correct horse battery staple";
    let keys = configured_keys(&[("phone", secret)]);
    let scope = format!("{keys}tools = [\"batch\", \"delete_task\", \"create_adr\"]\n");
    let relink = json!({ "task_id": "T001", "relink": true });
    let (_, mut supersedes) = adr();
    supersedes["supersedes"] = json!(1);
    for (mut todo, deleted, replaced) in [
        (
            Todo::start(policy, &[]),
            "DENIED_BY_POLICY",
            "APPROVAL_REQUIRED",
        ),
        (
            Todo::with_key(&scope, &[], Some(secret)),
            "FORBIDDEN",
            "FORBIDDEN",
        ),
    ] {
        let before = todo.tasks();
        structured(&todo.call("create_adr", adr().1));
        refused(&todo.call("delete_task", relink.clone()), deleted);
        refused(&todo.call("create_adr", supersedes.clone()), replaced);
        let batch = [("delete_task", relink.clone())];
        refused(&todo.batch(&batch), deleted);
        let batch = [("create_adr", supersedes.clone())];
        refused(&todo.batch(&batch), replaced);
        assert_eq!(todo.tasks(), before);
        let plain = json!({ "task_id": "T001", "relink": false });
        structured(&todo.call("delete_task", plain));
    }
}

#[tokio::test]
async fn a_prompt_for_a_batch_offers_no_standing_grant() {
    let mut todo = Todo::start(POLICY, &[]);
    let mut call = call(1, "batch", json!({ "operations": calls(&[update()]) }));
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    call["params"]["_meta"][capabilities] = json!({ "elicitation": {} });
    let asked = todo.pipe.request(&call);
    let asked = result(&asked);
    let form = &asked["inputRequests"]["approval"]["params"];
    let choices = form["requestedSchema"]["properties"]["decision"]["oneOf"].to_string();
    assert!(
        choices.contains("once") && !choices.contains("always"),
        "{form}"
    );
    // Answered nevertheless, it is a no.
    call["id"] = 2.into();
    call["params"]["requestState"] = asked["requestState"].clone();
    call["params"]["inputResponses"]["approval"] =
        json!({ "action": "accept", "content": { "decision": "always" } });
    let answer = todo.pipe.request(&call);
    refused(result(&answer), "APPROVAL_DENIED");
    let grants = todo.place.run(&["approvals", "grants", "--json"]).ok();
    assert_eq!(grants.json(), json!([]));
}

#[tokio::test]
async fn a_batch_is_held_to_the_tools_of_its_key() {
    let key = "correct horse battery staple";
    let keys = configured_keys(&[("phone", key)]);
    let config = format!("{keys}tools = [\"batch\", \"update_task\"]\n");
    let mut todo = Todo::with_key(&config, &[], Some(key));
    let before = todo.tasks();
    let answer = todo.batch(&[update(), delete()]);
    let error = refused(&answer, "FORBIDDEN");
    assert_eq!(error["details"]["operation"], 2, "{answer}");
    assert_eq!(todo.tasks(), before);
    structured(&todo.batch(&[update()]));
}

#[tokio::test]
async fn calls_inside_a_batch_are_validated_before_any_of_them_runs() {
    let mut todo = Todo::start("", &[]);
    let before = todo.tasks();
    let create = ("create_task", json!({ "title": "Three" }));
    for (operation, code) in [
        (
            ("update_task", json!({ "task_id": "T0001" })),
            "INVALID_TASK_ID",
        ),
        (
            ("update_task", json!({ "task_id": "T001", "titel": "x" })),
            "UNKNOWN_ARGUMENT",
        ),
        (
            ("create_task", json!({ "title": "x".repeat(101) })),
            "CONTENT_TOO_LONG",
        ),
    ] {
        let answer = todo.batch(&[create.clone(), operation]);
        let error = &answer["structuredContent"]["error"];
        assert_eq!(answer["isError"], true, "{answer}");
        assert_eq!(error["details"]["operation"], 2, "{answer}");
        if code != "CONTENT_TOO_LONG" {
            assert_eq!(error["code"], code, "{answer}");
        }
        assert_eq!(todo.tasks(), before);
    }
    // What an earlier call makes still passes, and so do empty options.
    let answer = todo.batch(&[
        create,
        (
            "update_task",
            json!({ "task_id": "$1", "status": "in_progress", "due": "" }),
        ),
        (
            "update_task",
            json!({ "task_id": "T001", "title": "Changed" }),
        ),
    ]);
    structured(&answer);
    mentions(&todo.tasks(), &["- [-] Three #T003"]);
}

#[tokio::test]
async fn the_record_of_a_batch_names_the_tools_inside() {
    let mut todo = Todo::start(POLICY, &[]);
    refused(&todo.batch(&[update(), delete()]), "DENIED_BY_POLICY");
    structured(&todo.batch(&[("create_task", json!({ "title": "Three" }))]));
    let trail = todo.place.run(&["audit", "export"]).ok().stdout;
    let inner: Vec<Value> = trail
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["tool"] == "batch")
        .map(|record| record["arguments"]["inner_calls"].clone())
        .collect();
    assert_eq!(
        inner,
        [
            json!(["update_task", "delete_task"]),
            json!(["create_task"])
        ]
    );
}

#[tokio::test]
async fn a_tool_inside_is_the_same_by_each_of_its_names_and_no_bundle_holds_another() {
    let own = OwnDesk::open(None, &[("act-too", Policy::Deny)], |_| {}).await;
    let bundle = |tool: &str, n: Value| json!({ "calls": calls(&[(tool, json!({ "n": n }))]) });
    for name in ["act", "act-too"] {
        assert_eq!(
            own.refused("bundle", bundle(name, json!(1))).await,
            "DENIED_BY_POLICY"
        );
    }
    own.close().await;

    let hide = |settings: &mut desk::Settings| settings.tools.exclude = vec!["act".into()];
    let own = OwnDesk::open(None, &[], hide).await;
    assert_eq!(
        own.refused("bundle", bundle("act-too", json!(1))).await,
        "TOOL_NOT_OFFERED"
    );
    own.close().await;

    let own = OwnDesk::open(None, &[], |_| {}).await;
    let run = own
        .result("bundle", bundle("act-too", json!(1)))
        .await
        .unwrap();
    assert_eq!(run["calls"][0]["tool"], "act", "{run}");
    for (call, code) in [
        (bundle("act-too", json!("x")), "INVALID_ARGUMENT"),
        (bundle("acts", json!(1)), "INVALID_ARGUMENT"),
        (
            json!({ "calls": calls(&[("bundle", json!({ "calls": [] }))]) }),
            "INVALID_ARGUMENT",
        ),
        (
            json!({ "calls": calls(&[("look", json!({ "n": 1, "m": 2 }))]) }),
            "UNKNOWN_ARGUMENT",
        ),
    ] {
        assert_eq!(own.refused("bundle", call.clone()).await, code, "{call}");
    }
    own.close().await;
}
