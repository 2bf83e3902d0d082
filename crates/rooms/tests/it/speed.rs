//! Figures, for whoever asks: `cargo test --release -p rooms -- --ignored --nocapture speed`.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{desk::Desk, worker::Worker};

fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").unwrap();
}

fn percentile(times: &mut [Duration], part: f64) -> Duration {
    times.sort();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a figure"
    )]
    let at = ((times.len() - 1) as f64 * part) as usize;
    times[at]
}

async fn call(desk: &Desk, tool: &str, arguments: Value) -> Value {
    kit::testing::call(&desk.counter, &desk.context(), tool, arguments)
        .await
        .unwrap()
}

fn fill(desk: &Desk, room: &str, count: usize) {
    let mut text = String::new();
    for n in 0..count {
        let mention = if n % 50 == 0 { "\"x\"" } else { "" };
        writeln!(text, "{{\"id\":\"msg_{room}_{n:010}\",\"roomName\":\"{room}\",\"agentName\":\"a{}\",\"message\":\"This is message {n}, which is about as long as messages between agents are.\",\"mentions\":[{mention}],\"timestamp\":\"2026-01-20T10:30:00.123Z\",\"metadata\":{{}}}}", n % 10).unwrap();
    }
    fs::write(desk.file(&format!("rooms/{room}/messages.jsonl")), text).unwrap();
}

fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap()
        .to_owned()
}

#[ignore = "figures, not a check"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn speed_of_sending() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let file = fs::File::create(desk.file("probe")).unwrap();
    let started = Instant::now();
    for _ in 0..1_000 {
        (&file).write_all(&[b'x'; 200]).unwrap();
        file.sync_data().unwrap();
    }
    say(&format!(
        "fdatasync of 200 bytes: {:?}",
        started.elapsed() / 1_000
    ));
    for senders in [1, 16, 64] {
        let each = 4_000 / senders;
        let started = Instant::now();
        let desk = &desk;
        let all = join_all((0..senders).map(|_| async move {
            let mut times = Vec::new();
            for _ in 0..each {
                let started = Instant::now();
                let send = json!({"roomName": "a", "agentName": "x", "message": "hello @x, about as long as messages are"});
                call(desk, "send_message", send).await;
                times.push(started.elapsed());
            }
            times
        }))
        .await;
        let mut times: Vec<Duration> = all.into_iter().flatten().collect();
        let rate = times.len() as f64 / started.elapsed().as_secs_f64();
        let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
        say(&format!(
            "{senders} senders: {rate:.0} sends/s, p50 {p50:?}, p99 {p99:?}"
        ));
    }
}

#[ignore = "figures, not a check"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn speed_of_reading_and_memory() {
    let desk = Desk::with(|settings| settings.max_messages = 2_000_000.try_into().unwrap());
    say(&format!("empty: {}", memory()));
    for room in 0..100 {
        let room = format!("r{room}");
        desk.create(&room).await;
        fill(&desk, &room, 10_000);
    }
    say(&format!("before anything is read: {}", memory()));
    let started = Instant::now();
    call(&desk, "list_rooms", json!({})).await;
    say(&format!(
        "first list of 100 rooms x 10,000: {:?}, {}",
        started.elapsed(),
        memory()
    ));
    let started = Instant::now();
    call(&desk, "list_rooms", json!({})).await;
    say(&format!("second list: {:?}", started.elapsed()));
    let started = Instant::now();
    call(
        &desk,
        "search_messages",
        json!({"query": "nowhere to be found"}),
    )
    .await;
    say(&format!("search through all: {:?}", started.elapsed()));
    desk.create_in_place_of("r0").await;
    fill(&desk, "big", 1_000_000);
    let started = Instant::now();
    call(&desk, "get_messages", json!({"roomName": "big"})).await;
    say(&format!(
        "first page of 1,000,000: {:?}, {}",
        started.elapsed(),
        memory()
    ));
    for (room, offset) in [
        ("r1", 0),
        ("r1", 5_000),
        ("big", 0),
        ("big", 500_000),
        ("big", 999_950),
    ] {
        let mut times = Vec::new();
        for _ in 0..200 {
            let started = Instant::now();
            call(
                &desk,
                "get_messages",
                json!({"roomName": room, "offset": offset}),
            )
            .await;
            times.push(started.elapsed());
        }
        let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
        say(&format!(
            "page of {room} at {offset}: p50 {p50:?}, p99 {p99:?}"
        ));
    }
}

impl Desk {
    async fn create_in_place_of(&self, room: &str) {
        self.ok("delete_room", json!({"roomName": room, "confirm": true}))
            .await;
        self.create("big").await;
    }
}

#[ignore = "figures, not a check"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn speed_of_waking_another_process() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let wait = json!({"roomName": "a", "agentName": "y", "timeout": 60});
    let orders = [
        json!({"tool": "enter_room", "arguments": {"roomName": "a", "agentName": "y"}}),
        json!({"tool": "wait_for_messages", "times": 200, "arguments": wait}),
    ];
    let worker = Worker::start(&desk.path, &orders);
    let (answers, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut worker = worker;
        while worker.next().is_some() {
            answers.send(Instant::now()).unwrap();
        }
    });
    answered.recv().unwrap();
    let mut times = Vec::new();
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let started = Instant::now();
        call(
            &desk,
            "send_message",
            json!({"roomName": "a", "agentName": "x", "message": "!"}),
        )
        .await;
        let woken = answered.recv_timeout(Duration::from_secs(10)).unwrap();
        times.push(woken - started);
    }
    let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
    say(&format!(
        "from the call of send to the answer of wait in another process: p50 {p50:?}, p99 {p99:?}"
    ));
}
