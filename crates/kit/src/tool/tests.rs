use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{context::NoClient, reply::Reply, time::Clock};

fn tool(name: &'static str) -> Tool {
    let definition = Definition {
        name,
        title: "A tool",
        description: "A tool.",
        hints: Hints::ADDS,
        effect: Effect::Write,
    };
    let run = Run::Async(Arc::new(|_, _| {
        Box::pin(std::future::ready(Ok(Reply::text("done"))))
    }));
    Tool::without_output_schema(definition, Handler::<Value, Reply>::from_run(run))
}

#[test]
fn a_client_sees_the_first_name_that_it_accepts() {
    let long: &'static str = "x".repeat(65).leak();
    for (name, aliases, safe) in [
        ("list_rooms", &["other"][..], "list_rooms"),
        (
            "calendar.create",
            &["a/b", "calendar-1_create", "c"],
            "calendar-1_create",
        ),
        ("calendar.create", &[], "calendar.create"),
        ("", &["a"], "a"),
        (long, &["short"], "short"),
        (&long[..64], &["short"], &long[..64]),
    ] {
        let tool = tool(name).aliases(aliases);
        assert_eq!(tool.client_safe_name(), safe);
    }
}

#[test]
fn a_tool_answers_to_its_names_and_writes_unless_it_reads() {
    let tool = tool("a").aliases(&["b"]);
    assert!(tool.answers_to("a") && tool.answers_to("b"));
    assert!(!tool.answers_to("c"));
    assert!(tool.writes());
    let reads = Tool {
        effect: Effect::Read,
        ..tool
    };
    assert!(!reads.writes());
}

#[test]
fn what_was_not_given_goes_before_and_after_the_tools_own_work() {
    let mut tool = tool("a").keeps_empty(&["note", "other"]);
    tool.input = json!({ "properties": { "note": {}, "other": {}, "word": {}, "left": {} } });
    let tool = tool.normalise(|_, arguments| {
        assert!(!arguments.contains_key("left"));
        arguments.insert("word".into(), "".into());
    });
    let clock = Clock::system();
    let context = Context::new(crate::Caller::anonymous(), clock, Arc::new(NoClient));
    let mut arguments = json!({ "note": "", "left": null, "n": 1 });
    tool.normalised(&context, arguments.as_object_mut().unwrap());
    assert_eq!(arguments, json!({ "n": 1, "note": "" }));
}
