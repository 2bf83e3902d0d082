//! Names and rooms that belong to keys.

use serde_json::{Value, json};

use super::desk::{Desk, confirmed, in_files, member, message, room, with};
use crate::worker::Worker;

const A: Option<&str> = Some("alpha");
const B: Option<&str> = Some("beta");
const KEYLESS: Option<&str> = None;

fn say(room: &str, agent: &str) -> Value {
    message(room, agent, "hello")
}

/// Every call that acts for an agent or shows what is its own.
fn acts(room: &str, agent: &str) -> Vec<(&'static str, Value)> {
    let wait = with(member(room, agent), json!({"timeout": 1}));
    let mentions = with(member(room, agent), json!({"mentionsOnly": true}));
    vec![
        ("list_rooms", json!({"agentName": agent})),
        ("get_messages", member(room, agent)),
        ("get_messages", mentions),
        ("send_message", say(room, agent)),
        ("mark_read", member(room, agent)),
        ("wait_for_messages", wait),
        ("enter_room", member(room, agent)),
        ("leave_room", member(room, agent)),
    ]
}

/// A room in which `alice` entered with the key `alpha`.
async fn with_alice() -> Desk {
    with_alice_in(Desk::new()).await
}

async fn with_alice_in(desk: Desk) -> Desk {
    desk.room("r", &["speaker"]).await;
    assert_eq!(
        desk.outcome(A, "enter_room", member("r", "alice")).await,
        "ok"
    );
    desk.send("r", "speaker", "for @alice").await;
    desk
}

#[tokio::test]
async fn nobody_else_acts_under_a_name_that_a_key_holds() {
    let desk = with_alice().await;
    for other in [B, KEYLESS] {
        for (tool, arguments) in acts("r", "alice") {
            let outcome = desk.outcome(other, tool, arguments).await;
            assert_eq!(outcome, "AGENT_NAME_TAKEN", "{other:?} {tool}");
        }
    }
    // Nothing was read, said or left in her name.
    let mine = desk.remote(A);
    let messages = desk.call_as(&mine, "wait_for_messages", member("r", "alice"));
    let messages = messages.await.unwrap();
    assert_eq!(messages["count"], 1, "{messages}");
    assert_eq!(desk.count("r").await, 1);
    for (tool, arguments) in acts("r", "alice") {
        let outcome = desk.outcome(A, tool, arguments).await;
        let expected = match tool {
            "enter_room" => "AGENT_ALREADY_IN_ROOM",
            _ => "ok",
        };
        assert_eq!(outcome, expected, "{tool}");
    }
    // Who left still holds the name.
    assert_eq!(
        desk.outcome(B, "enter_room", member("r", "alice")).await,
        "AGENT_NAME_TAKEN"
    );
}

#[tokio::test]
async fn reading_without_a_name_and_local_processes_need_no_key() {
    let desk = with_alice().await;
    for other in [A, B, KEYLESS] {
        for (tool, arguments) in [
            ("list_rooms", json!({})),
            ("get_messages", room("r")),
            ("list_room_users", room("r")),
            ("search_messages", json!({"agentName": "alice"})),
            ("get_status", json!({})),
        ] {
            assert_eq!(desk.outcome(other, tool, arguments).await, "ok", "{tool}");
        }
    }
    desk.ok("send_message", say("r", "alice")).await;
    desk.ok("leave_room", member("r", "alice")).await;
    desk.ok("enter_room", member("r", "alice")).await;
    // Without any key among them keyless callers share names, as they always did.
    for _ in 0..2 {
        desk.outcome(KEYLESS, "enter_room", member("r", "bob"))
            .await;
        let sent = desk.outcome(KEYLESS, "send_message", say("r", "bob")).await;
        assert_eq!(sent, "ok");
    }
}

#[tokio::test]
async fn the_first_key_that_uses_a_name_in_old_data_gets_it() {
    let desk = Desk::new();
    desk.room("r", &["old", "other"]).await;
    // Reading takes nothing, and neither does a call that fails.
    assert_eq!(
        desk.outcome(B, "get_messages", member("r", "old")).await,
        "ok"
    );
    let stranger = desk.outcome(B, "send_message", say("r", "nobody")).await;
    assert_eq!(stranger, "AGENT_NOT_IN_ROOM");
    let online = desk.outcome(B, "enter_room", member("r", "old")).await;
    assert_eq!(online, "AGENT_ALREADY_IN_ROOM");
    assert!(!desk.file("owners.json").exists());
    for (name, tool, arguments) in [
        ("old", "send_message", say("r", "old")),
        ("other", "leave_room", member("r", "other")),
    ] {
        assert_eq!(desk.outcome(A, tool, arguments).await, "ok");
        assert_eq!(
            desk.outcome(B, "enter_room", member("r", name)).await,
            "AGENT_NAME_TAKEN"
        );
    }
    // The seed's files know nothing of it.
    for file in ["rooms.json", "rooms/r/presence.json"] {
        assert!(!in_files() || !desk.read(file).contains("alpha"), "{file}");
    }
    // Another process on the directory knows.
    let beside = desk.beside();
    let said = beside.outcome(B, "send_message", say("r", "old")).await;
    assert_eq!(said, "AGENT_NAME_TAKEN");
}

