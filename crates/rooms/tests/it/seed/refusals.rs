//! Calls that are refused in two rooms, `a` with the agent `x` and `b` with `y`,
//! when there may be two rooms.

use serde_json::{Value, json};

type Refusal = (&'static str, Value, &'static str);

pub fn said(room: &str, agent: &str, message: &str) -> Value {
    json!({"roomName": room, "agentName": agent, "message": message})
}

pub fn about_rooms() -> Vec<Refusal> {
    vec![
        (
            "get_messages",
            json!({"roomName": "nowhere"}),
            "ROOM_NOT_FOUND",
        ),
        (
            "get_status",
            json!({"roomName": "nowhere"}),
            "ROOM_NOT_FOUND",
        ),
        ("send_message", said("nowhere", "x", "hi"), "ROOM_NOT_FOUND"),
        (
            "create_room",
            json!({"roomName": "a"}),
            "ROOM_ALREADY_EXISTS",
        ),
        (
            "create_room",
            json!({"roomName": "c"}),
            "ROOM_LIMIT_EXCEEDED",
        ),
        (
            "create_room",
            json!({"roomName": "a b"}),
            "INVALID_ROOM_NAME",
        ),
        (
            "create_room",
            json!({"roomName": "../a"}),
            "INVALID_ROOM_NAME",
        ),
        ("create_room", json!({}), "INVALID_ROOM_NAME"),
        (
            "create_room",
            json!({"roomName": "x".repeat(51)}),
            "INVALID_ROOM_NAME",
        ),
        (
            "create_room",
            json!({"roomName": "c", "description": "x".repeat(201)}),
            "INVALID_ARGUMENT",
        ),
        (
            "enter_room",
            json!({"roomName": "a", "agentName": "x"}),
            "AGENT_ALREADY_IN_ROOM",
        ),
        (
            "enter_room",
            json!({"roomName": "a", "agentName": "system"}),
            "INVALID_AGENT_NAME",
        ),
        (
            "enter_room",
            json!({"roomName": "a", "agentName": "a/b"}),
            "INVALID_AGENT_NAME",
        ),
        (
            "leave_room",
            json!({"roomName": "a", "agentName": "y"}),
            "AGENT_NOT_IN_ROOM",
        ),
        (
            "leave_room",
            json!({"roomName": "a", "agentName": "z"}),
            "AGENT_NOT_IN_ROOM",
        ),
    ]
}

pub fn about_messages() -> Vec<Refusal> {
    vec![
        ("send_message", said("a", "y", "hi"), "AGENT_NOT_IN_ROOM"),
        ("send_message", said("a", "z", "hi"), "AGENT_NOT_IN_ROOM"),
        ("send_message", said("a", "x", ""), "INVALID_MESSAGE_FORMAT"),
        (
            "send_message",
            said("a", "x", " \n"),
            "INVALID_MESSAGE_FORMAT",
        ),
        (
            "send_message",
            said("a", "x", &"あ".repeat(10_001)),
            "INVALID_MESSAGE_FORMAT",
        ),
        (
            "send_message",
            json!({"roomName": "a", "agentName": "x"}),
            "INVALID_MESSAGE_FORMAT",
        ),
        (
            "send_message",
            json!({"roomName": "a", "agentName": "x", "message": "hi", "metadata": [1]}),
            "INVALID_MESSAGE_FORMAT",
        ),
        (
            "send_message",
            json!({"roomName": "a", "agentName": "x", "message": "hi", "metadata": {"k": "x".repeat(10_000)}}),
            "INVALID_MESSAGE_FORMAT",
        ),
        (
            "send_message",
            json!({"roomName": "a", "agentName": "x", "message": "hi", "replyTo": "no"}),
            "MESSAGE_NOT_FOUND",
        ),
        (
            "wait_for_messages",
            json!({"roomName": "a", "agentName": "y"}),
            "AGENT_NOT_IN_ROOM",
        ),
        (
            "wait_for_messages",
            json!({"roomName": "a", "agentName": "z"}),
            "AGENT_NOT_IN_ROOM",
        ),
        (
            "wait_for_messages",
            json!({"roomName": "a", "agentName": "x", "timeout": 301}),
            "INVALID_ARGUMENT",
        ),
        (
            "wait_for_messages",
            json!({"roomName": "a", "agentName": "x", "timeout": 0.5}),
            "INVALID_ARGUMENT",
        ),
    ]
}

pub fn about_reading() -> Vec<Refusal> {
    vec![
        (
            "search_messages",
            json!({"agentName": "z"}),
            "AGENT_NOT_FOUND",
        ),
        (
            "mark_read",
            json!({"roomName": "a", "agentName": "y"}),
            "AGENT_NOT_IN_ROOM",
        ),
        (
            "mark_read",
            json!({"roomName": "a", "agentName": "x", "messageId": "no"}),
            "MESSAGE_NOT_FOUND",
        ),
        (
            "get_messages",
            json!({"roomName": "a", "mentionsOnly": true}),
            "INVALID_ARGUMENT",
        ),
        (
            "get_messages",
            json!({"roomName": "a", "limit": 1001}),
            "INVALID_ARGUMENT",
        ),
        (
            "get_messages",
            json!({"roomName": "a", "cursor": "no"}),
            "INVALID_CURSOR",
        ),
        (
            "get_messages",
            json!({"roomName": "a", "before": "no"}),
            "MESSAGE_NOT_FOUND",
        ),
        (
            "clear_room_messages",
            json!({"roomName": "a", "confirm": false}),
            "CONFIRMATION_REQUIRED",
        ),
        (
            "clear_room_messages",
            json!({"roomName": "a"}),
            "CONFIRMATION_REQUIRED",
        ),
        (
            "delete_room",
            json!({"roomName": "a"}),
            "CONFIRMATION_REQUIRED",
        ),
    ]
}
