//! The original server and ours on one directory. A stand-in writes files and
//! locks as the original does: it reads, changes and writes `rooms.json` and
//! `presence.json`, empties a file before it writes it, and guards both by
//! `FILE.lock`, which it creates first and writes its number into then.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    desk::{Desk, member, room},
    worker::Worker,
};

const VARIABLE: &str = "ROOMS_TEST_ORIGINAL";
const RETRY: Duration = Duration::from_millis(50);
const TIMEOUT: Duration = Duration::from_secs(60);

/// The number of a process that has ended.
pub fn dead_process() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    let number = child.id();
    child.wait().unwrap();
    number
}

/// One process of the original server.
struct Original {
    data: PathBuf,
    /// Two originals take each other's empty lock for stale. That is theirs, and
    /// not what is shown here: among themselves they take turns to look at a lock.
    turns: File,
}

impl Original {
    fn with_lock<T>(&self, file: &str, work: impl FnOnce() -> T) -> T {
        let path = self.data.join(format!("{file}.lock"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let started = Instant::now();
        while !self.try_lock(&path) {
            assert!(started.elapsed() < TIMEOUT, "{file} stays locked");
            std::thread::sleep(RETRY);
        }
        let result = work();
        self.in_turn(|| {
            let _ = fs::remove_file(&path);
        });
        result
    }

    fn in_turn<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turns.lock().unwrap();
        let result = work();
        self.turns.unlock().unwrap();
        result
    }

    fn try_lock(&self, path: &Path) -> bool {
        self.in_turn(|| {
            loop {
                match OpenOptions::new().write(true).create_new(true).open(path) {
                    Ok(mut lock) => {
                        let number = std::process::id().to_string();
                        lock.write_all(number.as_bytes()).unwrap();
                        return true;
                    }
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        if !is_stale(path) || fs::remove_file(path).is_err() {
                            return false;
                        }
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        })
    }

    fn read(&self, file: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.data.join(file)).unwrap()).unwrap()
    }

    /// Empties the file, then writes it.
    fn write(&self, file: &str, value: &Value) {
        let text = serde_json::to_string_pretty(value).unwrap();
        let mut file = File::create(self.data.join(file)).unwrap();
        // As long as a program takes that does one after the other.
        std::thread::sleep(Duration::from_millis(1));
        file.write_all(text.as_bytes()).unwrap();
    }

    fn edit(&self, file: &str, change: impl FnOnce(&mut Value)) {
        self.with_lock(file, || {
            let mut value = self.read(file);
            change(&mut value);
            self.write(file, &value);
        });
    }

    fn create_room(&self, room: &str) {
        self.edit("rooms.json", |registry| {
            registry["rooms"][room] = json!({
                "createdAt": "2026-11-15T09:00:00.000Z", "messageCount": 0, "userCount": 0
            });
        });
    }

    fn enter(&self, room: &str, agent: &str) {
        self.edit(&format!("rooms/{room}/presence.json"), |presence| {
            presence["users"][agent] = json!({
                "status": "online", "messageCount": 0, "joinedAt": "2026-11-15T09:00:00.000Z"
            });
        });
    }

    /// Its members go offline when they leave, and are not removed.
    fn leave(&self, room: &str, agent: &str) {
        self.edit(&format!("rooms/{room}/presence.json"), |presence| {
            presence["users"][agent]["status"] = "offline".into();
        });
    }

    fn send(&self, room: &str, agent: &str, id: &str) {
        let file = format!("rooms/{room}/messages.jsonl");
        let line = json!({"id": id, "agentName": agent, "message": id,
            "timestamp": "2026-11-15T09:00:00.000Z", "mentions": []});
        self.with_lock(&file, || {
            let mut options = OpenOptions::new();
            let mut log = options
                .append(true)
                .create(true)
                .open(self.data.join(&file))
                .unwrap();
            log.write_all(format!("{line}\n").as_bytes()).unwrap();
        });
    }
}

/// No number, or one that no process has; also a lock that is gone by now.
fn is_stale(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Ok(number) = text.trim().parse::<u32>() else {
        return true;
    };
    !Path::new("/proc").join(number.to_string()).exists()
}

fn start(desk: &Desk, turns: &Path, name: &str, rounds: usize) -> Child {
    let orders = json!({"path": desk.path, "turns": turns, "name": name, "rounds": rounds});
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "original::works_when_told_to", "--nocapture"])
        .env(VARIABLE, orders.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What one process of the original does. As a test it works by itself.
#[tokio::test]
async fn works_when_told_to() {
    if let Ok(orders) = std::env::var(VARIABLE) {
        work(&serde_json::from_str(&orders).unwrap());
    } else {
        let desk = Desk::new();
        desk.room("a", &[]).await;
        let aside = tempfile::tempdir().unwrap();
        let turns = aside.path().join("turns");
        work(&json!({"path": desk.path, "turns": turns, "name": "own", "rounds": 2}));
        assert_eq!(
            desk.beside().texts("a", json!({})).await,
            ["own-m1", "own-m0"]
        );
    }
}

fn work(orders: &Value) {
    let original = Original {
        data: orders["path"].as_str().unwrap().into(),
        turns: File::create(orders["turns"].as_str().unwrap()).unwrap(),
    };
    let name = orders["name"].as_str().unwrap();
    for round in 0..orders["rounds"].as_u64().unwrap() {
        original.create_room(&format!("{name}-{round}"));
        let agent = format!("{name}-{round}");
        original.enter("a", &agent);
        original.send("a", &agent, &format!("{name}-m{round}"));
        if round % 2 == 1 {
            original.leave("a", &agent);
        }
    }
}

fn order(tool: &str, arguments: Value) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

/// Processes of each program in a mixed team, and what each of them does.
const EACH: usize = 3;
const ROUNDS: usize = 12;

/// Several of both create rooms, enter one, speak there and leave it at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mixed_team_loses_nothing() {
    let desk = Desk::with(|settings| settings.max_rooms = 1_000.try_into().unwrap());
    let aside = tempfile::tempdir().unwrap();
    let turns = aside.path().join("turns");
    desk.room("a", &["first"]).await;
    // All of them find the locks of one that was killed, and break them at once.
    let gone = dead_process().to_string();
    for file in [
        "rooms.json",
        "rooms/a/presence.json",
        "rooms/a/messages.jsonl",
    ] {
        desk.write(&format!("{file}.lock"), &gone);
    }
    let originals: Vec<Child> = (0..EACH)
        .map(|n| start(&desk, &turns, &format!("original{n}"), ROUNDS))
        .collect();
    let ours: Vec<Worker> = (0..EACH).map(|n| start_ours(&desk, n, ROUNDS)).collect();
    let finish = tokio::task::spawn_blocking(move || {
        for worker in ours {
            for answer in worker.finish() {
                assert!(answer["ok"].is_object(), "{answer}");
            }
        }
        for mut original in originals {
            assert!(original.wait().unwrap().success());
        }
    });
    // Whoever reads meanwhile never sees a file that is just being written.
    while !finish.is_finished() {
        assert!(!desk.status_of("a", "first").await.is_empty());
        let rooms = desk.rooms(None).await;
        assert!(rooms.iter().any(|room| room["name"] == "a"));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    finish.await.unwrap();
    nothing_was_lost(&desk).await;
}

async fn nothing_was_lost(desk: &Desk) {
    let json = |file: &str| -> Value { serde_json::from_str(&desk.read(file)).unwrap() };
    let keys = |object: &Value| -> HashSet<String> {
        object.as_object().unwrap().keys().cloned().collect()
    };
    let names = |who: &'static str, which: fn(usize) -> bool| {
        (0..EACH).flat_map(move |n| {
            let rounds = (0..ROUNDS).filter(move |round| which(*round));
            rounds.map(move |round| format!("{who}{n}-{round}"))
        })
    };
    let all: HashSet<String> = names("original", |_| true)
        .chain(names("ours", |_| true))
        .collect();
    let mut rooms = all.clone();
    rooms.insert("a".to_owned());
    assert_eq!(keys(&json("rooms.json")["rooms"]), rooms);
    // Ours are gone when they leave, the original's are offline.
    let users = json("rooms/a/presence.json")["users"].clone();
    let mut members: HashSet<String> = names("original", |_| true)
        .chain(names("ours", |round| round % 2 == 0))
        .collect();
    members.insert("first".to_owned());
    assert_eq!(keys(&users), members);
    for name in names("original", |round| round % 2 == 1) {
        assert_eq!(users[&name]["status"], "offline", "{name}");
    }
    let said = desk.texts("a", json!({"limit": 1000})).await;
    assert_eq!(said.len(), all.len());
    for name in all {
        let text = match name.starts_with("original") {
            true => name.replace('-', "-m"),
            false => name,
        };
        assert!(said.contains(&text), "{text}");
    }
    assert_eq!(desk.warnings().await, "[]");
    for folder in ["", "rooms/a"] {
        let entries = fs::read_dir(desk.file(folder)).unwrap().flatten();
        let left = entries.map(|entry| entry.file_name().into_string().unwrap());
        let left: Vec<String> = left.filter(|name| name.contains(".lock")).collect();
        assert!(left.iter().all(|name| name == ".locks"), "{left:?}");
    }
}

