//! Files of random content and layout. Every comment has a number, so that a lost one is
//! noticed.

use proptest::prelude::*;
use serde_json::json;

use super::{super::clients::find, *};

const ALL: &[&str] = &["rooms", "todo"];

/// A random text, made from a list of numbers.
struct Writer {
    choices: Vec<u8>,
    at: usize,
    comments: Vec<String>,
    newline: &'static str,
}

impl Writer {
    fn new(choices: Vec<u8>) -> Self {
        let newline = match choices.first() {
            Some(0..128) | None => "\n",
            Some(_) => "\r\n",
        };
        Self {
            choices,
            at: 1,
            comments: Vec::new(),
            newline,
        }
    }

    fn pick(&mut self, below: usize) -> usize {
        self.at += 1;
        let choice = self.choices.get(self.at).copied();
        usize::from(choice.unwrap_or_default()) % below
    }

    fn comment(&mut self, start: &str, end: &str) -> String {
        let text = format!("{start} c{}.{end}", self.comments.len());
        self.comments.push(format!(" c{}.", self.comments.len()));
        text
    }

    fn json_space(&mut self) -> String {
        match self.pick(8) {
            0 | 1 => String::new(),
            2 => " ".into(),
            3 => format!("{}  ", self.newline),
            4 => format!("{0}{0}\t", self.newline),
            5 => self.comment("/*", "*/"),
            6 => format!(" {}{}", self.comment("//", ""), self.newline),
            _ => self.newline.into(),
        }
    }

    fn json(&mut self, depth: usize) -> String {
        match self.pick(if depth < 3 { 6 } else { 3 }) {
            0 => "1.50".into(),
            1 => "\"a, {b} // c\"".into(),
            2 => "null".into(),
            3 => self.json_list(depth),
            _ => self.json_object(&["a", "b", "other"], depth + 1),
        }
    }

    fn json_list(&mut self, depth: usize) -> String {
        let (a, b) = (self.json(depth + 1), self.json_space());
        format!("[{b}{a}]")
    }

    fn json_object(&mut self, keys: &[&str], depth: usize) -> String {
        let mut text = String::from("{");
        let keys: Vec<_> = keys.iter().filter(|_| self.pick(2) == 0).collect();
        for (index, key) in keys.iter().enumerate() {
            let is_last = index + 1 == keys.len();
            let value = match **key {
                "mcpServers" => self.json_object(&["x", "y", "z"], depth + 1),
                _ => self.json(depth),
            };
            let [a, b, c] = [(); 3].map(|()| self.json_space());
            let comma = if is_last && self.pick(2) == 0 {
                ""
            } else {
                ","
            };
            text.push_str(&format!("{a}\"{key}\":{b}{value}{c}{comma}"));
        }
        let end = self.json_space();
        text + &end + "}"
    }

    fn line_end(&mut self, mark: &str) -> String {
        let newline = self.newline;
        match self.pick(4) {
            0 => format!(" {}{newline}", self.comment(mark, "")),
            1 => newline.repeat(2),
            2 => format!("{newline}{}{newline}", self.comment(mark, "")),
            _ => newline.into(),
        }
    }

    fn toml(&mut self) -> String {
        let mut text = String::new();
        for key in ["a", "b"] {
            let value = ["1", "'x # y'", "[\n 1, # two\n 2]", "\"\"\"\n[z]\n\"\"\""][self.pick(4)];
            text.push_str(&format!("{key} = {value}{}", self.line_end("#")));
        }
        for table in ["tools", "mcp_servers.x", "mcp_servers.y.env", "zz"] {
            if self.pick(2) == 0 {
                text.push_str(&format!("[{table}]{}", self.line_end("#")));
                text.push_str(&format!("c = \"m\"{}", self.line_end("#")));
            }
        }
        text
    }

    fn yaml(&mut self) -> String {
        let mut text = String::new();
        let step = " ".repeat(self.pick(3) + 1);
        for key in ["a", "extensions", "z"] {
            if self.pick(3) == 0 {
                continue;
            }
            text.push_str(&format!("{key}:{}", self.line_end("#")));
            for inner in ["x", "y"] {
                text.push_str(&format!("{step}{inner}:{}", self.line_end("#")));
                let values = [
                    "k: v",
                    "k: 'v # w'",
                    "k: {l: [1, 2]}",
                    "k: |\n{step}{step}  text\n{step}{step}  # text",
                    "- 1\n{step}{step}- k: v",
                ];
                let value = values[self.pick(values.len())].replace("{step}", &step);
                text.push_str(&format!("{step}{step}{value}{}", self.line_end("#")));
            }
        }
        text
    }
}

fn survives(client: &str, before: &str, comments: &[String]) {
    let client = find(client).unwrap();
    let ours = |counter| WantedEntry {
        counter,
        name: client.entry_name(counter),
        entry: json!({ "command": "madoguchi", "args": ["stdio", counter] })
            .as_object()
            .unwrap()
            .clone(),
    };
    let Ok(added) = add(client, before, &[ours("todo"), ours("rooms")], false) else {
        panic!("{}: not added to\n{before}", client.name);
    };
    let has_all = |text: &str| {
        comments
            .iter()
            .all(|comment| text.contains(comment.as_str()))
    };
    assert!(has_all(&added.text), "{before}\n→\n{}", added.text);
    let exact = remove(client, &added.text, Some(before), ALL, ALL).unwrap();
    assert!(exact.is_exact, "{before}\n→\n{}", added.text);
    // Without the backup, too, only our entries go.
    let removed = remove(client, &added.text, Some("x"), ALL, ALL);
    let Ok(Removed {
        removal: Removal::Text(text),
        is_exact: false,
        ..
    }) = removed
    else {
        panic!("{}: not removed from\n{}", client.name, added.text);
    };
    assert!(has_all(&text), "{}\n→\n{text}", added.text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_survives(choices in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut writer = Writer::new(choices);
        let text = writer.json_object(&["mcpServers", "b", "mcp"], 0);
        survives("cursor", &text, &writer.comments);
    }

    #[test]
    fn toml_survives(choices in prop::collection::vec(any::<u8>(), 1..60)) {
        let mut writer = Writer::new(choices);
        let text = writer.toml();
        survives("codex", &text, &writer.comments);
    }

    #[test]
    fn yaml_survives(choices in prop::collection::vec(any::<u8>(), 1..60)) {
        let mut writer = Writer::new(choices);
        let text = writer.yaml();
        survives("goose", &text, &writer.comments);
    }
}
