//! The InnerVoice counter from outside: the frames of its specification on its own
//! port, keys, limits, approvals, mail and repetition.

mod changes;
mod crash;
mod in_browser;
mod mail;
mod reminders;
mod repeats;
mod wires;

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Desk, Pipe, Place, Socket, modern, modern_headers, plain, request, result};

const FLAG: &str = "--innervoice-port";

/// Approves nothing automatically, and lets calls wait long enough.
const ASKS: &str = "[approval]\nhold_seconds = 40\n";

/// Needs no approval.
const ALLOWS: &str = "[approval]\ntools = { \"innervoice.calendar_create\" = \"allow\", \
    \"innervoice.message_send\" = \"allow\", \"innervoice.reminder_create\" = \"allow\" }\n";

fn key(place: &Place) -> String {
    let name = kit::ids::random("phone-", 8);
    let made = place.run(&["keys", "create", &name, "--json"]).ok().json();
    made["key"].as_str().unwrap().to_owned()
}

/// The frame as in the specification.
fn frame() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": "req_123",
        "method": "tools/call",
        "params": {
            "name": "calendar.create",
            "arguments": {
                "title": "朝ラン",
                "start": "2025-09-19T07:00:00+09:00",
                "duration_min": 30
            }
        }
    })
}

fn tool_call(tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    plain(5, "tools/call", params)
}

/// Imports one contact.
fn import(place: &Place, name: &str, address: &str) {
    let vcf = format!("BEGIN:VCARD\nUID:1\nFN:{name}\nEMAIL:{address}\nEND:VCARD\n");
    let file = place.file("contacts.vcf", &vcf);
    let file = file.to_str().unwrap();
    place.run(&["import", "innervoice", file]).ok();
}

