//! The defaults that the counters' documents name, observed from outside with nothing set.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Output, Pipe, Place, call, refused, result, structured};

/// A network of its own, so that the ports are free whatever else runs here.
#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn the_ports_are_those_of_the_documents() {
    const LOOK: &str = r#"
        ip link set lo up
        "$0" serve 2>log &
        desk=$!
        trap 'kill $desk; wait $desk' EXIT
        for _ in $(seq 600); do
            ! curl -fs http://127.0.0.1:8010/readyz >/dev/null || break
            sleep 0.1
        done
        curl -s -o list.json -X POST http://127.0.0.1:8011/mcp/tools/list \
            -H 'Content-Type: application/json' -d '{}'
        curl -s -o /dev/null -w '%{http_code}' --max-time 10 http://127.0.0.1:7777/ \
            -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
            -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' || true
    "#;
    let place = Place::new();
    let mut command = Command::new("unshare");
    place.enter(&mut command);
    command.env("MADOGUCHI_DATA", place.data());
    // A namespace of users lets anybody do this.
    command.args(["--map-root-user", "--net", "bash", "-euc", LOOK]);
    command.arg(env!("CARGO_BIN_EXE_madoguchi"));
    let answer = Output::of(&mut command, "").ok();
    assert_eq!(answer.stdout, "101", "{answer:?}");
    let list: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("list.json")).unwrap()).unwrap();
    let tools = list["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "search_products"),
        "{list}"
    );
}

/// A counter as a client starts it: one process, in a directory, with few variables.
fn stdio(place: &Place, counter: &str, environment: &[(&str, &str)]) -> Pipe {
    let mut command = Command::new(env!("CARGO_BIN_EXE_madoguchi"));
    place.enter(&mut command);
    command.args(["stdio", counter]);
    command.envs(environment.iter().copied());
    Pipe::start(&mut command)
}

fn ok(pipe: &mut Pipe, tool: &str, arguments: Value) -> Value {
    let answer = pipe.request(&call(1, tool, arguments));
    structured(result(&answer)).clone()
}

fn room(name: &str) -> Value {
    json!({ "roomName": name })
}

fn member() -> Value {
    json!({ "roomName": "talk", "agentName": "kuro" })
}

fn message(text: &str) -> Value {
    json!({ "roomName": "talk", "agentName": "kuro", "message": text })
}

#[test]
fn rooms_are_in_data_below_the_working_directory() {
    let place = Place::new();
    let mut pipe = stdio(&place, "rooms", &[]);
    ok(&mut pipe, "create_room", room("talk"));
    ok(&mut pipe, "enter_room", member());
    ok(&mut pipe, "send_message", message("hello"));
    let data = place.path().join("data");
    let rooms = fs::read_to_string(data.join("rooms.json")).unwrap();
    assert!(rooms.contains("\"talk\""), "{rooms}");
    let log = fs::read_to_string(data.join("rooms/talk/messages.jsonl")).unwrap();
    assert!(log.contains("\"hello\""), "{log}");
}

#[test]
fn a_hundred_rooms_are_the_most() {
    let place = Place::new();
    let mut pipe = stdio(&place, "rooms", &[]);
    for number in 0..100 {
        ok(&mut pipe, "create_room", room(&format!("room-{number}")));
    }
    let answer = pipe.request(&call(1, "create_room", room("one-more")));
    refused(result(&answer), "ROOM_LIMIT_EXCEEDED");
}