/// A process of ours that creates, enters, speaks and sometimes leaves.
fn start_ours(desk: &Desk, number: usize, rounds: usize) -> Worker {
    let orders = (0..rounds).flat_map(|round| {
        let name = format!("ours{number}-{round}");
        let there = member("a", &name);
        let mut said = there.clone();
        said["message"] = name.clone().into();
        let mut orders = vec![
            order("create_room", room(&name)),
            order("enter_room", there.clone()),
            order("send_message", said),
        ];
        if round % 2 == 1 {
            orders.push(order("leave_room", there));
        }
        orders
    });
    // Often enough the log is rewritten while originals add to it.
    Worker::with_limit(&desk.path, 10, &orders.collect::<Vec<Value>>())
}

/// A directory that the original wrote, some of it at the moment it was killed.
#[tokio::test]
async fn a_directory_that_the_original_left_half_written_is_read_without_loss() {
    let desk = Desk::new();
    write_half(&desk);
    let status = desk.ok("get_status", json!({})).await;
    assert_eq!(status["totalRooms"], 4);
    assert_eq!(status["totalMessages"], 5);
    let told = status["warnings"].to_string();
    for what in [
        "rooms.json",
        "emptied: presence.json",
        "half: presence.json",
        "torn",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    let expected: [(&str, &[&str]); 4] = [
        ("emptied", &["e1", "e2", "e3"]),
        ("half", &["h1"]),
        ("silent", &["s1"]),
        ("whole", &["w1", "w2"]),
    ];
    for (room, members) in expected {
        assert_eq!(desk.members(room).await, members, "{room}");
    }
    // Everybody goes on where they were, and the files are whole again.
    for (room, members) in expected {
        for member in members {
            desk.send(room, member, "back").await;
        }
        desk.enter(room, "new").await;
        let presence = desk.json(&format!("rooms/{room}/presence.json"));
        let users = presence["users"].as_object().unwrap();
        assert_eq!(users.len(), members.len() + 1, "{room}");
    }
    desk.create("more").await;
    let registry = desk.json("rooms.json");
    assert_eq!(registry["rooms"].as_object().unwrap().len(), 5);
    assert_eq!(
        registry["rooms"]["half"]["createdAt"],
        "2025-06-17T09:27:18.123Z"
    );
}

/// Four rooms, as the original leaves them when it is killed while it writes.
fn write_half(desk: &Desk) {
    let line = |id: &str, agent: &str| {
        json!({"id": id, "agentName": agent, "message": id,
            "timestamp": "2025-06-17T09:27:18.123Z", "mentions": []})
        .to_string()
    };
    let users = |names: &[&str]| {
        let user = json!({"status": "online", "messageCount": 0,
            "joinedAt": "2025-06-17T09:00:00.000Z"});
        let users: serde_json::Map<String, Value> = names
            .iter()
            .map(|name| ((*name).to_owned(), user.clone()))
            .collect();
        serde_json::to_string_pretty(&json!({"roomName": "r", "users": users})).unwrap()
    };
    // The list was being written, and lists two of four rooms.
    desk.write(
        "rooms.json",
        "{\n  \"rooms\": {\n    \"whole\": {\n      \"createdAt\": \"2025-06-17T09:00:00.000Z\",\n      \"messageCount\": 0,\n      \"userCount\": 1\n    },\n    \"empty",
    );
    desk.write("rooms.json.lock", &dead_process().to_string());
    desk.write("rooms/whole/presence.json", &users(&["w1", "w2"]));
    desk.write(
        "rooms/whole/messages.jsonl",
        &format!("{}\n{}\n", line("m1", "w1"), line("m2", "w2")),
    );
    desk.write("rooms/emptied/presence.json", "");
    desk.write("rooms/emptied/presence.json.lock", "");
    desk.write(
        "rooms/emptied/messages.jsonl",
        &format!("{}\n{}\n", line("m3", "e1"), line("m4", "e2")),
    );
    desk.write(
        "rooms/emptied/read_status.json",
        r#"{"e3":{"agentName":"e3","lastReadMessageId":"m3","lastReadTimestamp":"2025-06-17T09:28:00.000Z"}}"#,
    );
    let half = users(&["h1", "h2"]);
    desk.write("rooms/half/presence.json", &half[..half.len() / 2]);
    desk.write(
        "rooms/half/messages.jsonl",
        &format!("{}\n{}", line("m5", "h1"), &line("m6", "h2")[..30]),
    );
    // Nobody has spoken here.
    desk.write("rooms/silent/presence.json", &users(&["s1"]));
}
