//! Calls that are refused in two rooms, `a` with the agent `x` and `b` with `y`,
//! when there may be two rooms.

use serde_json::{Value, json};

use crate::desk::{confirmed, member, message, room, with};

type Refusal = (&'static str, Value, &'static str);

pub fn about_rooms() -> Vec<Refusal> {
    const INVALID_NAME: &str = "INVALID_ROOM_NAME";
    let described = with(room("c"), json!({"description": "x".repeat(201)}));
    vec![
        ("get_messages", room("nowhere"), "ROOM_NOT_FOUND"),
        ("get_status", room("nowhere"), "ROOM_NOT_FOUND"),
        (
            "send_message",
            message("nowhere", "x", "hi"),
            "ROOM_NOT_FOUND",
        ),
        ("create_room", room("a"), "ROOM_ALREADY_EXISTS"),
        ("create_room", room("c"), "ROOM_LIMIT_EXCEEDED"),
        ("create_room", room("a b"), INVALID_NAME),
        ("create_room", room("../a"), INVALID_NAME),
        ("create_room", json!({}), INVALID_NAME),
        ("create_room", room(&"x".repeat(51)), INVALID_NAME),
        ("create_room", described, "INVALID_ARGUMENT"),
        ("enter_room", member("a", "x"), "AGENT_ALREADY_IN_ROOM"),
        ("enter_room", member("a", "system"), "INVALID_AGENT_NAME"),
        ("enter_room", member("a", "a/b"), "INVALID_AGENT_NAME"),
        ("leave_room", member("a", "y"), "AGENT_NOT_IN_ROOM"),
        ("leave_room", member("a", "z"), "AGENT_NOT_IN_ROOM"),
    ]
}

pub fn about_messages() -> Vec<Refusal> {
    const FORMAT: &str = "INVALID_MESSAGE_FORMAT";
    let say = |text: &str| message("a", "x", text);
    let metadata = |value: Value| with(say("hi"), json!({"metadata": value}));
    let wait = |timeout: f64| with(member("a", "x"), json!({"timeout": timeout}));
    let reply = with(say("hi"), json!({"replyTo": "no"}));
    vec![
        ("send_message", message("a", "y", "hi"), "AGENT_NOT_IN_ROOM"),
        ("send_message", message("a", "z", "hi"), "AGENT_NOT_IN_ROOM"),
        ("send_message", say(""), FORMAT),
        ("send_message", say(" \n"), FORMAT),
        ("send_message", say(&"あ".repeat(10_001)), FORMAT),
        ("send_message", member("a", "x"), FORMAT),
        ("send_message", metadata(json!([1])), FORMAT),
        (
            "send_message",
            metadata(json!({"k": "x".repeat(10_000)})),
            FORMAT,
        ),
        ("send_message", reply, "MESSAGE_NOT_FOUND"),
        ("wait_for_messages", member("a", "y"), "AGENT_NOT_IN_ROOM"),
        ("wait_for_messages", member("a", "z"), "AGENT_NOT_IN_ROOM"),
        ("wait_for_messages", wait(301.0), "INVALID_ARGUMENT"),
        ("wait_for_messages", wait(0.5), "INVALID_ARGUMENT"),
    ]
}

pub fn about_reading() -> Vec<Refusal> {
    const UNCONFIRMED: &str = "CONFIRMATION_REQUIRED";
    let get = |more: Value| with(room("a"), more);
    let mark = with(member("a", "x"), json!({"messageId": "no"}));
    let unconfirmed = with(confirmed("a"), json!({"confirm": false}));
    vec![
        (
            "search_messages",
            json!({"agentName": "z"}),
            "AGENT_NOT_FOUND",
        ),
        ("mark_read", member("a", "y"), "AGENT_NOT_IN_ROOM"),
        ("mark_read", mark, "MESSAGE_NOT_FOUND"),
        (
            "get_messages",
            get(json!({"mentionsOnly": true})),
            "INVALID_ARGUMENT",
        ),
        (
            "get_messages",
            get(json!({"limit": 1001})),
            "INVALID_ARGUMENT",
        ),
        (
            "get_messages",
            get(json!({"cursor": "no"})),
            "INVALID_CURSOR",
        ),
        (
            "get_messages",
            get(json!({"before": "no"})),
            "MESSAGE_NOT_FOUND",
        ),
        ("clear_room_messages", unconfirmed, UNCONFIRMED),
        ("clear_room_messages", room("a"), UNCONFIRMED),
        ("delete_room", room("a"), UNCONFIRMED),
    ]
}
