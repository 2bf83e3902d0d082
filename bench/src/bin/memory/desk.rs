//! The desk under attack: all five counters, as `serve` starts them, on data of
//! its own.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use bench::{
    http::Connection,
    places::Places,
    process::{self, Memory},
    server::{Running, free_port, make_key},
};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(120);

/// What starting leaves behind is given back, and read in, by then.
const SETTLING: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy)]
pub struct Ports {
    pub main: u16,
    pub merchant: u16,
    pub innervoice: u16,
}

pub const COUNTERS: [&str; 5] = ["cinema", "innervoice", "merchant", "rooms", "todo"];

impl Ports {
    /// Every address that takes WebSockets.
    pub fn sockets(self) -> Vec<(u16, String)> {
        let main = COUNTERS.map(|counter| (self.main, format!("/ws/{counter}")));
        let mut all = Vec::from(main);
        all.push((self.innervoice, "/".to_owned()));
        all
    }

    /// Every address that takes requests.
    pub fn endpoints(self) -> Vec<(u16, String)> {
        let main = COUNTERS.map(|counter| (self.main, format!("/mcp/{counter}")));
        let mut all = Vec::from(main);
        all.push((self.merchant, "/mcp".to_owned()));
        all.push((self.merchant, "/mcp/tools/call".to_owned()));
        all
    }
}

pub struct Desk {
    running: Running,
    pub ports: Ports,
    pub key: String,
    data: TempDir,
}

impl Desk {
    /// Starts it twice: the first start makes the tables and the demo data, and
    /// what that took must not count as idle memory.
    pub async fn start(places: &Places, log: &str) -> Result<Self> {
        let data = places.fresh()?;
        let key = make_key(&places.madoguchi, data.path())?;
        let (first, _) = serve(places, data.path(), log).await?;
        first.stop()?;
        let (running, ports) = serve(places, data.path(), log).await?;
        Ok(Self {
            running,
            ports,
            key,
            data,
        })
    }

    /// What it takes while nobody calls. The peak is counted from here.
    pub async fn idle(&self) -> Result<Memory> {
        tokio::time::sleep(SETTLING).await;
        process::reset_peak(self.running.id())?;
        self.memory()
    }

    pub fn memory(&self) -> Result<Memory> {
        process::memory(self.running.id())
    }

    pub fn is_gone(&mut self) -> Result<bool> {
        self.running.is_gone()
    }

    pub fn cpu_seconds(&self) -> Result<f64> {
        process::cpu_seconds(self.running.id())
    }

    /// What lies in its data directory, in kB.
    pub fn on_disk(&self) -> u64 {
        bytes_under(self.data.path()) / 1024
    }
}

async fn serve(places: &Places, data: &Path, log: &str) -> Result<(Running, Ports)> {
    let ports = Ports {
        main: free_port()?,
        merchant: free_port()?,
        innervoice: free_port()?,
    };
    let project = data.join("project");
    fs::create_dir_all(&project)?;
    let mut command = Command::new(&places.madoguchi);
    command.arg("serve").arg("--data").arg(data);
    command.arg("--root").arg(project);
    command.args(["--log-level", "warn"]);
    for (flag, port) in [
        ("--port", ports.main),
        ("--merchant-port", ports.merchant),
        ("--innervoice-port", ports.innervoice),
    ] {
        command.args([flag, &port.to_string()]);
    }
    let log = places.logs.join(log);
    let mut running = Running::spawn(command, &log)?;
    let probe = format!(
        "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        ports.main
    );
    let started = Instant::now();
    loop {
        if let Ok(mut connection) = Connection::open(ports.main).await
            && matches!(connection.ask(probe.as_bytes()).await, Ok((200, _)))
        {
            return Ok((running, ports));
        }
        if running.is_gone()? || started.elapsed() > PATIENCE {
            bail!("the desk does not answer; see {}", log.display());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Files come and go while this looks: those that are gone count nothing.
fn bytes_under(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => bytes_under(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}
