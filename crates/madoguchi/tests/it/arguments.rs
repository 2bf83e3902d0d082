//! What counts as given. Clients with strict schemas make a model send every
//! property, so it sends `""` or `null` for the optional ones it does not mean.

use serde_json::{Value, json};

use crate::harness::{Pipe, Place, call, modern, result};

/// One counter on stdio.
struct Counter(Pipe);

impl Counter {
    fn start(place: &Place, counter: &str, config: &str) -> Self {
        let config = place.file(&format!("{counter}.toml"), config);
        let mut command = place.command();
        command.args(["stdio", counter, "--config"]).arg(config);
        Self(Pipe::start(&mut command))
    }

    fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        result(&self.0.request(&call(1, tool, arguments.clone()))).clone()
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.answer(tool, arguments);
        assert_ne!(answer["isError"], true, "{tool} {arguments}: {answer}");
        answer["structuredContent"].clone()
    }

    /// The error of a refused call.
    #[track_caller]
    fn error(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.answer(tool, arguments);
        assert_eq!(answer["isError"], true, "{tool} {arguments}: {answer}");
        let said = &answer["structuredContent"];
        // InnerVoice has its fields at the top.
        said.get("error")
            .filter(|error| error.is_object())
            .unwrap_or(said)
            .clone()
    }

    fn tools(&mut self) -> Vec<Value> {
        let listed = self.0.request(&modern(1, "tools/list", json!({})));
        result(&listed)["tools"].as_array().unwrap().clone()
    }
}

/// The same arguments, with `empty` for every optional one that is not there, in
/// nested objects too.
fn filled(schema: &Value, arguments: &Value, empty: &Value) -> Value {
    let mut filled = arguments.clone();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().unwrap() {
        if arguments.get(name).is_some() || required.iter().any(|one| one == name) {
            continue;
        }
        filled[name] = match property.get("properties") {
            Some(_) => self::filled(property, &json!({}), empty),
            None => empty.clone(),
        };
    }
    filled
}

/// The required arguments of a tool that changes nothing.
fn needed(tool: &str) -> Value {
    match tool {
        "get_show_schedule" => json!({ "movie_id": "M001", "date": "2026-11-16" }),
        "get_seat_availability" => json!({ "schedule_id": "S20261116-T4-4" }),
        "get_reservation_details" | "get_ticket" => json!({ "reservation_id": "none" }),
        "search_products" => json!({ "keywords": [""] }),
        "check_inventory" => json!({ "product_ids": [1] }),
        "get_product" => json!({ "product_id": 1 }),
        "get_cart_mandate" => json!({ "cart_id": "none" }),
        "get_task" | "get_context" => json!({ "task_id": "T001" }),
        "get_adr" => json!({ "adr_number": 1 }),
        "search" | "search_tasks" | "search_contexts" => json!({ "query": "one" }),
        "agent_communication_get_messages" | "agent_communication_list_room_users" => {
            json!({ "roomName": "dev" })
        }
        _ => json!({}),
    }
}

/// An answer without the range that begins now: a second may pass between two calls.
fn without_now(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(details) = answer.get_mut("details").and_then(Value::as_object_mut) {
        details.remove("from");
        details.remove("to");
    }
    answer
}

#[tokio::test]
async fn an_empty_text_or_null_for_an_optional_argument_counts_as_not_given() {
    let place = Place::new();
    place.load_demo_of("cinema", &[]);
    place.load_demo_of("merchant", &[]);
    for counter in ["cinema", "innervoice", "merchant", "todo", "rooms"] {
        let mut desk = Counter::start(&place, counter, "");
        match counter {
            "todo" => drop(desk.ok("create_task", &json!({ "title": "one" }))),
            "rooms" => drop(desk.ok("create_room", &json!({ "roomName": "dev" }))),
            _ => {}
        }
        let mut compared = 0;
        for tool in desk.tools() {
            let name = tool["name"].as_str().unwrap();
            if tool["annotations"]["readOnlyHint"] != true {
                continue;
            }
            let plain = needed(name);
            let expected = without_now(&desk.answer(name, &plain)["structuredContent"]);
            for empty in [json!(""), Value::Null] {
                let arguments = filled(&tool["inputSchema"], &plain, &empty);
                let answer = desk.answer(name, &arguments);
                let answer = without_now(&answer["structuredContent"]);
                assert_eq!(answer, expected, "{name} {arguments}");
            }
            compared += 1;
        }
        assert!(compared >= 4, "{counter}: {compared} tools");
    }
}

