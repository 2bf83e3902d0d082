//! `madoguchi stdio`: what a desktop client launches and talks to.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use crate::harness::{
    LEGACY, MODERN, Output, Pipe, Place, call, day_after_tomorrow, free_seats, modern, plain,
    refused, result, structured,
};

fn with_demo() -> Place {
    let place = Place::new();
    place.load_demo(&[]);
    place
}

#[test]
fn modern_era_without_handshake() {
    let place = with_demo();
    let mut pipe = Pipe::start(place.command().args(["stdio", "cinema"]));
    let about = pipe.request(&modern(1, "server/discover", json!({})));
    let versions = result(&about)["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)), "{about}");
    let movies = pipe.request(&call(2, "get_movie_list", json!({})));
    assert_eq!(result(&movies)["resultType"], "complete");
    assert!(
        structured(result(&movies))["movies"]
            .as_array()
            .unwrap()
            .len()
            >= 10
    );
    let wrong = pipe.request(&call(3, "get_movie_list", json!({ "date": "soon" })));
    refused(result(&wrong), "INVALID_DATE");
    let (rest, status, _) = pipe.finish();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}

#[test]
fn handshake_era_in_every_revision() {
    let place = with_demo();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let mut pipe = Pipe::with_handshake(place.command().args(["stdio", "cinema"]), version);
        let list = json!({ "name": "get_movie_list", "arguments": {} });
        let movies = pipe.request(&plain(1, "tools/call", list));
        assert!(structured(result(&movies))["movies"].is_array());
        assert_eq!(
            pipe.request(&plain(2, "ping", json!({})))["result"],
            json!({})
        );
        assert!(pipe.finish().1.success());
    }
}

/// `Pipe` fails on any line of stdout that is not a message.
#[test]
fn logs_stay_on_stderr() {
    let place = with_demo();
    let mut command = place.command();
    command
        .args(["stdio", "cinema", "--fixture"])
        .env("LOG_LEVEL", "trace");
    let mut pipe = Pipe::start(&mut command);
    pipe.request(&call(1, "get_movie_list", json!({})));
    pipe.request(&call(2, "get_movie_list", json!({ "date": "soon" })));
    let (_, status, stderr) = pipe.finish();
    assert!(status.success());
    assert!(stderr.contains("call done"), "{stderr}");
    assert!(stderr.contains("INVALID_DATE"), "{stderr}");

    let mut command = place.command();
    command.args(["stdio", "cinema"]).env("LOG_LEVEL", "error");
    let mut pipe = Pipe::start(&mut command);
    pipe.request(&call(1, "get_movie_list", json!({ "date": "soon" })));
    assert_eq!(pipe.finish().2, "");

    let mut command = place.command();
    command.args(["stdio", "cinema"]).env("LOG_LEVEL", "loud");
    Output::of(&mut command, "").fails_with("LOG_LEVEL is `loud`");
}

/// A panic in a tool is answered, and told to the log alone.
#[test]
fn a_panic_does_not_reach_stdout() {
    let place = Place::new();
    let mut pipe = Pipe::start(place.command().args(["stdio", "fixture", "--fixture"]));
    let answer = pipe.request(&call(1, "fixture_panic", json!({})));
    refused(result(&answer), "INTERNAL_ERROR");
    let echo = pipe.request(&call(2, "fixture_echo", json!({ "text": "on" })));
    assert_eq!(structured(result(&echo))["text"], "on");
    assert!(pipe.finish().2.contains("panic"));
}

