//! Waiting: woken by messages of this and of other processes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::desk::{
    Desk, Listener, confirmed, eventually, in_files, member, message, room, texts, with,
};
use crate::worker::Worker;

fn wait(agent: &str, timeout: u64) -> Value {
    json!({"roomName": "a", "agentName": agent, "timeout": timeout})
}

#[tokio::test]
async fn unread_messages_are_delivered_at_once_and_only_once() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "one").await;
    desk.send("a", "y", "mine").await;
    desk.send("a", "x", "two").await;
    let answer = desk.ok("wait_for_messages", wait("y", 5)).await;
    assert_eq!(texts(&answer), ["one", "two"]);
    assert_eq!(
        (&answer["timedOut"], &answer["unreadCount"]),
        (&json!(false), &json!(0))
    );
    let started = Instant::now();
    let answer = desk.ok("wait_for_messages", wait("y", 1)).await;
    assert_eq!(
        (&answer["timedOut"], &answer["hasNewMessages"]),
        (&json!(true), &json!(false))
    );
    assert!(started.elapsed() >= Duration::from_secs(1));
    // After a restart, too.
    for _ in 0..100 {
        if !in_files() || desk.file("rooms/a/read_status.json").exists() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let rooms = desk.beside().rooms(Some("y")).await;
    assert_eq!(rooms[0]["unreadCount"], 0);
}

/// Whole seconds or not, and the milliseconds of the original's clients.
#[tokio::test]
async fn timeouts_may_be_fractions_and_milliseconds() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    for timeout in [json!(1.5), json!("1.5"), json!(1_500)] {
        let waiting = json!({"roomName": "a", "agentName": "y", "timeout": timeout});
        let started = Instant::now();
        let answer = desk.ok("wait_for_messages", waiting.clone()).await;
        assert_eq!(answer["timedOut"], true, "{timeout}");
        assert!(
            started.elapsed() >= Duration::from_millis(1_500),
            "{timeout}"
        );
        desk.send("a", "x", "now").await;
        let answer = desk.ok("wait_for_messages", waiting).await;
        assert_eq!(texts(&answer), ["now"], "{timeout}");
    }
}

#[tokio::test]
async fn a_message_wakes_a_waiting_agent() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let waiting = desk.call("wait_for_messages", wait("y", 20));
    let speaking = async {
        desk.until_waiting("a", "y").await;
        desk.send("a", "x", "wake up").await;
    };
    let (answer, ()) = tokio::join!(waiting, speaking);
    assert_eq!(texts(&answer.unwrap()), ["wake up"]);
}

#[tokio::test]
async fn a_delivered_mention_is_read_and_the_rest_is_not() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "chatter").await;
    desk.send("a", "x", "@y please").await;
    desk.send("a", "x", "more chatter").await;
    let mentions = with(wait("y", 1), json!({"mentionsOnly": true}));
    let answer = desk.ok("wait_for_messages", mentions.clone()).await;
    assert_eq!(texts(&answer), ["@y please"]);
    assert_eq!(answer["unreadCount"], 2);
    let answer = desk.ok("wait_for_messages", mentions).await;
    assert_eq!(answer["timedOut"], true, "a mention comes once");
    let why = answer["message"].as_str().unwrap();
    assert!(why.contains("2 other messages are unread"), "{why}");
    // After a restart, too.
    let is_saved = async || desk.beside().rooms(Some("y")).await[0]["unreadCount"] == 2;
    assert!(eventually(is_saved).await);
    let answer = desk.beside().ok("wait_for_messages", wait("y", 1)).await;
    assert_eq!(texts(&answer), ["chatter", "more chatter"]);
    assert_eq!(answer["unreadCount"], 0);
}

#[tokio::test]
async fn an_answer_to_one_message_can_be_waited_for() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "@y chatter before").await;
    let question = desk.send("a", "y", "ready?").await;
    let answers = with(wait("y", 20), json!({"replyTo": question}));
    let waiting = desk.ok("wait_for_messages", answers.clone());
    let speaking = async {
        desk.until_waiting("a", "y").await;
        desk.send("a", "x", "something else").await;
        let reply = with(message("a", "x", "yes"), json!({"replyTo": question}));
        desk.ok("send_message", reply).await;
    };
    let (answer, ()) = tokio::join!(waiting, speaking);
    assert_eq!(texts(&answer), ["yes"]);
    assert_eq!(answer["unreadCount"], 2);
    // It is delivered once, here and in other processes.
    desk.send("a", "x", "@y also an answer").await;
    let answer = desk.ok("wait_for_messages", answers.clone()).await;
    assert_eq!(texts(&answer), ["@y also an answer"]);
    let is_saved = async || desk.beside().rooms(Some("y")).await[0]["unreadCount"] == 2;
    assert!(eventually(is_saved).await);
    let answer = desk.beside().ok("wait_for_messages", wait("y", 1)).await;
    assert_eq!(texts(&answer), ["@y chatter before", "something else"]);
    let unknown = with(wait("y", 1), json!({"replyTo": "no"}));
    desk.refuses("wait_for_messages", unknown, "MESSAGE_NOT_FOUND")
        .await;
}

