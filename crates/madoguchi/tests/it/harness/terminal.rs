//! The program on a terminal.

use serde_json::{Value, json};

use super::{Output, Place, clients};

/// What the program shows on a terminal, with what is typed there.
#[derive(Default)]
pub struct Terminal {
    types: Vec<(String, String)>,
    until: String,
    environment: Vec<(String, String)>,
}

impl Terminal {
    /// A terminal that can show colours.
    pub fn new() -> Self {
        Self::default().env("TERM", "xterm-256color")
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Types something when a text appears.
    pub fn types(mut self, prompt: &str, keys: &str) -> Self {
        self.types.push((prompt.into(), keys.into()));
        self
    }

    /// Presses Ctrl+C when a text appears.
    pub fn until(mut self, text: &str) -> Self {
        self.until = text.into();
        self
    }

    pub async fn run(&self, place: &Place, arguments: &[&str]) -> Output {
        let plan: Value = json!({
            "arguments": arguments, "types": self.types, "until": self.until,
        });
        let plan = plan.to_string();
        clients::python_with(place, "terminal.py", &[&plan], &self.environment).await
    }
}

/// Without colours and with plain line ends.
pub fn plain(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        text.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    text.push_str(rest);
    text.replace("\r\n", "\n")
}
