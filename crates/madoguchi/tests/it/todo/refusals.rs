//! A call in a batch is refused with the same code as alone.

use std::fs;

use serde_json::{Value, json};

use super::{Agent, project, root, task_file, tasks};
use crate::harness::refused;

/// Code, field, tool and arguments. `あ*101` stands for that many characters.
const REFUSED: &str = include_str!("../../../../todo/tests/it/refused.txt");

const BATCHED: [&str; 8] = [
    "create_task",
    "update_task",
    "delete_task",
    "reorder_task",
    "link_tasks",
    "update_context",
    "create_adr",
    "update_adr_status",
];

fn with_long_texts(value: &mut Value) {
    let long = |text: &str| Some("あ".repeat(text.strip_prefix("あ*")?.parse().ok()?));
    match value {
        Value::String(text) => {
            if let Some(long) = long(text) {
                *text = long;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(with_long_texts),
        Value::Object(fields) => fields.values_mut().for_each(with_long_texts),
        _ => {}
    }
}

#[tokio::test]
async fn a_batch_keeps_the_code_and_the_field_of_a_refused_call() {
    let place = project();
    fs::create_dir(root(&place).join(".todo")).unwrap();
    let text =
        "## A\n- [ ] a #T001\n- [ ] b #T002\n## B\n- [ ] c #T003\n- [ ] d #T004\n- [ ] e #T004\n";
    fs::write(task_file(&place), text).unwrap();
    let mut agent = Agent::start(&place);
    let adr = json!({ "title": "One", "context": "c", "decision": "d", "rationale": "r" });
    agent.ok("create_adr", adr);
    let mut tried = 0;
    for line in REFUSED.lines() {
        let [code, field, tool, arguments] =
            line.splitn(4, ' ').collect::<Vec<_>>().try_into().unwrap();
        let mut arguments: Value = serde_json::from_str(arguments).unwrap();
        with_long_texts(&mut arguments);
        let alone = agent.call(tool, arguments.clone());
        assert_eq!(refused(&alone, code)["details"]["field"], field, "{line}");
        if BATCHED.contains(&tool) {
            let operations = json!([{ "tool": tool, "arguments": arguments }]);
            let batch = agent.call("batch", json!({ "operations": operations }));
            let error = refused(&batch, code);
            assert_eq!(error["details"]["field"], field, "{line}: {error}");
            assert_eq!(error["details"]["operation"], 1, "{line}: {error}");
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
    assert_eq!(tasks(&place), text);
}