#[tokio::test]
async fn a_change_takes_an_empty_option_as_not_given_and_a_required_one_as_it_is() {
    let place = Place::new();
    let mut todo = Counter::start(&place, "todo", "");
    let task = json!({
        "title": "one", "category": "", "description": "", "subtasks": "", "due": "",
        "idempotency_key": ""
    });
    todo.ok("create_task", &task);
    // An empty key is no key, so this is a second task.
    assert_eq!(todo.ok("create_task", &task)["task_id"], "T002");
    let subtasks = json!([{ "title": "s", "status": "" }]);
    let update = json!({
        "task_id": "T001", "title": "", "status": "", "category": "", "subtasks": subtasks,
        "due": "", "clear": ""
    });
    let updated = todo.ok("update_task", &update);
    assert_eq!(updated["updated_fields"], json!(["subtasks"]));
    let batch = json!({ "operations": [
        { "tool": "update_task", "arguments": { "task_id": "T001", "due": "", "status": "done" } }
    ] });
    let done = todo.ok("batch", &batch);
    assert_eq!(done["results"][0]["updated_fields"], json!(["status"]));
    let error = todo.error("create_task", &json!({ "title": "" }));
    assert_eq!(error["code"], "INVALID_ARGUMENT");

    let mut rooms = Counter::start(&place, "rooms", "");
    let room = json!({ "roomName": "dev", "description": "" });
    rooms.ok("create_room", &room);
    let profile = json!({ "role": "", "description": null, "capabilities": ["", "b"] });
    let entered = json!({ "agentName": "ann", "roomName": "dev", "profile": profile });
    rooms.ok("enter_room", &entered);
    let message = json!({
        "agentName": "ann", "roomName": "dev", "message": "hello", "metadata": "",
        "reply_to": "", "replyTo": "", "clientMessageId": ""
    });
    rooms.ok("send_message", &message);
    rooms.ok("send_message", &message);
    let room = json!({ "roomName": "dev" });
    assert_eq!(rooms.ok("get_messages", &room)["count"], 2);
    let users = rooms.ok("list_room_users", &room);
    let expected = json!({ "capabilities": ["", "b"] });
    assert_eq!(users["users"][0]["profile"], expected, "{users}");
    let error = rooms.error(
        "send_message",
        &json!({ "agentName": "ann", "roomName": "dev", "message": "" }),
    );
    assert_eq!(error["details"]["field"], "message", "{error}");
}

