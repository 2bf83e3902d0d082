//! The desk whose console is looked at.

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use bench::{
    http::Connection,
    load::{self, Limit, Outcome},
    places::Places,
    process,
    server::{Running, free_port, wrapped},
    wire::{Target, Work},
};
use serde_json::Value;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(120);

pub struct Desk {
    pub port: u16,
    running: Running,
    data: TempDir,
    madoguchi: std::path::PathBuf,
}

impl Desk {
    /// Starts one on this data, which has `desk.toml` in it.
    pub async fn start(places: &Places, data: TempDir, core: Option<&str>) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(&places.madoguchi);
        command.args(["serve", "--port", &port.to_string()]);
        command.args(["--merchant-port", "0", "--innervoice-port", "0"]);
        command.arg("--data").arg(data.path());
        command.arg("--config").arg(data.path().join("desk.toml"));
        if let Some(core) = core {
            command = wrapped(&["taskset", "-c", core], &command);
        }
        let log = places.logs.join("console.log");
        let mut desk = Self {
            port,
            running: Running::spawn(command, &log)?,
            data,
            madoguchi: places.madoguchi.clone(),
        };
        let started = Instant::now();
        while desk.ready().await.is_err() {
            if desk.running.is_gone()? || started.elapsed() > PATIENCE {
                bail!("the desk does not answer; see {}", log.display());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(desk)
    }

    async fn ready(&self) -> Result<()> {
        let mut connection = Connection::open(self.port).await?;
        let request = b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        let (status, _) = connection.ask(request).await?;
        anyhow::ensure!(status == 200, "not ready");
        Ok(())
    }

    /// A link that opens the console once.
    pub fn link(&self) -> Result<String> {
        let mut command = Command::new(&self.madoguchi);
        command.args(["approvals", "open", "--port", &self.port.to_string()]);
        command.arg("--data").arg(self.data.path());
        command
            .arg("--config")
            .arg(self.data.path().join("desk.toml"));
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "no link: {said}");
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// One call of an agent; its result.
    pub async fn call(
        &self,
        counter: &str,
        tool: &'static str,
        arguments: &Value,
    ) -> Result<Value> {
        let target = Target::new(self.port, &format!("/mcp/{counter}"), tool);
        let request = target.request(1, &arguments.to_string());
        let mut connection = Connection::open(self.port).await?;
        let body = connection.exchange(&request, 200).await?;
        let answer: Value = serde_json::from_slice(body)?;
        let result = answer.get("result").context("a result")?;
        anyhow::ensure!(result["isError"] != true, "{tool}: {result}");
        Ok(result["structuredContent"].clone())
    }

    /// Many calls of agents, over so many connections.
    pub async fn load<W: Work>(
        &self,
        counter: &str,
        tool: &'static str,
        work: W,
        connections: usize,
        limit: Limit,
    ) -> Result<Outcome> {
        let target = Target::new(self.port, &format!("/mcp/{counter}"), tool);
        load::run(&target, &Arc::new(work), connections, limit).await
    }

    /// What its threads have run so far.
    pub fn cpu_seconds(&self) -> Result<f64> {
        process::cpu_seconds(self.running.id())
    }

    pub fn stop(self) -> Result<()> {
        self.running.stop()
    }
}

/// The settings of a desk, in its data directory: the rooms and the project are there too.
pub fn configure(data: &Path) -> Result<()> {
    let data = std::fs::canonicalize(data)?;
    let config = format!(
        "[rooms]\nsends_per_minute = 0\ndata_dir = {:?}\n[todo]\nroot = {:?}\n",
        data.join("rooms-of-agents"),
        data.join("project")
    );
    std::fs::create_dir_all(data.join("project"))?;
    Ok(std::fs::write(data.join("desk.toml"), config)?)
}
