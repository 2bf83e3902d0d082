//! A `madoguchi stdio rooms`, spoken to as an agent's client does.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::{
    places::Places,
    process::{self, Memory},
    wire,
};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Agent {
    child: Child,
    input: ChildStdin,
    /// Each line with the moment it came.
    output: Receiver<(Instant, String)>,
    calls: u64,
}

pub fn command(places: &Places, data: &Path) -> Command {
    let mut command = Command::new(&places.madoguchi);
    command
        .args(["stdio", "rooms", "--data"])
        .arg(data)
        .env("AGENT_COMM_DATA_DIR", data);
    command
}

impl Agent {
    pub fn start(places: &Places, data: &Path) -> Result<Self> {
        let mut child = command(places, data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().context("stdin")?;
        let lines = BufReader::new(child.stdout.take().context("stdout")?).lines();
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            input,
            output,
            calls: 0,
        })
    }

    /// Asks, and does not wait.
    pub fn ask(&mut self, tool: &str, arguments: &Value) -> Result<()> {
        self.calls += 1;
        let line = wire::call_line(self.calls, tool, arguments) + "\n";
        Ok(self.input.write_all(line.as_bytes())?)
    }

    /// The answer to what was asked last, and when it came.
    pub fn answer(&self) -> Result<(Instant, Value)> {
        let (moment, line) = self.output.recv_timeout(PATIENCE)?;
        let mut answer: Value = serde_json::from_str(&line)?;
        let right = answer["id"] == self.calls && answer["result"]["isError"] == false;
        ensure!(right, "{line}");
        Ok((moment, answer["result"]["structuredContent"].take()))
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.ask(tool, arguments)?;
        Ok(self.answer()?.1)
    }

    pub fn memory(&self) -> Result<Memory> {
        process::memory(self.child.id())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
