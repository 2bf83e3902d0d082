//! Waiting: woken by messages of this and of other processes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    desk::{Desk, Listener, confirmed, room, texts},
    worker::Worker,
};

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
        if desk.file("rooms/a/read_status.json").exists() {
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
        sleep(Duration::from_millis(200)).await;
        let users = desk.ok("list_room_users", room("a")).await;
        assert_eq!(users["users"][1]["waiting"], true);
        let sent = Instant::now();
        desk.send("a", "x", "wake up").await;
        sent
    };
    let (answer, _) = tokio::join!(waiting, speaking);
    assert_eq!(texts(&answer.unwrap()), ["wake up"]);
}

#[tokio::test]
async fn waiting_for_mentions_leaves_the_rest_unread() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "chatter").await;
    desk.send("a", "x", "@y please").await;
    desk.send("a", "x", "more chatter").await;
    let mut mentions = wait("y", 1);
    mentions["mentionsOnly"] = true.into();
    let answer = desk.ok("wait_for_messages", mentions.clone()).await;
    assert_eq!(texts(&answer), ["@y please"]);
    assert_eq!(answer["unreadCount"], 3);
    let answer = desk.ok("wait_for_messages", mentions).await;
    assert_eq!(answer["timedOut"], true, "a mention comes once");
    let answer = desk.ok("wait_for_messages", wait("y", 1)).await;
    assert_eq!(texts(&answer), ["chatter", "@y please", "more chatter"]);
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
async fn everybody_is_warned_when_everybody_waits() {
    let desk = Desk::new();
    let other = desk.beside();
    desk.room("a", &["x"]).await;
    other.enter("a", "y").await;
    let listener = Arc::new(Listener::default());
    let context = listener.context();
    let first = desk.call_as(&context, "wait_for_messages", wait("x", 2));
    let second = async {
        sleep(Duration::from_millis(300)).await;
        other.ok("wait_for_messages", wait("y", 1)).await
    };
    let (first, second) = tokio::join!(first, second);
    for answer in [first.unwrap(), second] {
        assert_eq!(answer["timedOut"], true);
        assert!(answer["warning"].is_string(), "{answer}");
        assert_eq!(answer["waitingAgents"], json!(["x", "y"]));
    }
    assert!(listener.heard.lock().unwrap()[0].contains("Everybody"));
    // Alone, or with somebody who does not wait, there is nothing to warn of.
    let answer = desk.ok("wait_for_messages", wait("x", 1)).await;
    assert_eq!(answer.get("warning"), None);
}

#[tokio::test]
async fn deleting_a_room_ends_the_wait() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let waiting = desk.call("wait_for_messages", wait("x", 20));
    let deleting = async {
        sleep(Duration::from_millis(100)).await;
        desk.beside().ok("delete_room", confirmed("a")).await
    };
    let (answer, _) = tokio::join!(waiting, deleting);
    assert_eq!(answer.unwrap_err().code, "ROOM_NOT_FOUND");
}

/// A message of another process wakes us within the goal, and we one there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_wake_each_other() {
    let desk = Desk::new();
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
        sent.elapsed() < Duration::from_secs(1),
        "{:?}",
        sent.elapsed()
    );
    assert_eq!(texts(&worker.next().unwrap()["ok"]), ["ping"]);
}
