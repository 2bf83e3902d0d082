//! Rooms on PostgreSQL: several desks, one of which is killed, and how rooms get there.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Way, member, message, room, say};
use crate::harness::{Desk, Place, call, result, structured};

const SENDERS: usize = 16;
const EACH: usize = 15;

/// Sixteen agents send through two desks, repeating what was not answered, while one desk
/// is killed and another takes its place. Every message is there once, each agent's in its
/// order, and a reader that waits hears all of them so.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_killed_desk_loses_and_repeats_nothing() {
    let place = Place::on_postgres();
    let mut first = Desk::setup().place(&place).start().await;
    let second = Desk::setup().place(&place).start().await;
    second.ok("rooms", "create_room", room("r")).await;
    second
        .ok("rooms", "enter_room", member("reader", "r"))
        .await;
    for sender in 0..SENDERS {
        let agent = member(&format!("s{sender}"), "r");
        second.ok("rooms", "enter_room", agent).await;
    }
    let sent = AtomicUsize::new(0);
    let send = async |sender: usize| {
        let mut ports = [first.port, second.port];
        for number in 0..EACH {
            let mut draft = message(&format!("s{sender}"), "r", &format!("{sender}/{number}"));
            draft["clientMessageId"] = number.to_string().into();
            loop {
                let call = call(1, "send_message", draft.clone());
                let answer = crate::harness::post(ports[sender % 2], "rooms", None, &call).await;
                match answer {
                    Ok(answer) => {
                        structured(result(&answer.message()));
                        break;
                    }
                    // Killed; the balancer would choose the other.
                    Err(_) => ports = [second.port; 2],
                }
            }
            sent.fetch_add(1, Ordering::Relaxed);
        }
    };
    let reading = async {
        let mut heard: Vec<String> = Vec::new();
        while heard.len() < SENDERS * EACH {
            let mut wait = member("reader", "r");
            wait["timeout"] = 30.into();
            let answer = second.ok("rooms", "wait_for_messages", wait).await;
            assert_eq!(answer["timedOut"], false, "{} heard", heard.len());
            heard.extend(texts(&answer));
        }
        heard
    };
    let killing = async {
        while sent.load(Ordering::Relaxed) < SENDERS * EACH / 3 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        first.signal("KILL");
    };
    let sending = futures::future::join_all((0..SENDERS).map(send));
    let (_, heard, ()) = tokio::join!(sending, reading, killing);
    first.ended().await;
    let all = json!({ "roomName": "r", "limit": 1000 });
    let mut there = texts(&second.ok("rooms", "get_messages", all).await);
    there.reverse();
    assert_eq!(heard, there);
    assert_eq!(there.iter().collect::<HashSet<_>>().len(), SENDERS * EACH);
    for sender in 0..SENDERS {
        let own = there.iter().filter_map(|text| {
            let (whose, number) = text.split_once('/')?;
            (whose == sender.to_string()).then(|| number.parse::<usize>().unwrap())
        });
        assert!(own.eq(0..EACH), "the order of {sender}");
    }
}

fn texts(answer: &Value) -> Vec<String> {
    let messages = answer["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["message"].as_str().unwrap().to_owned())
        .collect()
}

/// From the moment a message is answered on one desk to the answer of a call that waits on
/// another. The goal of 20 ms is for a machine that does nothing else.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_on_one_desk_wakes_a_call_on_another() {
    let place = Place::on_postgres();
    let (one, other) = (Way::http(&place).await, Way::http(&place).await);
    one.ok("create_room", room("r")).await;
    one.ok("enter_room", member("a", "r")).await;
    other.ok("enter_room", member("b", "r")).await;
    let mut took = Vec::new();
    for _ in 0..20 {
        let mut wait = member("b", "r");
        wait["timeout"] = 20.into();
        let waiting = async {
            let answer = other.ok("wait_for_messages", wait).await;
            (answer, Instant::now())
        };
        let sending = async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            say(&one, "a", "r", "wake up").await;
            Instant::now()
        };
        let ((answer, heard), sent) = tokio::join!(waiting, sending);
        assert_eq!(answer["count"], 1);
        took.push(heard.saturating_duration_since(sent));
    }
    took.sort();
    let (median, last) = (took[took.len() / 2], took[took.len() - 1]);
    println!("wake-up across desks: median {median:?}, slowest {last:?}");
    // A desk that is not told looks every five seconds.
    assert!(median < Duration::from_secs(1), "{took:?}");
}

/// Rooms that are in files are not hidden by a database that has none.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rooms_in_files_have_to_be_moved_first() {
    let files = Place::new();
    let create = ["call", "rooms", "create_room", r#"{"roomName": "old"}"#];
    files.run(&create).ok();
    let place = files.moved_to_postgres();
    let refused = place.run(&["call", "rooms", "list_rooms"]).failed();
    assert!(refused.contains("ROOMS_NOT_MOVED"), "{refused}");
    assert!(
        refused.contains("madoguchi move --to URL --only rooms"),
        "{refused}"
    );
    // A directory that is named keeps them in files.
    let folder = place.data().join("rooms");
    let named = [("AGENT_COMM_DATA_DIR", folder.to_str().unwrap())];
    let listed = place.run_with(&["call", "rooms", "list_rooms"], &named);
    let listed = listed.ok();
    assert!(listed.stdout.contains("old"), "{}", listed.stdout);
}
