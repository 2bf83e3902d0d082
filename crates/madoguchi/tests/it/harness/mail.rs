//! A real mail server that can be told to misbehave.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Place, clients};

const PATIENCE: Duration = Duration::from_secs(60);

/// Ended when it goes out of scope.
pub struct MailServer {
    pub port: u16,
    child: Child,
    said: Arc<Mutex<Vec<Value>>>,
    _place: Place,
}

impl MailServer {
    /// `manners` says what it does with each message in turn, and with all that
    /// follow the last: `accept`, `later`, `never`, `drop` (after the data),
    /// `slow`.
    pub async fn start(manners: &[&str]) -> Self {
        let place = Place::new();
        let mut command = clients::python_beside(&place, "mail_server.py", manners);
        let mut child = command
            .stdin(Stdio::null())
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
        let mut server = Self {
            port: 0,
            child,
            said,
            _place: place,
        };
        let first = server.said(1, |_| true).await;
        server.port = u16::try_from(first[0]["port"].as_u64().unwrap()).unwrap();
        server
    }

    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Waits until so many messages came with one of these ends.
    pub async fn received(&self, count: usize, ends: &[&str]) -> Vec<Value> {
        self.said(count, |one| ends.iter().any(|end| one["end"] == *end))
            .await
    }

    /// What came so far, whatever became of it.
    pub fn so_far(&self) -> Vec<Value> {
        let said = self.said.lock().unwrap();
        said.iter()
            .filter(|one| one.get("end").is_some())
            .cloned()
            .collect()
    }

    async fn said(&self, count: usize, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let said: Vec<Value> = {
                let said = self.said.lock().unwrap();
                said.iter().filter(|one| wanted(one)).cloned().collect()
            };
            if said.len() >= count {
                return said;
            }
            let all = self.said.lock().unwrap().clone();
            assert!(
                began.elapsed() < PATIENCE,
                "the mail server only said {all:?}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // `timeout` passes it on to the script.
        let _ = std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
    }
}
