//! Processes killed at random while they send: what was acknowledged is there,
//! once, and every file can be read.

use std::{
    collections::{HashMap, HashSet},
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{desk::Desk, worker::Worker};

const SENDS: usize = 10_000;
const PROCESSES: usize = 4;
/// Of each, at least.
const KILLS: u64 = 15;
/// A fifth of so many messages moves to the archive when there are more,
const LIMIT: u32 = 1_100;
/// and in the life of some processes one with nearly every message.
const LOW_LIMIT: u32 = 40;
const LOW_LIMIT_EVERY: u64 = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kill_9() {
    let desk = Desk::with(|settings| settings.max_messages = LIMIT.try_into().unwrap());
    desk.create("a").await;
    for n in 0..PROCESSES {
        desk.enter("a", &format!("w{n}")).await;
    }
    let path = desk.path.clone();
    let acknowledged = tokio::task::spawn_blocking(move || {
        let threads: Vec<_> = (0..PROCESSES)
            .map(|n| {
                let path = path.clone();
                std::thread::spawn(move || {
                    let mut ids = Vec::new();
                    let mut life = 0_u64;
                    while ids.len() < SENDS / PROCESSES || life < KILLS {
                        life += 1;
                        ids.extend(short_life(&path, n, life));
                    }
                    ids
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    // Meanwhile nobody who reads sees messages disappear or come twice.
    let mut before = 0;
    while !acknowledged.is_finished() {
        let now = desk.count("a").await;
        assert!(now >= before, "{now} after {before}");
        before = now;
        let page = desk
            .ok("get_messages", json!({"roomName": "a", "limit": 100}))
            .await;
        let messages = page["messages"].as_array().unwrap();
        let ids: HashSet<&str> = messages.iter().map(|m| m["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), messages.len());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let acknowledged = acknowledged.await.unwrap();

    // Mends what the last of them left.
    desk.send("a", "w0", "the end").await;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut cursor = Value::Null;
    loop {
        let arguments = json!({"roomName": "a", "limit": 1000, "cursor": cursor});
        let page = desk.beside().ok("get_messages", arguments).await;
        for message in page["messages"].as_array().unwrap() {
            *seen
                .entry(message["id"].as_str().unwrap().to_owned())
                .or_default() += 1;
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(seen.values().all(|times| *times == 1));
    for id in acknowledged.iter().flatten() {
        assert_eq!(seen.get(id), Some(&1), "{id}");
    }
    assert_eq!(desk.count("a").await as usize, seen.len());
    for entry in fs::read_dir(desk.file("rooms/a")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        if name.ends_with(".json") && !name.starts_with('.') {
            serde_json::from_str::<Value>(&text).unwrap();
        } else if !name.contains("torn") && name.ends_with(".jsonl") {
            for line in text.lines() {
                serde_json::from_str::<Value>(line).unwrap();
            }
        }
    }
}

/// One process that sends until it is killed; what it was told was sent.
fn short_life(path: &std::path::Path, n: usize, life: u64) -> Vec<String> {
    let order = json!({"tool": "send_message", "times": 1_000_000, "at_once": life % 24 + 1,
        "arguments":
        {"roomName": "a", "agentName": format!("w{n}"), "message": "{n}"}});
    let limit = match (life + n as u64).is_multiple_of(LOW_LIMIT_EVERY) {
        true => LOW_LIMIT,
        false => LIMIT,
    };
    let mut worker = Worker::with_limit(path, limit, &[order]);
    let mut ids = Vec::new();
    // Different every time, and never long.
    let millis = (life * 37 + n as u64 * 13) % 330 + 20;
    let mut until = None;
    while let Some(answer) = worker.next() {
        let until = *until.get_or_insert_with(|| Instant::now() + Duration::from_millis(millis));
        if let Some(id) = answer["ok"]["messageId"].as_str() {
            ids.push(id.to_owned());
        } else {
            panic!("{answer}");
        }
        if Instant::now() >= until {
            break;
        }
    }
    worker.child.kill().unwrap();
    // What it had said before it died counts as well.
    while let Some(answer) = worker.next() {
        if let Some(id) = answer["ok"]["messageId"].as_str() {
            ids.push(id.to_owned());
        }
    }
    ids
}
