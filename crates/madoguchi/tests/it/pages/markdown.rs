//! As much of Markdown as the tests of the pages need: fenced blocks, links and
//! headings.

use std::{
    fs,
    path::{Path, PathBuf},
};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn read(path: &str) -> String {
    let text = fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Markdown file of the repository, as paths from its root.
pub fn files() -> Vec<String> {
    let mut found = Vec::new();
    collect("", &mut found);
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

fn collect(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{folder}{name}");
        let is_ours = !name.starts_with('.')
            && !["target", "node_modules", "__pycache__", "dist", "data"].contains(&name.as_str());
        if entry.file_type().unwrap().is_dir() && is_ours {
            collect(&format!("{path}/"), found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it begins, counted from 1.
    pub line: usize,
    pub language: String,
    /// What follows the language: `name` or `name="value"`.
    pub attributes: Vec<(String, String)>,
    pub text: String,
}

impl Block {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        let found = all.find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }
}

pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Block)> = None;
    for (index, line) in text.lines().enumerate() {
        let fence = fence(line);
        match (&mut open, fence) {
            (Some((opened_by, _)), Some((ticks, ""))) if ticks.len() >= opened_by.len() => {
                blocks.extend(open.take().map(|(_, block)| block));
            }
            (Some((_, block)), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some((ticks, info))) => {
                let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
                let block = Block {
                    line: index + 1,
                    language: language.to_owned(),
                    attributes: attributes(rest),
                    text: String::new(),
                };
                open = Some((ticks, block));
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end: {open:?}");
    blocks
}

/// The backticks that begin or end a block, and what follows them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let ticks = line.len() - line.trim_start_matches('`').len();
    (ticks >= 3).then(|| (&line[..ticks], line[ticks..].trim()))
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    loop {
        text = text.trim_start();
        let end = text.find([' ', '=']).unwrap_or(text.len());
        if end == 0 {
            return all;
        }
        let (name, rest) = text.split_at(end);
        let (value, rest) = match rest.strip_prefix('=') {
            None => ("", rest),
            Some(rest) => match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').expect("a value ends with a quote"),
                None => rest.split_at(rest.find(' ').unwrap_or(rest.len())),
            },
        };
        all.push((name.to_owned(), value.to_owned()));
        text = rest;
    }
}

/// The text without fenced blocks and code in backticks.
pub fn prose(text: &str) -> String {
    let mut inside: Option<&str> = None;
    let mut prose = String::new();
    for line in text.lines() {
        match (inside, fence(line)) {
            (Some(opened_by), Some((ticks, ""))) if ticks.len() >= opened_by.len() => inside = None,
            (Some(_), _) => {}
            (None, Some((ticks, info))) if !info.contains('`') => inside = Some(ticks),
            (None, _) => {
                let outside = line.split('`').step_by(2);
                prose.push_str(&outside.collect::<Vec<_>>().join("code"));
            }
        }
        prose.push('\n');
    }
    prose
}

/// The targets of the links and pictures, each with its line.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in prose(text).lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            found.push((index + 1, target.to_owned()));
        }
        for rest in line.split("<http").skip(1) {
            let target = rest.split('>').next().unwrap_or_default();
            found.push((index + 1, format!("http{target}")));
        }
    }
    found
}

/// What links to a heading name, as GitHub and mdBook make them.
pub fn anchors(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if fence(line).is_some() {
            inside = !inside;
        }
        let title = line.trim_start_matches('#');
        if inside || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let base: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'))
            .map(|it| if it == ' ' { '-' } else { it })
            .collect();
        let same = all.iter().filter(|it| **it == base).count();
        all.push(if same == 0 {
            base
        } else {
            format!("{base}-{same}")
        });
    }
    all
}

#[test]
fn blocks_links_and_headings_are_found() {
    let text = "# A `b`, c\n[x](y.md#z) `[no](no)`\n```sh not-run=\"a b\" fails\n[q](r)\n```\n# A `b`, c\n";
    let block = &blocks(text)[0];
    assert_eq!((block.line, block.language.as_str()), (3, "sh"));
    assert_eq!(block.attribute("not-run"), Some("a b"));
    assert!(block.has("fails") && !block.has("background"));
    assert_eq!(block.text, "[q](r)\n");
    assert_eq!(links(text), [(2, "y.md#z".to_owned())]);
    assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"]);
}