/// The whole answer, with its text, is smaller than what clients accept; what did not fit
/// is still unread.
#[tokio::test]
async fn a_large_delivery_is_cut_and_the_rest_stays_unread() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    for text in ["x", "あ", "\"", "\u{1}"] {
        for _ in 0..30 {
            desk.send("a", "x", &text.repeat(9_900)).await;
        }
    }
    let mut left = 120;
    while left > 0 {
        let answer = with(wait("y", 1), json!({"limit": 1000}));
        let answer = desk.ok("wait_for_messages", answer).await;
        let sent = answer.to_string();
        let bytes = sent.len() + json!(sent).to_string().len();
        assert!(bytes < 256_000, "{bytes}");
        left -= answer["count"].as_u64().unwrap();
        assert_eq!(answer["hasMore"], left > 0);
        assert_eq!(answer["unreadCount"], left);
    }
}

#[tokio::test]
async fn many_unread_messages_come_in_parts() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    for n in 0..7 {
        desk.send("a", "x", &format!("m{n}")).await;
    }
    let mut seen = Vec::new();
    for left in [4, 1, 0] {
        let mut arguments = wait("y", 1);
        arguments["limit"] = 3.into();
        let answer = desk.ok("wait_for_messages", arguments).await;
        assert_eq!(answer["unreadCount"], left);
        seen.extend(texts(&answer));
    }
    assert_eq!(seen, ["m0", "m1", "m2", "m3", "m4", "m5", "m6"]);
}

#[tokio::test]
async fn cancelling_leaves_messages_unread() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let context = desk.new_context();
    let waiting = desk.call_as(&context, "wait_for_messages", wait("y", 20));
    let cancelling = async {
        sleep(Duration::from_millis(100)).await;
        context.cancel.cancel();
    };
    let (answer, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(answer.unwrap_err().code, "CANCELLED");
    // The desk drops the call instead; either way the agent no longer waits.
    let dropped = desk.call("wait_for_messages", wait("y", 20));
    let dropped = tokio::time::timeout(Duration::from_millis(100), dropped).await;
    assert!(dropped.is_err());
    desk.send("a", "x", "still unread").await;
    let mut waits = true;
    for _ in 0..100 {
        let users = desk.ok("list_room_users", room("a")).await;
        waits = users["users"][1]["waiting"] == true;
        if !waits {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert!(!waits);
    let answer = desk.ok("wait_for_messages", wait("y", 1)).await;
    assert_eq!(texts(&answer), ["still unread"]);
}

#[tokio::test]
async fn the_last_to_wait_is_told_at_once_that_everybody_waits() {
    let desk = Desk::new();
    let other = desk.beside();
    desk.room("a", &["x"]).await;
    other.enter("a", "y").await;
    let listener = Arc::new(Listener::default());
    let context = listener.context();
    let first = desk.call_as(&context, "wait_for_messages", wait("x", 20));
    let second = async {
        other.until_waiting("a", "x").await;
        let started = Instant::now();
        let warned = other.ok("wait_for_messages", wait("y", 20)).await;
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(warned["timedOut"], false);
        let warning = &warned["warnings"][0];
        assert_eq!(warning["code"], "EVERYBODY_WAITS");
        assert_eq!(warning["waitingAgents"], json!(["x", "y"]));
        // Whoever waits all the same may.
        let again = other.ok("wait_for_messages", wait("y", 2)).await;
        assert_eq!(again["timedOut"], true);
        assert_eq!(again["warnings"][0]["code"], "EVERYBODY_WAITS");
        other.send("a", "y", "then I begin").await;
    };
    let (first, ()) = tokio::join!(first, second);
    let first = first.unwrap();
    assert_eq!(texts(&first), ["then I begin"]);
    assert_eq!(first.get("warnings"), None);
    assert!(listener.heard.lock().unwrap()[0].contains("Everybody"));
    // Alone, or with somebody who does not wait, there is nothing to warn of.
    let answer = desk.ok("wait_for_messages", wait("x", 2)).await;
    assert_eq!(answer.get("warnings"), None);
}

#[tokio::test]
async fn a_wait_that_cannot_go_on_says_why() {
    for (tool, code, reason) in [
        ("leave_room", "AGENT_NOT_IN_ROOM", "LEFT"),
        ("delete_room", "ROOM_NOT_FOUND", "ROOM_DELETED"),
    ] {
        let desk = Desk::new();
        desk.room("a", &["x"]).await;
        let waiting = desk.refuses("wait_for_messages", wait("x", 20), code);
        let ending = async {
            desk.until_waiting("a", "x").await;
            let other = desk.beside();
            let arguments = match tool {
                "leave_room" => member("a", "x"),
                _ => confirmed("a"),
            };
            other.ok(tool, arguments).await
        };
        let (error, _) = tokio::join!(waiting, ending);
        assert!(error.message.contains("while you waited"), "{error}");
        assert_eq!(error.details.unwrap()["reason"], reason);
    }
}

/// A message of another process wakes us before the wait ends, and we one there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_wake_each_other() {
    let desk = Desk::on_files(|_| {});
    desk.room("a", &["x"]).await;
    let enter = json!({"tool": "enter_room", "arguments": {"roomName": "a", "agentName": "y"}});
    let orders = [
        enter,
        json!({"tool": "wait_for_messages", "arguments": wait("y", 20)}),
        json!({"tool": "send_message", "arguments":
            {"roomName": "a", "agentName": "y", "message": "pong"}}),
    ];
    let mut worker = Worker::start(&desk.path, &orders);
    assert!(worker.next().unwrap()["ok"].is_object());
    sleep(Duration::from_millis(300)).await;
    let sent = Instant::now();
    desk.send("a", "x", "ping").await;
    let answer = desk.ok("wait_for_messages", wait("x", 20)).await;
    assert_eq!(texts(&answer), ["pong"]);
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "{:?}",
        sent.elapsed()
    );
    assert_eq!(texts(&worker.next().unwrap()["ok"]), ["ping"]);
}
