//! A server of `clients/` that runs beside the test and tells what it is sent.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Place, clients};

const PATIENCE: Duration = Duration::from_secs(60);

/// Ended when it goes out of scope.
pub struct Peer {
    pub port: u16,
    child: Child,
    stdin: ChildStdin,
    said: Arc<Mutex<Vec<Value>>>,
    _place: Place,
}

impl Peer {
    /// The first thing that the script says is its port.
    pub async fn start(script: &str, arguments: &[&str]) -> Self {
        let place = Place::new();
        let mut command = clients::python_beside(&place, script, arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (stdout, kept) = (child.stdout.take().unwrap(), Arc::clone(&said));
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                kept.lock()
                    .unwrap()
                    .push(serde_json::from_str(&line).unwrap());
            }
        });
        let stdin = child.stdin.take().unwrap();
        let mut peer = Self {
            port: 0,
            child,
            stdin,
            said,
            _place: place,
        };
        let first = peer.said(1, |_| true).await;
        peer.port = u16::try_from(first[0]["port"].as_u64().unwrap()).unwrap();
        peer
    }

    /// Lets it go on where it waits to be told.
    pub fn go_on(&mut self) {
        self.stdin.write_all(b"\n").unwrap();
        self.stdin.flush().unwrap();
    }

    /// What it has said so far.
    pub fn so_far(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let said = self.said.lock().unwrap();
        said.iter().filter(|one| wanted(one)).cloned().collect()
    }

    /// Waits until it has said so many things that are wanted.
    pub async fn said(&self, count: usize, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let said = self.so_far(&wanted);
            if said.len() >= count {
                return said;
            }
            let all = self.so_far(|_| true);
            assert!(began.elapsed() < PATIENCE, "it only said {all:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // `timeout` passes it on to the script.
        let _ = std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
    }
}
