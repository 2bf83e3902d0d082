//! Several processes on one directory.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    desk::{Desk, member, room},
    worker::Worker,
};

fn order(tool: &str, arguments: Value) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

fn codes(answers: &[Value]) -> HashMap<String, usize> {
    let mut codes = HashMap::new();
    for answer in answers {
        let code = answer["code"].as_str().unwrap_or("ok").to_owned();
        *codes.entry(code).or_default() += 1;
    }
    codes
}

/// Sixteen create the same room and enter it under the same name: one wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_has_one_winner() {
    let desk = Desk::new();
    let workers: Vec<Worker> = (0..16)
        .map(|_| {
            let orders = [
                order("create_room", room("a")),
                order("enter_room", member("a", "x")),
                json!({"stay": true}),
            ];
            Worker::start(&desk.path, &orders)
        })
        .collect();
    let mut created = Vec::new();
    let mut entered = Vec::new();
    let mut waiting = Vec::new();
    for mut worker in workers {
        created.push(worker.next().unwrap());
        entered.push(worker.next().unwrap());
        // All stay alive until the last has tried, or it would be free to enter.
        waiting.push(worker);
    }
    let expected = |code: &str| HashMap::from([("ok".to_owned(), 1), (code.to_owned(), 15)]);
    assert_eq!(codes(&created), expected("ROOM_ALREADY_EXISTS"));
    assert_eq!(codes(&entered), expected("AGENT_ALREADY_IN_ROOM"));
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms[0]["userCount"], 1);
    drop(waiting);
    // Killed, they are gone at once, and the name can be taken up again.
    assert_eq!(desk.status_of("a", "x").await, "offline");
    desk.enter("a", "x").await;
}

/// All send at once, over and over, while readers read: each message is there
/// once, each process's in its own order, and no reader sees half of anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_send_at_once() {
    const PROCESSES: usize = 6;
    const EACH: usize = 100;
    let desk = Desk::new();
    desk.create("a").await;
    let workers: Vec<Worker> = (0..PROCESSES)
        .map(|n| {
            let agent = format!("w{n}");
            let orders = [
                order("enter_room", member("a", &agent)),
                json!({"tool": "send_message", "times": EACH, "arguments":
                    {"roomName": "a", "agentName": agent, "message": "{n}"}}),
            ];
            Worker::start(&desk.path, &orders)
        })
        .collect();
    let finish = tokio::task::spawn_blocking(move || {
        workers
            .into_iter()
            .flat_map(Worker::finish)
            .collect::<Vec<_>>()
    });
    while !finish.is_finished() {
        desk.texts("a", json!({"limit": 20})).await;
        desk.ok("list_room_users", room("a")).await;
        desk.ok("list_rooms", json!({})).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let answers = finish.await.unwrap();
    assert_eq!(codes(&answers)["ok"], PROCESSES * (EACH + 1));
    let ids: HashSet<&str> = answers
        .iter()
        .filter_map(|answer| answer["ok"]["messageId"].as_str())
        .collect();
    let lines = desk.lines("rooms/a/messages.jsonl");
    let written: HashSet<&str> = lines
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, written);
    assert_eq!(lines.len(), PROCESSES * EACH);
    let mut next: HashMap<&str, usize> = HashMap::new();
    for line in &lines {
        let expected = next.entry(line["agentName"].as_str().unwrap()).or_default();
        assert_eq!(line["message"], expected.to_string());
        *expected += 1;
    }
    assert_eq!(desk.count("a").await as usize, PROCESSES * EACH);
    let users = desk.ok("list_room_users", room("a")).await;
    assert_eq!(users["users"][0]["messageCount"], EACH);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ends_takes_its_agents_offline() {
    let desk = Desk::new();
    desk.create("a").await;
    let orders = [
        order("enter_room", member("a", "x")),
        json!({"stay": true}),
        json!({"stop": true}),
    ];
    let mut worker = Worker::start(&desk.path, &orders);
    worker.next().unwrap();
    assert_eq!(desk.status_of("a", "x").await, "online");
    drop(worker.child.stdin.take());
    worker.child.wait().unwrap();
    assert_eq!(desk.status_of("a", "x").await, "offline");
    let presence = desk.json("rooms/a/presence.json");
    assert_eq!(presence["users"]["x"]["status"], "offline");
}

/// The document's size: 100 rooms with 10 agents each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_rooms_with_ten_agents_each() {
    let desk = Desk::new();
    for room in 0..100 {
        let room = format!("r{room}");
        desk.create(&room).await;
        let desk = &desk;
        let enter = (0..10).map(|agent| {
            let arguments = json!({"roomName": room, "agentName": format!("a{agent}")});
            async move { desk.ok("enter_room", arguments).await }
        });
        futures::future::join_all(enter).await;
    }
    desk.refuses("create_room", room("more"), "ROOM_LIMIT_EXCEEDED")
        .await;
    let status = desk.ok("get_status", json!({})).await;
    assert_eq!(
        (&status["totalRooms"], &status["totalOnlineUsers"]),
        (&json!(100), &json!(10)),
        "agents, each of whom is in a hundred rooms"
    );
    let rooms = desk.beside().rooms(Some("a3")).await;
    assert_eq!(rooms.len(), 100);
}