#[test]
fn a_page_of_messages_has_fifty_and_a_log_ten_thousand() {
    let place = Place::new();
    let mut pipe = stdio(&place, "rooms", &[]);
    ok(&mut pipe, "create_room", room("talk"));
    ok(&mut pipe, "enter_room", member());
    ok(&mut pipe, "send_message", message("first"));
    pipe.finish();
    // The same line again and again, each with an id of its own, up to the limit.
    let path = place.path().join("data/rooms/talk/messages.jsonl");
    let first = fs::read_to_string(&path).unwrap();
    let line: Value = serde_json::from_str(first.trim()).unwrap();
    let mut log = first.clone();
    for number in 1..10_000 {
        let mut line = line.clone();
        line["id"] = json!(format!("message-{number}"));
        // Otherwise they count against what this agent may send in a minute.
        line["agentName"] = json!("somebody");
        log.push_str(&format!("{line}\n"));
    }
    fs::write(&path, &log).unwrap();

    let mut pipe = stdio(&place, "rooms", &[]);
    let page = ok(&mut pipe, "get_messages", room("talk"));
    assert_eq!(page["messages"].as_array().unwrap().len(), 50);
    let archived = || {
        let files = fs::read_dir(path.parent().unwrap()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains("archive")).count()
    };
    assert_eq!(archived(), 0, "ten thousand are not too many");
    ok(&mut pipe, "send_message", message("one more"));
    pipe.finish();
    assert!(archived() > 0);
    let kept = fs::read_to_string(&path).unwrap().lines().count();
    assert!(kept <= 10_000, "{kept}");
}

/// A process of the original server that hangs keeps its lock.
#[test]
fn a_lock_is_waited_for_five_seconds_or_as_long_as_is_set() {
    let place = Place::new();
    let mut pipe = stdio(&place, "rooms", &[]);
    ok(&mut pipe, "create_room", room("talk"));
    pipe.finish();
    let mut original = Command::new("sleep").arg("600").spawn().unwrap();
    let lock = place.path().join("data/rooms.json.lock");
    fs::write(&lock, original.id().to_string()).unwrap();
    let waits = |environment: &[(&str, &str)]| {
        let mut pipe = stdio(&place, "rooms", environment);
        let started = Instant::now();
        let answer = pipe.request(&call(1, "create_room", room("more")));
        refused(result(&answer), "FILE_LOCK_TIMEOUT");
        started.elapsed()
    };
    let (default, short) = (waits(&[]), waits(&[("AGENT_COMM_LOCK_TIMEOUT", "700")]));
    original.kill().unwrap();
    original.wait().unwrap();
    assert!(default >= Duration::from_secs(5), "{default:?}");
    assert!(short >= Duration::from_millis(700), "{short:?}");
    assert!(short < default, "{short:?}, {default:?}");
}

#[test]
fn pages_of_tasks_records_and_matches() {
    let place = Place::new();
    let mut pipe = stdio(&place, "todo", &[]);
    for number in 0..51 {
        let title = format!("Write page {number}");
        let task = ok(&mut pipe, "create_task", json!({ "title": title }));
        let context = json!({ "task_id": task["task_id"], "content": "A page of the book." });
        ok(&mut pipe, "update_context", context);
        let record = json!({
            "title": format!("Decide page {number}"),
            "context": "There are many.", "decision": "This one.",
            "rationale": "It is the best.", "consequences": "None.",
        });
        ok(&mut pipe, "create_adr", record);
    }
    for (tool, arguments, list, most) in [
        ("list_tasks", json!({}), "tasks", 50),
        ("list_adrs", json!({}), "adrs", 50),
        ("search_tasks", json!({ "query": "page" }), "results", 20),
        ("search_contexts", json!({ "query": "page" }), "results", 20),
    ] {
        let page = ok(&mut pipe, tool, arguments);
        let found = page[list].as_array();
        assert_eq!(found.map(Vec::len), Some(most), "{tool}: {page}");
    }
}

/// `INFO` is the default of `LOG_LEVEL`: what happens is logged, details are not.
#[test]
fn the_log_says_what_happens_and_no_details() {
    let place = Place::new();
    let mut pipe = stdio(&place, "rooms", &[]);
    let answer = pipe.request(&call(1, "get_messages", room("nowhere")));
    refused(result(&answer), "ROOM_NOT_FOUND");
    let (_, _, log) = pipe.finish();
    assert!(log.contains("\"level\":\"INFO\""), "{log}");
    assert!(!log.contains("\"level\":\"DEBUG\""), "{log}");
}
