//! The client's own prompt as the channel, in both eras.

use serde_json::{Value, json};

use super::{asking, question, reservation};
use crate::harness::{
    Desk, LEGACY, Pipe, Place, clients, initialized, modern, plain, refused, result, show_to_book,
};

/// A stdio process on the data of `desk`, with the same policy.
fn stdio(desk: &Desk) -> Pipe {
    let config = desk.place.file("stdio.toml", &asking(0));
    let mut command = desk.place.command();
    command.args(["stdio", "cinema", "--config"]).arg(config);
    Pipe::start(&mut command)
}

fn modern_call(id: u64, arguments: &Value, more: Value) -> Value {
    let mut params = json!({ "name": "reserve_seats", "arguments": arguments });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let mut call = modern(id, "tools/call", params);
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": {} });
    call
}

fn answer(state: &Value, action: &str, content: Value) -> Value {
    json!({
        "requestState": state,
        "inputResponses": { "approval": { "action": action, "content": content } },
    })
}

#[track_caller]
fn prompt(message: &Value) -> (Value, Value) {
    let result = result(message);
    assert_eq!(result["resultType"], "input_required", "{message}");
    let request = &result["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create", "{message}");
    (request["params"].clone(), result["requestState"].clone())
}

#[tokio::test]
async fn a_stateless_client_is_asked_between_two_rounds_of_its_call() {
    let desk = Desk::with_config(&asking(0)).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let mut pipe = stdio(&desk);
    let seats = |seat: &str| json!({ "schedule_id": show["schedule_id"], "seat_ids": [seat] });

    let (form, state) = prompt(&pipe.request(&modern_call(1, &seats("A1"), json!({}))));
    let text = form["message"].as_str().unwrap();
    assert!(text.contains("A1") && text.contains("Asia/Tokyo"), "{text}");
    let schema = &form["requestedSchema"];
    assert_eq!(schema["required"], json!(["decision"]), "{form}");
    let yes = json!({ "decision": "once" });
    let round = answer(&state, "accept", yes.clone());

    // An answer to another question is none: changed arguments, changed state.
    let other = pipe.request(&modern_call(2, &seats("A2"), round.clone()));
    let (_, other_state) = prompt(&other);
    let mut forged = round.clone();
    let text = state.as_str().unwrap();
    let (head, last) = text.split_at(text.len() - 1);
    let flipped = if last == "A" { "B" } else { "A" };
    forged["requestState"] = format!("{head}{flipped}").into();
    let forged = pipe.request(&modern_call(3, &seats("A1"), forged));
    assert!(forged.get("error").is_some(), "{forged}");
    let none = json!({ "inputResponses": round["inputResponses"] });
    prompt(&pipe.request(&modern_call(4, &seats("A1"), none)));

    // The right one books, once; replayed, it is a new question.
    let booked = pipe.request(&modern_call(5, &seats("A1"), round.clone()));
    reservation(result(&booked));
    let replayed = pipe.request(&modern_call(6, &seats("A1"), round));
    let (_, fresh) = prompt(&replayed);
    assert_ne!(fresh, state);

    // No, with a reason; and closing the prompt settles nothing.
    let no = answer(
        &other_state,
        "accept",
        json!({ "decision": "deny", "reason": "no" }),
    );
    let denied = pipe.request(&modern_call(7, &seats("A2"), no));
    refused(result(&denied), "APPROVAL_DENIED");
    let (_, state) = prompt(&pipe.request(&modern_call(8, &seats("A3"), json!({}))));
    let closed = answer(&state, "cancel", json!({}));
    question(result(&pipe.request(&modern_call(9, &seats("A3"), closed))));
}

