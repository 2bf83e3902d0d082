//! A running `madoguchi stdio COUNTER`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

use super::{initialize, initialized};

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

impl Pipe {
    /// Takes `place.command()` with its arguments.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Self {
            child,
            stdin,
            lines,
            stderr: Some(stderr),
        }
    }

    /// Starts and shakes hands.
    pub fn with_handshake(command: &mut Command, version: &str) -> Self {
        let mut pipe = Self::start(command);
        let hello = pipe.request(&initialize(0, version));
        assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
        pipe.send(&initialized());
        pipe
    }

    pub fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n"));
    }

    pub fn send_text(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next line, which must be a message; `None` at the end.
    pub fn receive(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                let message: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("{error} on stdout: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                Some(message)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing on stdout"),
        }
    }

    pub fn request(&mut self, message: &Value) -> Value {
        self.send(message);
        loop {
            let received = self.receive().expect("stdout ended");
            if received["id"] == message["id"] {
                return received;
            }
        }
    }

    /// Ends its input; returns what else it said, its status and its stderr.
    pub fn finish(mut self) -> (Vec<Value>, ExitStatus, String) {
        drop(self.stdin.take());
        let mut rest = Vec::new();
        while let Some(message) = self.receive() {
            rest.push(message);
        }
        let status = self.child.wait().unwrap();
        let stderr = self.stderr.take().unwrap().join().unwrap();
        (rest, status, stderr)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
