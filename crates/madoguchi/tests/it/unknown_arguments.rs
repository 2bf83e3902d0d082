//! An argument that a tool does not have is never dropped in silence, and never
//! kept.

use serde_json::{Value, json};

use crate::harness::{Desk, Pipe, Place, call, refused, request, result, structured};

fn stdio(place: &Place, counter: &str, config: &str) -> Pipe {
    let config = place.file(&format!("{counter}.toml"), config);
    let mut command = place.command();
    command.args(["stdio", counter, "--config"]).arg(config);
    Pipe::start(&mut command)
}

fn ask(pipe: &mut Pipe, tool: &str, arguments: Value) -> Value {
    result(&pipe.request(&call(1, tool, arguments))).clone()
}

#[tokio::test]
async fn a_change_with_an_unknown_argument_is_refused_and_nothing_is_kept() {
    let place = Place::new();
    let mut pipe = stdio(&place, "innervoice", "[approval]\nhold_seconds = 0\n");
    let filler = "x".repeat(1_000_000);
    for _ in 0..5 {
        let arguments =
            json!({ "time": "2030-01-01T09:00:00", "note": "n", "notes": filler.clone() });
        let answer = ask(&mut pipe, "reminder_create", arguments);
        assert_eq!(answer["isError"], true, "{answer}");
        // InnerVoice's own shape.
        let error = &answer["structuredContent"];
        assert_eq!(error["status"], "error", "{answer}");
        assert_eq!(error["code"], "UNKNOWN_ARGUMENT", "{answer}");
        assert_eq!(error["details"]["field"], "notes", "{answer}");
        assert_eq!(error["details"]["nearest"], "note", "{answer}");
    }
    pipe.finish();
    let listed = place.run(&["approvals", "list", "--json"]).ok().json();
    assert_eq!(listed, json!([]), "nobody is asked");
    // Nothing of it is anywhere in the data, but for a little in the trail.
    let kept: u64 = files(&place.data()).iter().map(|(_, size)| size).sum();
    assert!(kept < 2_000_000, "{:?}", files(&place.data()));
}

fn files(directory: &std::path::Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), path.metadata().unwrap().len()));
        }
    }
    found
}

#[tokio::test]
async fn names_in_a_refusal_are_few_short_and_visible() {
    let desk = Desk::start().await;
    let mut arguments = json!({ "\u{202e}evil\n": 1, "x".repeat(5_000): 1 });
    for n in 0..1_000 {
        arguments[format!("more{n}")] = n.into();
    }
    let answer = desk.call("fixture", "fixture_write", arguments).await;
    let error = refused(&answer, "UNKNOWN_ARGUMENT");
    assert_eq!(error["details"]["count"], 1_002, "{answer}");
    assert_eq!(error["details"]["fields"].as_array().unwrap().len(), 5);
    assert_eq!(error["details"]["field"], "⟨U+202E⟩evil⟨U+000A⟩");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("and 997 more"), "{message}");
    assert!(answer.to_string().len() < 4_000, "{answer}");
}

#[tokio::test]
async fn unknown_fields_inside_arguments_are_found_too() {
    let place = Place::new();
    let mut pipe = stdio(&place, "todo", "");
    ask(&mut pipe, "create_task", json!({ "title": "t" }));
    let subtasks = json!([{ "title": "one" }, { "title": "two", "statsu": "done" }]);
    let arguments = json!({ "task_id": "T001", "subtasks": subtasks });
    let answer = ask(&mut pipe, "update_task", arguments);
    let error = refused(&answer, "UNKNOWN_ARGUMENT");
    assert_eq!(error["details"]["field"], "subtasks[1].statsu", "{answer}");
    assert_eq!(error["details"]["nearest"], "status", "{answer}");
    let listed = ask(&mut pipe, "list_tasks", json!({}));
    let task = &structured(&listed)["tasks"][0];
    assert_eq!(task["subtasks_count"], 0, "{listed}");
    pipe.finish();
}

#[tokio::test]
async fn a_read_answers_and_says_what_it_ignored() {
    let desk = Desk::setup().own_port("--merchant-port").start().await;
    let arguments = json!({ "serch_query": "x", "limit": 2 });
    let answer = desk.call("cinema", "get_movie_list", arguments).await;
    let found = structured(&answer);
    assert_eq!(found["movies"].as_array().unwrap().len(), 2);
    let [warning] = found["warnings"].as_array().unwrap().as_slice() else {
        panic!("{found}");
    };
    assert_eq!(warning["code"], "UNKNOWN_ARGUMENT");
    assert_eq!(warning["field"], "serch_query");
    assert_eq!(warning["nearest"], "search_query");
    assert!(
        warning["message"]
            .as_str()
            .unwrap()
            .contains("search_query")
    );
    // The same as text, and nothing where nothing is unknown.
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert_eq!(&text.parse::<Value>().unwrap(), found);
    let answer = desk.call("cinema", "get_movie_list", json!({})).await;
    assert!(structured(&answer).get("warnings").is_none(), "{answer}");

    // At most five by name.
    let many: serde_json::Map<_, _> = (0..20).map(|n| (format!("w{n}"), json!(n))).collect();
    let answer = desk.call("cinema", "get_movie_list", many.into()).await;
    let warnings = structured(&answer)["warnings"].as_array().unwrap().clone();
    assert_eq!(warnings.len(), 6, "{warnings:?}");
    assert!(warnings[5]["message"].as_str().unwrap().contains("15 more"));

    // Tools that have warnings of their own.
    let answer = desk
        .call("rooms", "get_status", json!({ "color": 1 }))
        .await;
    let warnings = structured(&answer)["warnings"].to_string();
    assert!(warnings.contains("UNKNOWN_ARGUMENT"), "{warnings}");
    let arguments = json!({ "keywords": ["x"], "colour": 1 });
    let answer = desk.call("merchant", "search_products", arguments).await;
    let warnings = structured(&answer)["warnings"].to_string();
    assert!(warnings.contains("colour"), "{warnings}");
    // A tool that answers with blocks alone.
    let answer = desk
        .call("fixture", "test_simple_text", json!({ "color": 1 }))
        .await;
    let blocks = answer["content"].as_array().unwrap();
    assert!(
        blocks
            .last()
            .unwrap()
            .to_string()
            .contains("UNKNOWN_ARGUMENT"),
        "{answer}"
    );

    // Without the protocol.
    let body =
        json!({ "name": "search_products", "arguments": { "keywords": ["x"], "colour": 1 } });
    let headers = [("content-type", "application/json")];
    let path = "/mcp/tools/call";
    let answer = request(desk.own_port, "POST", path, &headers, body.to_string()).await;
    let warnings = answer.message()["warnings"].to_string();
    assert!(warnings.contains("UNKNOWN_ARGUMENT"), "{warnings}");
}
