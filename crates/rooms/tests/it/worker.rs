//! This test binary, started again as another process on the same directory.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::desk::Desk;

const VARIABLE: &str = "ROOMS_TEST_WORKER";

/// Another process. What it says comes line by line.
pub struct Worker {
    pub child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// `orders` are calls, one after the other: `{"tool", "arguments", "times"?,
    /// "at_once"?, "key"?}`.
    pub fn start(path: &Path, orders: &[Value]) -> Self {
        Self::with_limit(path, 10_000, orders)
    }

    pub fn with_limit(path: &Path, max_messages: u32, orders: &[Value]) -> Self {
        let orders = json!({"path": path, "orders": orders, "max_messages": max_messages});
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker::works_when_told_to", "--nocapture"])
            .env(VARIABLE, orders.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next answer: `{"ok": …}` or `{"code": …}`; `None` at the end.
    pub fn next(&mut self) -> Option<Value> {
        for line in self.lines.by_ref() {
            let Ok(line) = line else { return None };
            if let Some(answer) = line.split_once("ANSWER ").map(|(_, answer)| answer) {
                return serde_json::from_str(answer).ok();
            }
        }
        None
    }

    /// All answers, and the end.
    pub fn finish(mut self) -> Vec<Value> {
        let answers: Vec<Value> = std::iter::from_fn(|| self.next()).collect();
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
        answers
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What another process does. As a test it creates a room.
#[test]
fn works_when_told_to() {
    let scratch = tempfile::tempdir().unwrap();
    let orders = match std::env::var(VARIABLE) {
        Ok(orders) => serde_json::from_str(&orders).unwrap(),
        Err(_) => {
            let order = json!({"tool": "create_room", "arguments": {"roomName": "own"}});
            json!({"path": scratch.path(), "orders": [order], "max_messages": 10})
        }
    };
    do_all(&orders);
    let is_told = std::env::var_os(VARIABLE).is_some();
    assert!(is_told || scratch.path().join("rooms/own").is_dir());
}

fn do_all(orders: &Value) {
    let path = Path::new(orders["path"].as_str().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let most = orders["max_messages"].as_u64().unwrap();
        let most = u32::try_from(most).unwrap().try_into().unwrap();
        let desk = Desk::at(path, |settings| settings.max_messages = most);
        for order in orders["orders"].as_array().unwrap() {
            work(&desk, order).await;
        }
        if orders["orders"]
            .as_array()
            .unwrap()
            .iter()
            .any(|order| order["stop"] == true)
        {
            desk.settle().await;
        }
    });
}

async fn work(desk: &Desk, order: &Value) {
    if order["stop"] == true {
        return;
    }
    if order["stay"] == true {
        // Until the parent closes our input.
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()))
            .await
            .unwrap()
            .unwrap();
        return;
    }
    let at_once = order["at_once"].as_u64().unwrap_or(1);
    for round in 0..order["times"].as_u64().unwrap_or(1) / at_once {
        let times = round * at_once..(round + 1) * at_once;
        futures::future::join_all(times.map(|time| once(desk, order, time))).await;
    }
}

async fn once(desk: &Desk, order: &Value, time: u64) {
    let tool = order["tool"].as_str().unwrap();
    let mut arguments = order["arguments"].clone();
    if let Some(text) = arguments.get("message").and_then(Value::as_str) {
        arguments["message"] = text.replace("{n}", &time.to_string()).into();
    }
    let context = match order["key"].as_str() {
        Some(key) => desk.remote(Some(key)),
        None => desk.new_context(),
    };
    let answer = match kit::testing::call(&desk.counter, &context, tool, arguments).await {
        Ok(answer) => json!({"ok": answer}),
        Err(error) => json!({"code": error.code, "details": error.details}),
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "ANSWER {answer}").unwrap();
    stdout.flush().unwrap();
}