#[tokio::test]
async fn a_retry_without_its_empty_options_is_the_same_call() {
    let place = Place::new();
    let config = "[approval]\nhold_seconds = 0\n";
    let mut innervoice = Counter::start(&place, "innervoice", config);
    let start = "2030-01-07T09:00";
    let full = json!({
        "title": "run", "start": start, "duration_min": 30, "description": "", "location": null
    });
    let asked = innervoice.error("calendar_create", &full);
    assert_eq!(asked["code"], "APPROVAL_REQUIRED", "{asked}");
    let id = asked["details"]["approval_id"].as_str().unwrap();
    place.run(&["approvals", "approve", id]).ok();
    let short = json!({ "title": "run", "start": start, "duration_min": 30 });
    innervoice.ok("calendar_create", &short);

    place.load_demo_of("merchant", &[]);
    let mut merchant = Counter::start(&place, "merchant", "");
    let mut cart = json!({
        "cart_plan": { "items": [{ "product_id": 1, "quantity": 1 }] }, "products": [],
        "idempotency_key": "k1", "replaces": "", "format": "", "shipping_address": ""
    });
    let first = merchant.ok("build_cart_mandates", &cart);
    for name in ["replaces", "format", "shipping_address"] {
        cart.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(merchant.ok("build_cart_mandates", &cart), first);
}

#[tokio::test]
async fn clear_empties_a_field_and_an_empty_text_leaves_it() {
    let place = Place::new();
    let config = "[approval]\ntools = { \"innervoice.calendar_create\" = \"allow\", \
        \"innervoice.calendar_update\" = \"allow\" }\n";
    let mut innervoice = Counter::start(&place, "innervoice", config);
    let event = json!({
        "title": "run", "start": "2030-01-07T09:00", "duration_min": 30,
        "description": "slowly", "location": "park"
    });
    let id = innervoice.ok("calendar_create", &event)["id"].clone();
    let update = |extra: Value| {
        let mut arguments = json!({ "id": id });
        for (name, value) in extra.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let kept = update(json!({ "title": "walk", "description": "", "location": "" }));
    let kept = innervoice.ok("calendar_update", &kept)["event"].clone();
    assert_eq!(kept["description"], "slowly");
    assert_eq!(kept["location"], "park");
    for arguments in [json!({ "location": "" }), json!({ "clear": [] })] {
        let error = innervoice.error("calendar_update", &update(arguments));
        assert_eq!(error["code"], "NOTHING_TO_CHANGE");
    }
    let both = update(json!({ "clear": ["location"], "location": "beach" }));
    let error = innervoice.error("calendar_update", &both);
    assert_eq!(error["code"], "INVALID_ARGUMENT", "{error}");
    assert_eq!(error["details"]["field"], "location", "{error}");
    let clear = update(json!({ "clear": ["location"] }));
    // What is empty already stays empty.
    for _ in 0..2 {
        let cleared = innervoice.ok("calendar_update", &clear)["event"].clone();
        assert_eq!(cleared.get("location"), None, "{cleared}");
        assert_eq!(cleared["description"], "slowly");
    }

    let mut todo = Counter::start(&place, "todo", "");
    let task = json!({ "title": "one", "due": "2030-01-07" });
    todo.ok("create_task", &task);
    todo.ok(
        "update_task",
        &json!({ "task_id": "T001", "due": "", "status": "in_progress" }),
    );
    let read = json!({ "task_id": "T001" });
    assert_eq!(todo.ok("get_task", &read)["due"], "2030-01-07");
    let both = json!({ "task_id": "T001", "due": "2030-01-08", "clear": ["due"] });
    assert_eq!(todo.error("update_task", &both)["code"], "INVALID_ARGUMENT");
    for _ in 0..2 {
        todo.ok(
            "update_task",
            &json!({ "task_id": "T001", "clear": ["due"] }),
        );
        assert_eq!(todo.ok("get_task", &read).get("due"), None);
    }
}

/// A read may understand more than its pattern; then its description says so.
#[tokio::test]
async fn a_change_never_acts_on_an_id_or_a_status_it_had_to_guess() {
    let place = Place::new();
    let mut todo = Counter::start(&place, "todo", "");
    for title in ["one", "two"] {
        todo.ok("create_task", &json!({ "title": title }));
    }
    let adr = json!({ "title": "Why", "context": "c", "decision": "d", "rationale": "r" });
    todo.ok("create_adr", &adr);
    for (tool, arguments, code) in [
        ("delete_task", json!({ "task_id": "2" }), "INVALID_TASK_ID"),
        (
            "update_task",
            json!({ "task_id": 2, "status": "done" }),
            "INVALID_TASK_ID",
        ),
        (
            "update_task",
            json!({ "task_id": "T002", "status": "completed" }),
            "INVALID_STATUS",
        ),
        (
            "update_adr_status",
            json!({ "adr_number": 1, "status": "deprecated" }),
            "INVALID_STATUS",
        ),
        (
            "update_adr_status",
            json!({ "adr_number": "adr-001", "status": "Deprecated" }),
            "INVALID_ADR_NUMBER",
        ),
    ] {
        assert_eq!(todo.error(tool, &arguments)["code"], code, "{arguments}");
        let batch = json!({ "operations": [{ "tool": tool, "arguments": arguments }] });
        assert_eq!(todo.error("batch", &batch)["code"], code, "{arguments}");
    }
    let read = todo.ok("get_task", &json!({ "task_id": "2" }));
    assert_eq!(read["task_id"], "T002");
    let tools = todo.tools();
    let described = |tool: &str, argument: &str| {
        let found = tools.iter().find(|one| one["name"] == tool).unwrap();
        let property = &found["inputSchema"]["properties"][argument];
        property["description"].as_str().unwrap().to_owned()
    };
    assert!(described("get_task", "task_id").contains("#t2"));
    assert!(described("get_adr", "adr_number").contains("adr-003"));
    assert!(described("list_tasks", "status").contains("completed"));

    place.load_demo_of("cinema", &[]);
    let mut cinema = Counter::start(&place, "cinema", "");
    let tomorrow = json!({
        "movie_title": "銀河鉄道の夜", "date": "tomorrow", "start_time": "10:00",
        "seat_ids": ["A1"]
    });
    let error = cinema.error("reserve_seats", &tomorrow);
    assert_eq!(error["details"]["field"], "date", "{error}");
    let mut rooms = Counter::start(&place, "rooms", "");
    rooms.ok("create_room", &json!({ "roomName": "dev" }));
    let wide = json!({ "roomName": "ｄｅｖ", "confirm": true });
    let error = rooms.error("delete_room", &wide);
    assert_eq!(error["details"]["field"], "roomName", "{error}");
}