/// Everything that was asked before the end is answered after it.
#[test]
fn input_may_end_before_the_answers() {
    let place = Place::new();
    let mut pipe = Pipe::start(place.command().args(["stdio", "fixture", "--fixture"]));
    for id in 0..400 {
        let sleep = json!({ "milliseconds": id % 5 * 100 });
        pipe.send(&call(id, "fixture_sleep", sleep));
    }
    let (answers, status, _) = pipe.finish();
    assert!(status.success());
    let ids: BTreeSet<u64> = answers.iter().map(|a| a["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..400).collect());
    assert!(
        answers
            .iter()
            .all(|answer| result(answer)["isError"] != true)
    );
}

#[test]
fn broken_lines_are_answered() {
    let place = Place::new();
    let mut pipe = Pipe::start(place.command().args(["stdio", "fixture", "--fixture"]));
    let mut answer_to = |text: &str| {
        pipe.send_text(text);
        pipe.receive().unwrap()
    };
    assert_eq!(answer_to("{\"jsonrpc\":\n")["error"]["code"], -32700);
    assert_eq!(answer_to("[]\n")["error"]["code"], -32600);
    assert_eq!(answer_to("{\"id\": 3, \"method\": \"ping\"}\n")["id"], 3);
    let long = format!("{{\"text\": \"{}\"}}\n", "x".repeat(5 * 1024 * 1024));
    assert_eq!(answer_to(&long)["error"]["code"], -32600);
    // Blank lines are nothing, and CRLF ends a line too.
    let echo = call(4, "fixture_echo", json!({ "text": "窓口\u{2028}" }));
    let answer = answer_to(&format!("\n\r\n  {echo}\r\n"));
    assert_eq!(structured(result(&answer))["text"], "窓口\u{2028}");
}

#[test]
fn tools_can_be_excluded() {
    let place = with_demo();
    let mut pipe = Pipe::start(place.command().args(["stdio", "cinema", "--read-only"]));
    let tools = pipe.request(&modern(1, "tools/list", json!({})));
    let names = |tools: &Value| -> Vec<String> {
        let tools = result(tools)["tools"].as_array().unwrap().iter();
        tools
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(!names(&tools).contains(&"reserve_seats".to_owned()));
    let booking = call(2, "reserve_seats", json!({ "seat_ids": ["A1"] }));
    refused(result(&pipe.request(&booking)), "TOOL_NOT_OFFERED");

    let only = ["stdio", "cinema", "--tools", "get_movie_list,reserve_seats"];
    let mut pipe = Pipe::start(place.command().args(only));
    let tools = pipe.request(&modern(1, "tools/list", json!({})));
    assert_eq!(names(&tools), ["get_movie_list", "reserve_seats"]);
}

/// Two clients of one user: what one books, the other sees and is told of.
#[test]
fn two_processes_on_one_data_directory() {
    let place = with_demo();
    let mut one = Pipe::with_handshake(place.command().args(["stdio", "cinema"]), LEGACY);
    let mut two = Pipe::with_handshake(place.command().args(["stdio", "cinema"]), LEGACY);
    let ask = |pipe: &mut Pipe, id, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = pipe.request(&plain(id, "tools/call", params));
        structured(result(&answer)).clone()
    };
    let arguments = json!({ "movie_id": "M001", "date": day_after_tomorrow() });
    let shows = ask(&mut one, 1, "get_show_schedule", arguments);
    let show = &shows["schedules"][0]["schedule_id"];
    let uri = format!("cinema://shows/{}/seats", show.as_str().unwrap());
    let watch = two.request(&plain(1, "resources/subscribe", json!({ "uri": uri })));
    assert!(watch.get("result").is_some(), "{watch}");
    std::thread::sleep(Duration::from_millis(500));
    let seats = json!({ "schedule_id": show });
    let seats = ask(&mut one, 2, "get_seat_availability", seats);
    let seat = free_seats(&seats).pop_first();
    let booking = json!({ "schedule_id": show, "seat_ids": [seat] });
    let booked = ask(&mut one, 3, "reserve_seats", booking);
    let news = two.receive().unwrap();
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["uri"], uri.as_str());
    let id = &booked["reservation"]["reservation_id"];
    let found = ask(
        &mut two,
        2,
        "get_reservation_details",
        json!({ "reservation_id": id }),
    );
    assert_eq!(found["reservation"], booked["reservation"]);
}