#[tokio::test]
async fn names_that_look_like_a_held_one_are_refused() {
    let desk = with_alice_in(Desk::on_files(|_| {})).await;
    for name in ["Alice", "ＡＬＩＣＥ", "аlice", "ALıCE"] {
        for other in [B, KEYLESS] {
            let outcome = desk.outcome(other, "enter_room", member("r", name)).await;
            assert_eq!(outcome, "AGENT_NAME_TAKEN", "{name}");
        }
    }
    // Members that are in the files under such names already.
    let hidden = ["al\u{200b}ice", "\u{202e}alice", "alice\u{00a0}"];
    desk.edit("rooms/r/presence.json", |presence| {
        for name in hidden {
            presence["users"][name] = presence["users"]["speaker"].clone();
        }
    });
    let desk = desk.moved_here().await;
    for name in hidden {
        let outcome = desk.outcome(B, "send_message", say("r", name)).await;
        assert_eq!(outcome, "AGENT_NAME_TAKEN", "{}", name.escape_unicode());
    }
    assert_eq!(
        desk.outcome(B, "enter_room", member("r", "alice-2")).await,
        "ok"
    );
    let system = desk.outcome(B, "enter_room", member("r", "System")).await;
    assert_eq!(system, "INVALID_AGENT_NAME");
}

#[tokio::test]
async fn a_refusal_does_not_reveal_the_other_key() {
    let desk = with_alice().await;
    let context = desk.remote(B);
    let refused = desk.call_as(&context, "send_message", say("r", "alice"));
    let refused = refused.await.unwrap_err();
    let told = format!("{} {:?}", refused.text(), refused.details);
    assert!(!told.contains("alpha"), "{told}");
    assert!(refused.next.unwrap().contains("rooms names release"));
}

#[tokio::test]
async fn a_wait_ends_when_a_key_takes_the_name() {
    let desk = Desk::new();
    desk.room("r", &["alice", "bob"]).await;
    let waits = desk.beside();
    let mut arguments = member("r", "alice");
    arguments["timeout"] = 60.into();
    let context = waits.remote(KEYLESS);
    let waiting = waits.call_as(&context, "wait_for_messages", arguments);
    let taking = async {
        desk.until_waiting("r", "alice").await;
        assert_eq!(
            desk.outcome(A, "mark_read", member("r", "alice")).await,
            "ok"
        );
        desk.send("r", "bob", "for @alice alone").await;
    };
    let (waited, ()) = tokio::join!(waiting, taking);
    assert_eq!(waited.unwrap_err().code, "AGENT_NAME_TAKEN");
    let context = desk.remote(A);
    let unread = desk.call_as(&context, "get_messages", member("r", "alice"));
    assert_eq!(unread.await.unwrap()["unreadCount"], 1);
}

#[tokio::test]
async fn only_the_creating_key_may_delete_and_clear_a_room() {
    let desk = Desk::new();
    let room = room("r");
    assert_eq!(desk.outcome(A, "create_room", room.clone()).await, "ok");
    for tool in ["clear_room_messages", "delete_room"] {
        for other in [B, KEYLESS] {
            let outcome = desk.outcome(other, tool, confirmed("r")).await;
            assert_eq!(outcome, "FORBIDDEN", "{other:?} {tool}");
        }
    }
    let mut named = desk.remote(B);
    named.key_names_tool = true;
    let cleared = desk.call_as(&named, "clear_room_messages", confirmed("r"));
    assert_eq!(cleared.await.unwrap()["clearedCount"], 0);
    assert_eq!(desk.outcome(A, "delete_room", confirmed("r")).await, "ok");

    // Whoever creates the next room of that name owns it, and so on.
    assert_eq!(desk.outcome(B, "create_room", room.clone()).await, "ok");
    let foreign = desk.outcome(A, "delete_room", confirmed("r")).await;
    assert_eq!(foreign, "FORBIDDEN");
    desk.delete("r").await;
    assert_eq!(desk.outcome(KEYLESS, "create_room", room).await, "ok");
    assert_eq!(desk.outcome(A, "delete_room", confirmed("r")).await, "ok");
    assert!(!in_files() || !desk.read("rooms.json").contains("beta"));
}

/// Sixteen processes, each with a key of its own, want the same new name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_processes_at_once_gets_the_name() {
    let desk = Desk::on_files(|_| {});
    desk.room("r", &[]).await;
    let workers: Vec<Worker> = (0..16)
        .map(|number| {
            let order = |tool: &str, arguments| json!({"tool": tool, "arguments": arguments, "key": format!("key-{number}")});
            let orders = [
                order("enter_room", member("r", "new")),
                order("send_message", say("r", "new")),
            ];
            Worker::start(&desk.path, &orders)
        })
        .collect();
    let mut winners = Vec::new();
    for worker in workers {
        let answers = worker.finish();
        assert_eq!(answers.len(), 2);
        let taken = |answer: &Value| answer["code"] == "AGENT_NAME_TAKEN";
        if !answers.iter().all(taken) {
            assert!(!answers.iter().any(taken), "{answers:?}");
            winners.push(answers);
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(desk.count("r").await, 1);
}

#[tokio::test]
async fn a_damaged_file_frees_no_name() {
    let desk = with_alice_in(Desk::on_files(|_| {})).await;
    for text in ["{", "[]", r#"{"names": 1}"#] {
        desk.write("owners.json", text);
        for key in [A, B, KEYLESS] {
            let outcome = desk.outcome(key, "send_message", say("r", "alice")).await;
            assert_eq!(outcome, "STORAGE_ERROR", "{key:?} {text}");
        }
        let cleared = desk.outcome(B, "clear_room_messages", confirmed("r")).await;
        assert_eq!(cleared, "STORAGE_ERROR");
        desk.ok("send_message", say("r", "alice")).await;
        let status = desk.ok("get_status", json!({})).await;
        assert!(status["warnings"].to_string().contains("owners.json"));
        assert_eq!(desk.read("owners.json"), text, "it is left for a person");
    }
}
