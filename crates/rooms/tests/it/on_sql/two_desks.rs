//! Several desks on one database: order, and that nothing is lost or delivered twice.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures::future::join_all;
use serde_json::{Value, json};

use super::desk::{Desk, member, message, texts, with};

const SENDERS: usize = 16;
const EACH: usize = 20;

/// A reader that looks all the time gets every message once, in the order in which the
/// room has them, while sixteen agents send through two desks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_gets_each_message_once_and_in_order() {
    let desk = Desk::new();
    let other = desk.beside();
    desk.room("a", &["reader"]).await;
    for sender in 0..SENDERS {
        desk.enter("a", &format!("s{sender}")).await;
    }
    let sending = join_all((0..SENDERS).map(async |sender| {
        let through = [&desk, &other][sender % 2];
        for number in 0..EACH {
            let name = format!("s{sender}");
            through
                .send("a", &name, &format!("{sender}/{number}"))
                .await;
        }
    }));
    let reading = async {
        let mut heard: Vec<String> = Vec::new();
        let mut turn = 0;
        while heard.len() < SENDERS * EACH {
            let wait = with(member("a", "reader"), json!({"timeout": 20, "limit": 7}));
            let through = [&other, &desk][turn % 2];
            let answer = through.ok("wait_for_messages", wait).await;
            assert_eq!(answer["timedOut"], false, "{} heard", heard.len());
            heard.extend(texts(&answer));
            turn += 1;
        }
        heard
    };
    let (_, heard) = tokio::join!(sending, reading);
    let mut all = desk.texts("a", json!({"limit": 1000})).await;
    all.reverse();
    assert_eq!(heard, all);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), SENDERS * EACH);
    for sender in 0..SENDERS {
        let own = all.iter().filter_map(|text| {
            let (whose, number) = text.split_once('/')?;
            (whose == sender.to_string()).then(|| number.parse::<usize>().unwrap())
        });
        assert!(own.eq(0..EACH), "each agent's messages are in its order");
    }
    assert_eq!(desk.rooms(Some("reader")).await[0]["unreadCount"], 0);
}

/// Two calls of one agent, on two desks, never get the same message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_waiting_calls_of_one_agent_share_the_messages() {
    let desk = Desk::new();
    let other = desk.beside();
    desk.room("a", &["x", "y"]).await;
    let heard_by_both = AtomicUsize::new(0);
    let waiting = async |desk: &Desk| {
        let mut heard = Vec::new();
        loop {
            let wait = with(member("a", "y"), json!({"timeout": 2, "limit": 3}));
            let answer = desk.ok("wait_for_messages", wait).await;
            let is_over = heard_by_both.load(Ordering::SeqCst) >= 50;
            if answer["timedOut"] == true && is_over {
                return heard;
            }
            let new = texts(&answer);
            heard_by_both.fetch_add(new.len(), Ordering::SeqCst);
            heard.extend(new);
        }
    };
    let sending = async {
        for number in 0..50 {
            desk.send("a", "x", &number.to_string()).await;
        }
    };
    let (one, two, ()) = tokio::join!(waiting(&desk), waiting(&other), sending);
    let mut all: Vec<usize> = one
        .iter()
        .chain(&two)
        .map(|it| it.parse().unwrap())
        .collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..50), "{all:?}");
}

/// Limits count what all desks did.
#[tokio::test]
async fn limits_hold_over_all_desks() {
    let limit = |settings: &mut rooms::Settings| {
        settings.max_rooms = 2.try_into().unwrap();
        settings.max_members = 2.try_into().unwrap();
    };
    let desk = Desk::with(limit);
    let other = desk.beside_with(limit);
    let desks = [&desk, &other];
    let created = (0..8).map(|number| {
        let name = json!({"roomName": format!("r{number}")});
        desks[number % 2].call("create_room", name)
    });
    let created = join_all(created).await;
    assert_eq!(created.iter().filter(|it| it.is_ok()).count(), 2);
    let rooms = desk.rooms(None).await;
    let name = rooms[0]["name"].as_str().unwrap();
    let entered = (0..8).map(|number| {
        let agent = member(name, &format!("a{number}"));
        desks[number % 2].call("enter_room", agent)
    });
    let entered = join_all(entered).await;
    assert_eq!(entered.iter().filter(|it| it.is_ok()).count(), 2);
    assert_eq!(desk.members(name).await.len(), 2);
}

/// One key of many gets a name that all want at the same moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_keys_at_once_gets_the_name() {
    let desk = Desk::new();
    let other = desk.beside();
    desk.room("r", &[]).await;
    let outcomes = join_all((0..16).map(async |number| {
        let key = format!("key-{number}");
        let through = [&desk, &other][number % 2];
        through
            .outcome(Some(&key), "enter_room", member("r", "new"))
            .await
    }))
    .await;
    let count = |outcome: &str| outcomes.iter().filter(|it| *it == outcome).count();
    assert_eq!((count("ok"), count("AGENT_NAME_TAKEN")), (1, 15));
}

/// A message without its sender's key, or with a text that no database stores, does not
/// keep those that are sent at the same moment from being sent.
#[tokio::test]
async fn a_refused_message_refuses_no_other() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let entered = desk.outcome(Some("k"), "enter_room", member("a", "held"));
    assert_eq!(entered.await, "ok");
    let stranger = desk.remote(Some("other"));
    let unknown = with(message("a", "x", "?"), json!({"replyTo": "no"}));
    let nul = with(message("a", "x", "a\0b"), json!({"clientMessageId": "a\0"}));
    let (taken, unknown, nul, sent): (_, _, _, Vec<Value>) = tokio::join!(
        desk.call_as(&stranger, "send_message", message("a", "held", "!")),
        desk.call("send_message", unknown),
        desk.call("send_message", nul),
        join_all((0..5).map(|_| desk.ok("send_message", message("a", "x", "a\0b")))),
    );
    assert_eq!(taken.unwrap_err().code, "AGENT_NAME_TAKEN");
    assert_eq!(unknown.unwrap_err().code, "MESSAGE_NOT_FOUND");
    assert_eq!(nul.unwrap_err().code, "INVALID_ARGUMENT");
    assert_eq!(sent.len(), 5);
    assert_eq!(desk.texts("a", json!({})).await, ["a\0b"; 5]);
}
