//! A contestant that runs, on a core of its own where there are two.

use std::{
    fs::File,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    contestants::Contestant,
    load::{self, Limit, Outcome},
    places::Places,
    process::{self, Memory},
    wire::{Films, Sums, Target},
};

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Server {
    pub contestant: Contestant,
    pub target: Target,
    /// From its start to its first answer.
    pub start: Duration,
    running: Running,
    _data: Option<TempDir>,
}

impl Server {
    /// Starts it and waits until it answers rightly.
    pub async fn start(
        contestant: Contestant,
        places: &Places,
        core: Option<&str>,
    ) -> Result<Self> {
        let data = places.fresh()?;
        let mut server = Self::start_on(contestant, places, data.path(), core).await?;
        server._data = Some(data);
        Ok(server)
    }

    /// The same on a data directory that is there already.
    pub async fn start_on(
        contestant: Contestant,
        places: &Places,
        data: &Path,
        core: Option<&str>,
    ) -> Result<Self> {
        let port = free_port()?;
        let mut command = contestant.serve(places, port, data);
        if let Some(core) = core {
            command = wrapped(&["taskset", "-c", core], &command);
        }
        Self::spawn(contestant, command, port, places).await
    }

    /// Starts `command`, which is to serve `contestant` on `port`.
    pub async fn spawn(
        contestant: Contestant,
        command: Command,
        port: u16,
        places: &Places,
    ) -> Result<Self> {
        let log = places.logs.join(format!("{}.log", contestant.slug()));
        let started = Instant::now();
        let running = Running::spawn(command, &log)?;
        let target = Target::new(port, contestant.path(), contestant.tool());
        let mut server = Self {
            contestant,
            target,
            start: Duration::ZERO,
            running,
            _data: None,
        };
        while let Err(error) = server.call(1, Limit::calls(1)).await {
            let gone = server.running.is_gone()?;
            if gone || started.elapsed() > PATIENCE {
                let name = contestant.name();
                return Err(error.context(format!("{name} does not answer; see {}", log.display())));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.start = started.elapsed();
        Ok(server)
    }

    pub async fn call(&self, connections: usize, limit: Limit) -> Result<Outcome> {
        match self.contestant {
            Contestant::Cinema => {
                load::run(&self.target, &Arc::new(Films), connections, limit).await
            }
            _ => load::run(&self.target, &Arc::new(Sums), connections, limit).await,
        }
    }

    pub fn id(&self) -> u32 {
        self.running.id()
    }

    pub fn cpu_seconds(&self) -> Result<f64> {
        process::cpu_seconds(self.id())
    }

    pub fn memory(&self) -> Result<Memory> {
        process::memory(self.id())
    }

    pub fn stop(self) -> Result<()> {
        self.running.stop()
    }
}

/// A process that ends when it is dropped.
pub struct Running {
    child: Child,
}

impl Running {
    /// What it writes to stderr goes to `log`.
    pub fn spawn(mut command: Command, log: &Path) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(log)?)
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        Ok(Self { child })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_gone(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(mut self) -> Result<()> {
        let id = self.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command of the program prints as JSON, on this data.
pub fn run_json(madoguchi: &Path, data: &Path, arguments: &[&str]) -> Result<Value> {
    let mut command = Command::new(madoguchi);
    command.args(arguments).arg("--data").arg(data);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A key that opens every counter.
pub fn make_key(madoguchi: &Path, data: &Path) -> Result<String> {
    let made = run_json(madoguchi, data, &["keys", "create", "bench", "--json"])?;
    Ok(made["key"].as_str().context("a key")?.to_owned())
}

pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// `command` run by another one, such as `taskset` or `valgrind`.
pub fn wrapped(by: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(by.first().copied().unwrap_or("env"));
    outer.args(by.iter().skip(1));
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            outer.env(name, value);
        }
    }
    outer
}
