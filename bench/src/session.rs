//! A stdio server, spoken to as clients of the handshake era do: the one way all
//! three understand.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::process::{self, Memory};

pub struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    started: Instant,
}

impl Session {
    pub fn start(mut command: Command) -> Result<Self> {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        let input = child.stdin.take().context("stdin")?;
        let output = BufReader::new(child.stdout.take().context("stdout")?);
        let mut session = Self {
            child,
            input,
            output,
            id: 0,
            started,
        };
        session.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "0.1.0" }
            }),
        )?;
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(session)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes())?)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "it ended");
            let mut answer: Value = serde_json::from_str(&line)?;
            // Notifications come in between.
            if answer["id"] == id {
                ensure!(answer.get("result").is_some(), "{line}");
                return Ok(answer["result"].take());
            }
        }
    }

    /// The text of a good answer, and how long it took.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<(String, Duration)> {
        let (answer, took) = self.result(tool, arguments)?;
        ensure!(answer["isError"] != true, "{tool}: {answer}");
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        Ok((text.to_owned(), took))
    }

    /// The whole result, good or bad, and how long it took.
    pub fn result(&mut self, tool: &str, arguments: &Value) -> Result<(Value, Duration)> {
        let asked = Instant::now();
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", &params)?;
        Ok((answer, asked.elapsed()))
    }

    pub fn since_start(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn memory(&self) -> Result<Memory> {
        process::memory(self.child.id())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