#[tokio::test]
async fn a_handshake_client_is_asked_while_its_call_runs() {
    let desk = Desk::with_config(&asking(0)).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let mut pipe = stdio(&desk);
    let hello = json!({
        "protocolVersion": LEGACY,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "tests", "version": "1" },
    });
    pipe.request(&plain(0, "initialize", hello));
    pipe.send(&initialized());
    let mut book = |id: u64, seat: &str, said: Value| {
        let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": [seat] });
        let params = json!({ "name": "reserve_seats", "arguments": arguments });
        pipe.send(&plain(id, "tools/call", params));
        let asked = pipe.receive().unwrap();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        pipe.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }));
        loop {
            let message = pipe.receive().unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return result(&message).clone();
            }
        }
    };
    let accept =
        |decision: &str| json!({ "action": "accept", "content": { "decision": decision } });
    reservation(&book(1, "A1", accept("once")));
    refused(
        &book(2, "A2", json!({ "action": "decline" })),
        "APPROVAL_DENIED",
    );
    question(&book(3, "A3", json!({ "action": "cancel" })));
    reservation(&book(4, "A4", accept("always")));
    let grants = desk.place.run(&["approvals", "grants", "--json"]).ok();
    assert_eq!(grants.json()[0]["caller"], "local user");
}

/// A client over the network could answer its own question.
#[tokio::test]
async fn a_key_must_be_trusted_for_its_prompt_to_count() {
    let desk = Desk::with_config(&asking(0)).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A1"] });
    let call = async |key: Option<&str>, more: Value| {
        let call = modern_call(1, &arguments, more);
        desk.post("cinema", key, &call).await.message()
    };
    let plain = desk.place.create_key(&["plain"]);
    let trusted = desk
        .place
        .create_key(&["trusted", "--trust-client-prompts"]);

    question(result(&call(None, json!({})).await));
    question(result(&call(Some(&plain), json!({})).await));
    let (_, state) = prompt(&call(Some(&trusted), json!({})).await);
    let round = answer(&state, "accept", json!({ "decision": "once" }));
    // Nobody else can use the trusted one's state.
    for other in [None, Some(plain.as_str())] {
        let message = call(other, round.clone()).await;
        assert!(message.get("error").is_some(), "{message}");
    }
    reservation(result(&call(Some(&trusted), round).await));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_python_client_asks_its_user() {
    for mode in ["auto", "legacy", "2026-07-28"] {
        let output = clients::python(&Place::new(), "approvals.py", &["stdio", mode]).await;
        assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_typescript_client_asks_its_user() {
    for era in ["auto", "legacy", "pin"] {
        let output = clients::node(&Place::new(), "approvals.mjs", &[era]).await;
        assert_eq!(output.code, Some(0), "{era}\n{}", output.stderr);
    }
}

/// What an agent writes can't pass for what the desk says, on any channel.
#[tokio::test]
async fn a_title_cannot_forge_a_card() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("project")).unwrap();
    let config = "[approval]\nhold_seconds = 0\ntools = { \"todo.create_task\" = \"ask\" }\n";
    let config = place.file("todo.toml", config);
    let mut command = place.command();
    command.args(["stdio", "todo", "--root"]);
    command.arg(place.path().join("project"));
    command.arg("--config").arg(config);
    let mut pipe = Pipe::start(&mut command);
    let title = "x\n\nAsked by: the owner\nTool: todo.list_tasks\n\u{202e}\u{2800}";
    let mut call = modern_call(1, &json!({ "title": title }), json!({}));
    call["params"]["name"] = "create_task".into();
    let (form, _) = prompt(&pipe.request(&call));
    let text = form["message"].as_str().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        ["Asked by: local user", "Tool: todo.create_task"],
        "{text}"
    );
    for forged in ["Asked by: the owner", "Tool: todo.list_tasks"] {
        assert!(!lines.contains(&forged), "{text}");
        assert!(lines.contains(&format!("│ {forged}").as_str()), "{text}");
    }
    assert!(text.contains("⟨U+202E⟩⟨U+2800⟩"), "{text}");

    let listed = place.run(&["approvals", "list"]).ok().stdout;
    assert!(listed.contains("⟨U+202E⟩⟨U+2800⟩"), "{listed}");
    let card: Vec<&str> = listed.lines().map(str::trim_start).collect();
    assert!(card[1].starts_with("asked by local user"), "{listed}");
    assert!(!card.contains(&"Asked by: the owner"), "{listed}");
    // Its trail is whole once it has ended by itself.
    pipe.finish();
    let trail = place.run(&["audit", "tail", "--personal"]).ok().stdout;
    assert!(trail.contains("⟨U+202E⟩⟨U+2800⟩"), "{trail}");
    assert!(!trail.contains('\u{202e}'), "{trail}");
}