/// Waits for the one pending approval and approves it.
async fn approve(place: &Place) -> Value {
    for _ in 0..400 {
        let listed = place.run(&["approvals", "list", "--json"]).ok().json();
        let waiting = listed.as_array().unwrap().clone();
        if let Some(one) = waiting.iter().find(|one| one["status"] == "pending") {
            let id = one["id"].as_str().unwrap();
            place.run(&["approvals", "approve", id]).ok();
            return one.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody was asked");
}

#[tokio::test]
async fn the_documents_frame_is_approved_and_answered() {
    let desk = Desk::setup().config(ASKS).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    socket.send(&frame()).await;
    let asked = approve(&desk.place).await;
    assert_eq!(asked["counter"], "innervoice");
    assert_eq!(asked["tool"], "calendar.create");
    let answer = socket.receive().await;
    assert_eq!(answer["id"], "req_123");
    let result = result(&answer);
    assert_eq!(result["status"], "ok");
    assert!(result["id"].as_str().unwrap().starts_with("evt_"));
    // The same for clients that use the protocol.
    assert_eq!(result["structuredContent"]["id"], result["id"]);
    // Two copies of the answer are enough; the text is what is read out.
    assert_eq!(result["content"][0]["text"], result["message"]);
}

/// The specification's client sets no header but its key, so the language in which
/// the person speaks decides, and at first the zone.
#[tokio::test]
async fn a_person_is_answered_in_the_language_they_speak() {
    let desk = Desk::setup().config(ALLOWS).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let answer = socket.request(&frame()).await;
    let said = result(&answer)["message"].as_str().unwrap();
    assert_eq!(said, "2025年9月19日(金)7時に「朝ラン」の予定を入れました。");
    // Refusals are Japanese too.
    let mut nobody = frame();
    nobody["params"] = json!({
        "name": "message.send",
        "arguments": { "to": "田中さん", "text": "今から帰ります" }
    });
    let answer = socket.request(&nobody).await;
    assert_eq!(result(&answer)["code"], "RECIPIENT_NOT_FOUND");
    let said = result(&answer)["error"].as_str().unwrap();
    assert!(
        said.starts_with("「田中さん」という連絡先はありません。"),
        "{said}"
    );
    // The script of a title says nothing; the words for a time do.
    let mut english = frame();
    for (start, begins) in [
        ("2025-09-19T07:00", "2025年9月19日(金)7時に「Morning run」"),
        ("friday at 7am", "I added Morning run"),
        ("2025-09-19T07:00", "I added Morning run"),
    ] {
        english["params"]["arguments"]["title"] = json!("Morning run");
        english["params"]["arguments"]["start"] = json!(start);
        let answer = socket.request(&english).await;
        let said = result(&answer)["message"].as_str().unwrap();
        assert!(said.starts_with(begins), "{start}: {said}");
    }
}

#[tokio::test]
async fn the_setting_decides_the_language() {
    let config = format!("{ALLOWS}[innervoice]\nlanguage = \"ja\"\n");
    let desk = Desk::setup().config(&config).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let arguments =
        json!({ "title": "企画会議の準備", "start": "tomorrow at 3pm", "duration_min": 30 });
    let made = socket
        .request(&tool_call("calendar.create", &arguments))
        .await;
    let cancel = tool_call("calendar.cancel", &json!({ "id": result(&made)["id"] }));
    let cancelled = socket.request(&cancel).await;
    let said = result(&cancelled)["message"].as_str().unwrap();
    assert_eq!(said, "明日15時の「企画会議の準備」の予定を取り消しました。");
    // A refusal by the desk itself, too.
    let wrong = tool_call("calendar.list", &json!({ "limit": 1000 }));
    let refused = socket.request(&wrong).await;
    assert!(result(&refused)["message"].is_string(), "{refused}");
}

#[tokio::test]
async fn a_wrong_key_gets_an_error_and_the_socket_is_closed() {
    let desk = Desk::setup().own_port(FLAG).start().await;
    for wrong in ["YOUR_API_KEY", ""] {
        let mut socket = Socket::own_port(&desk, wrong).await;
        let answer = socket.request(&frame()).await;
        let expected = json!({
            "jsonrpc": "2.0",
            "id": "req_123",
            "error": { "code": 401, "message": "Invalid API key" }
        });
        assert_eq!(answer, expected);
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    }
}

/// Even on this machine, where the other counters need no key.
#[tokio::test]
async fn the_network_always_needs_a_key() {
    let desk = Desk::start().await;
    let params = json!({ "name": "calendar_list", "arguments": {} });
    let call = modern(7, "tools/call", params.clone());
    let headers = modern_headers("tools/call", &params);
    let mut headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let path = "/mcp/innervoice";
    let answer = request(desk.port, "POST", path, &headers, call.to_string()).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.message()["error"]["message"], "Invalid API key");
    assert_eq!(answer.message()["id"], 7);
    let mut socket = Socket::open(&desk, "innervoice").await;
    assert_eq!(socket.request(&call).await["error"]["code"], 401);
    let key = key(&desk.place);
    let bearer = format!("Bearer {key}");
    headers.push(("authorization", &bearer));
    let answer = request(desk.port, "POST", path, &headers, call.to_string()).await;
    assert_eq!(
        result(&answer.message())["structuredContent"]["status"],
        "ok"
    );
    // A process acts for the user who started it.
    let mut command = desk.place.command();
    command.args(["stdio", "innervoice"]);
    let answer = Pipe::start(&mut command).request(&call);
    assert_eq!(result(&answer)["structuredContent"]["status"], "ok");
    // The other counters stay open.
    desk.call("cinema", "get_movie_list", json!({})).await;
}

#[tokio::test]
async fn a_hundred_requests_pass_in_a_minute() {
    let desk = Desk::setup().own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let list = tool_call("calendar.list", &json!({}));
    for number in 0..100 {
        let answer = socket.request(&list).await;
        assert_eq!(result(&answer)["status"], "ok", "{number}");
    }
    let answer = socket.request(&list).await;
    assert_eq!(answer["error"]["code"], 429);
    assert_eq!(answer["error"]["message"], "Rate limit exceeded");
    let wait = answer["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=60_000).contains(&wait));
    // Another key has a hundred of its own, on whatever port.
    let other = desk
        .place
        .run(&["keys", "create", "tablet", "--json"])
        .ok()
        .json();
    let other = other["key"].as_str().unwrap();
    let mut socket = Socket::with_bearer(&desk, "innervoice", other).await;
    let answer = socket.request(&modern(1, "tools/list", json!({}))).await;
    assert!(result(&answer)["tools"].is_array());
}

#[tokio::test]
async fn the_configuration_can_set_another_limit() {
    let config = "[limits]\nrequests_per_minute = { innervoice = 3 }\n";
    let desk = Desk::setup().config(config).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let list = |id| plain(id, "tools/list", json!({}));
    for id in 0..3 {
        assert!(socket.request(&list(id)).await["result"].is_object());
    }
    assert_eq!(socket.request(&list(3)).await["error"]["code"], 429);
}

#[tokio::test]
async fn tools_have_the_documents_names_on_its_port_and_safe_ones_elsewhere() {
    let desk = Desk::setup().config(ALLOWS).own_port(FLAG).start().await;
    let key = key(&desk.place);
    let names = |message: &Value| -> Vec<String> {
        let tools = result(message)["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let list = plain(1, "tools/list", json!({}));
    let mut own = Socket::own_port(&desk, &key).await;
    let mut main = Socket::with_bearer(&desk, "innervoice", &key).await;
    let own_names = names(&own.request(&list).await);
    let main_names = names(&main.request(&list).await);
    assert_eq!(
        own_names[..3],
        ["calendar.create", "message.send", "reminder.create"]
    );
    assert_eq!(
        main_names[..3],
        ["calendar_create", "message_send", "reminder_create"]
    );
    assert_eq!(own_names.len(), main_names.len());
    // Both names work on both ports; only its own port answers flat.
    for name in ["calendar.create", "calendar_create"] {
        let mut call = frame();
        call["params"]["name"] = name.into();
        let answer = own.request(&call).await;
        assert_eq!(result(&answer)["status"], "ok");
        let answer = main.request(&call).await;
        assert_eq!(result(&answer)["structuredContent"]["status"], "ok");
        assert_eq!(result(&answer).get("status"), None);
    }
}

#[tokio::test]
async fn errors_have_the_documents_shape() {
    let desk = Desk::setup().config(ALLOWS).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let mut call = frame();
    call["params"]["arguments"]["start"] = "soon".into();
    let answer = socket.request(&call).await;
    let result = result(&answer);
    assert_eq!(result["isError"], true);
    assert_eq!(result["status"], "error");
    assert_eq!(result["code"], "INVALID_TIME");
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("`soon`"), "{error}");
    assert_eq!(
        result["message"],
        "I did not understand when you mean by “soon”."
    );
    assert_eq!(result["structuredContent"]["error"], error);
    assert_eq!(result["content"][0]["text"], result["message"]);
    // The shape is the same, whichever station refuses.
    call["params"]["arguments"] = json!({ "title": "x" });
    let answer = socket.request(&call).await;
    assert_eq!(answer["result"]["code"], "INVALID_ARGUMENT", "{answer}");
    call["params"]["name"] = "message.send".into();
    call["params"]["arguments"] = json!({ "to": "徳川家康", "text": "hi" });
    let answer = socket.request(&call).await;
    assert_eq!(answer["result"]["code"], "RECIPIENT_NOT_FOUND");
    assert_eq!(answer["result"]["details"]["candidates"], json!([]));
}

#[tokio::test]
async fn a_retry_with_its_key_creates_nothing_new() {
    let desk = Desk::setup().config(ALLOWS).own_port(FLAG).start().await;
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let mut call = frame();
    call["params"]["arguments"]["idempotency_key"] = "k1".into();
    let first = socket.request(&call).await;
    let again = socket.request(&call).await;
    assert_eq!(result(&first)["id"], result(&again)["id"]);
    let list = tool_call("calendar.list", &json!({ "from": "2025-09-19" }));
    let list = socket.request(&list).await;
    assert_eq!(result(&list)["events"].as_array().unwrap().len(), 1);
}

/// The first answer is replayed, although the call would fail by now.
#[tokio::test]
async fn a_retry_with_its_key_is_answered_although_its_recipient_is_gone() {
    let desk = Desk::setup().config(ALLOWS).own_port(FLAG).start().await;
    import(&desk.place, "Taro", "taro@example.com");
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let mut call = frame();
    call["params"] = json!({
        "name": "message.send",
        "arguments": { "to": "Taro", "text": "hello", "idempotency_key": "k1" }
    });
    let first = socket.request(&call).await;
    import(&desk.place, "Somebody else", "taro@example.com");
    let again = socket.request(&call).await;
    assert_eq!(result(&first)["id"], result(&again)["id"]);
    call["params"]["arguments"]["idempotency_key"] = "k2".into();
    let other = socket.request(&call).await;
    assert_eq!(result(&other)["code"], "RECIPIENT_NOT_FOUND");
}

#[tokio::test]
async fn its_port_serves_only_websockets() {
    let desk = Desk::setup().own_port(FLAG).start().await;
    for path in ["/", "/mcp"] {
        let answer = request(desk.own_port, "GET", path, &[], "").await;
        assert_eq!(answer.status, 426, "{path}");
    }
    let posted = request(desk.own_port, "POST", "/", &[], "{}").await;
    assert_eq!(posted.status, 405);
    assert!(posted.header("allow").unwrap().contains("GET"));
    let text = posted.text();
    assert!(text.contains("Open a WebSocket at /"), "{text}");
    assert!(text.contains("/mcp/innervoice on the main port"), "{text}");
    let alive = request(desk.own_port, "GET", "/livez", &[], "").await;
    assert_eq!(alive.status, 200);
}

#[tokio::test]
async fn an_address_book_is_imported_and_the_recipient_shown() {
    let desk = Desk::setup().config(ASKS).own_port(FLAG).start().await;
    let vcf = "BEGIN:VCARD\nVERSION:3.0\nN:田中;太郎;;;\nFN:田中 太郎\nEMAIL:taro@example.com\nEND:VCARD\n";
    let file = desk.place.file("contacts.vcf", vcf);
    desk.place
        .run(&["import", "innervoice", file.to_str().unwrap()])
        .ok();
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let arguments = json!({ "to": "田中さん", "text": "今から帰ります" });
    let call = tool_call("message.send", &arguments);
    socket.send(&call).await;
    let asked = approve(&desk.place).await;
    let shown = asked.to_string();
    assert!(shown.contains("田中 太郎 <taro@example.com>"), "{shown}");
    assert!(shown.contains("今から帰ります"), "{shown}");
    let answer = socket.receive().await;
    assert_eq!(result(&answer)["status"], "ok");
    assert_eq!(result(&answer)["delivery"], "not_configured");
}

/// An approval is for the address that was shown, even if the name has another
/// address by now.
#[tokio::test]
async fn a_name_with_a_new_address_is_asked_about_again() {
    let config = "[approval]\nhold_seconds = 0\n";
    let desk = Desk::setup().config(config).own_port(FLAG).start().await;
    import(&desk.place, "Taro", "taro@example.com");
    let mut socket = Socket::own_port(&desk, &key(&desk.place)).await;
    let arguments = json!({ "to": "Taro", "text": "the code is 1234" });
    let call = tool_call("message.send", &arguments);
    let answer = socket.request(&call).await;
    assert_eq!(answer["result"]["code"], "APPROVAL_REQUIRED");
    approve(&desk.place).await;
    import(&desk.place, "Taro", "stranger@example.com");
    let answer = socket.request(&call).await;
    assert_eq!(answer["result"]["code"], "APPROVAL_REQUIRED", "{answer}");
    import(&desk.place, "Taro", "taro@example.com");
    let answer = socket.request(&call).await;
    assert_eq!(result(&answer)["recipient"], "Taro <taro@example.com>");
}
