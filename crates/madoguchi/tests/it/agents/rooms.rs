//! Tasks for the rooms counter.

use serde_json::{Value, json};

use super::{Subject, Task};

fn create(agent: &str) -> Value {
    json!({ "roomName": "release", "description": "All about 1.0", "agentName": agent })
}

fn member(agent: &str) -> Value {
    json!({ "agentName": agent, "roomName": "release" })
}

fn message(agent: &str, text: &str) -> Value {
    json!({ "agentName": agent, "roomName": "release", "message": text })
}

/// Alice and bob have talked; the room is `release`.
fn talked(asked: &'static str) -> Task {
    Task::new(asked)
        .given("create_room", create("alice"))
        .given("enter_room", member("bob"))
        .given(
            "send_message",
            message("alice", "How far is the migration?"),
        )
        .given(
            "send_message",
            message("bob", "The index build is slow, @alice."),
        )
        .given(
            "send_message",
            message("bob", "One more day for the migration."),
        )
}

pub fn subject() -> Subject {
    Subject {
        counter: "rooms",
        config: "",
        has_demo: false,
        tasks: vec![
            Task::new("Open a room for the release and go in as zoe")
                .call("create_room", create("zoe"))
                .shows("zoe entered it"),
            talked("Go into release as zoe: what is it about, and who is there?")
                .call("enter_room", member("zoe"))
                .shows("All about 1.0")
                .shows("\"onlineUsers\":[\"alice\",\"bob\",\"zoe\"]")
                .shows("\"unreadCount\":3"),
            talked("What did bob say about the migration?")
                .call(
                    "search_messages",
                    json!({ "query": "migration", "agentName": "bob", "compact": true }),
                )
                .shows("One more day"),
            talked("Has bob answered alice's question?")
                .given(
                    "send_message",
                    json!({ "agentName": "bob", "roomName": "release", "message": "Nearly done",
                        "replyTo": "$g3/messageId" }),
                )
                .call(
                    "wait_for_messages",
                    json!({ "agentName": "alice", "roomName": "release", "timeout": 1,
                        "replyTo": "$g3/messageId", "compact": true }),
                )
                .shows("Nearly done"),
            talked("Tell alice in private that the date slips")
                .call(
                    "send_message",
                    json!({ "agentName": "bob", "roomName": "release", "to": "alice",
                        "message": "The date slips." }),
                )
                .refused("UNKNOWN_ARGUMENT")
                .shows("no private messages"),
            talked("Ask carol in release for the slides")
                .call("send_message", message("bob", "@carol, the slides, please"))
                .shows("UNKNOWN_MENTION"),
            talked("What was said after alice's question?")
                .call(
                    "get_messages",
                    json!({ "roomName": "release", "after": "$g3/messageId", "compact": true }),
                )
                .shows("One more day")
                .shows("index build"),
            talked("Did anybody mention the slides?")
                .call("search_messages", json!({ "query": "slides" }))
                .shows("No message contains `slides`."),
            talked("Who has written most in release?")
                .call("list_room_users", json!({ "roomName": "release" }))
                .shows("\"messageCount\":2"),
            talked("I am alice: is anything unread?")
                .call("list_rooms", json!({ "agentName": "alice" }))
                .shows("\"unreadCount\":2"),
            talked("花子として、自分宛てのメンションだけ見せて")
                .given(
                    "send_message",
                    message("bob", "@花子さん、確認をお願いします"),
                )
                .call(
                    "get_messages",
                    json!({ "roomName": "release", "agentName": "花子", "mentionsOnly": true,
                        "compact": true }),
                )
                .shows("確認をお願いします"),
            talked("Delete the room release")
                .call(
                    "delete_room",
                    json!({ "roomName": "release", "confirm": true }),
                )
                .shows("\"deletedMessages\":3"),
        ],
    }
}
