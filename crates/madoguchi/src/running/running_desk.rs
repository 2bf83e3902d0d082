//! What is recorded of a desk that runs.

use serde::{Deserialize, Serialize};

/// A desk that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningDesk {
    pub pid: u32,
    /// The machine's name; empty if it is unknown.
    pub host: String,
    pub started_at: i64,
    /// Its console, as a browser reaches it; `None` if its main port is off.
    pub console: Option<String>,
    /// What its clients connect to.
    pub addresses: Vec<String>,
}

impl RunningDesk {
    pub fn of_this_process(console: Option<String>, addresses: Vec<String>, now: i64) -> Self {
        Self {
            pid: std::process::id(),
            host: host(),
            started_at: now,
            console,
            addresses,
        }
    }

    /// Its console, else the first of its addresses.
    pub fn address(&self) -> &str {
        let first = self.addresses.first().map(String::as_str);
        self.console.as_deref().or(first).unwrap_or_default()
    }

    /// `http://127.0.0.1:8010 (process 4711)`
    pub fn in_words(&self) -> String {
        let here = self.host.is_empty() || self.host == host();
        match here {
            true => format!("{} (process {})", self.address(), self.pid),
            false => format!("{} (process {} on {})", self.address(), self.pid, self.host),
        }
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map(|name| name.trim().to_owned()).unwrap_or_default()
}
