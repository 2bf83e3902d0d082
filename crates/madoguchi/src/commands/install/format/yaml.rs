//! YAML, for goose. Whole lines are added, replaced and removed, so that comments and
//! everything else stay. Only mappings in block style are edited.

mod tree;

use std::ops::Range;

use serde_json::Value;

use super::text::{Entry, Problem, line_break};
use tree::Node;

pub fn parse(text: &str) -> Result<Value, Problem> {
    match tree::read(text)? {
        None => Ok(Value::Object(Entry::new())),
        Some(root) => match root.json() {
            Value::Null => Ok(Value::Object(Entry::new())),
            value @ Value::Object(_) => Ok(value),
            _ => Err(Problem::Form("It is not a YAML mapping.".into())),
        },
    }
}

/// `path` has one key: no client nests its servers deeper in YAML.
pub fn set(text: &str, path: &[&str], name: &str, entry: &Entry) -> Result<String, Problem> {
    let [container] = path else {
        return Err(Problem::Form("Only one level is supported.".into()));
    };
    let mut lines = Lines::new(text);
    let root = tree::read(text)?.filter(|root| !root.is_nothing());
    if let Some(root) = root.as_ref().filter(|root| !root.is_block_map()) {
        return Err(in_flow_style(root, "It"));
    }
    let found = root.as_ref().and_then(|root| root.get(container));
    let Some((key, map)) = found else {
        let column = root.as_ref().map_or(0, first_column);
        lines.append(line(column, container, ""));
        lines.append(rendered(name, entry, column + 2));
        return Ok(lines.text());
    };
    if map.is_null() || map.is_empty_flow_map() {
        if !map.is_nothing() {
            lines.cut(map);
        }
        lines.insert(key.line + 1, rendered(name, entry, key.column + 2));
        return Ok(lines.text());
    }
    if !map.is_block_map() {
        return Err(in_flow_style(map, container));
    }
    match map.get(name) {
        None => {
            let indentation = first_column(map);
            lines.insert(map.last_line + 1, rendered(name, entry, indentation));
        }
        Some((_, existing)) if existing.is_block_map() => update(&mut lines, existing, entry),
        Some((key, existing)) => {
            let range = key.line..existing.last_line + 1;
            lines.replace(range, rendered(name, entry, first_column(map)));
        }
    }
    Ok(lines.text())
}

fn in_flow_style(node: &Node, what: &str) -> Problem {
    let form = match node.json() {
        Value::Object(_) => "written in braces",
        _ => "not a mapping",
    };
    Problem::Form(format!("`{what}` is {form}."))
}

fn update(lines: &mut Lines<'_>, existing: &Node, entry: &Entry) {
    let column = first_column(existing);
    let mut new = Vec::new();
    let mut edits = Vec::new();
    for (key, value) in entry {
        match existing.get(key) {
            None => new.extend(pair(key, value, column)),
            Some((_, old)) if old.json() == *value => {}
            Some((at, old)) => {
                let last = if old.is_nothing() {
                    at.line
                } else {
                    old.last_line
                };
                edits.push((at.line..last + 1, pair(key, value, column)));
            }
        }
    }
    lines.insert(existing.last_line + 1, new);
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, new) in edits {
        lines.replace(range, new);
    }
}

pub fn remove(text: &str, path: &[&str], name: &str) -> Result<String, Problem> {
    let Some(root) = tree::read(text)? else {
        return Ok(text.to_owned());
    };
    let (parent, map) = match path {
        [] => (None, &root),
        [container] => match root.get(container) {
            Some((key, map)) => (Some(key), map),
            None => return Ok(text.to_owned()),
        },
        _ => return Err(Problem::Form("Only one level is supported.".into())),
    };
    let Some((key, value)) = map.get(name) else {
        return Ok(text.to_owned());
    };
    if !map.is_block_map() {
        return Err(in_flow_style(map, name));
    }
    let mut lines = Lines::new(text);
    let last = if value.is_nothing() {
        key.line
    } else {
        value.last_line
    };
    lines.replace(key.line..last + 1, Vec::new());
    if let (Some(parent), 1) = (parent, map.pairs().len()) {
        lines.insert_text(parent.line, parent.last_column + 1, " {}");
    }
    Ok(lines.text())
}

/// The column of a mapping's keys.
fn first_column(map: &Node) -> usize {
    map.pairs()
        .first()
        .map_or(map.column, |(key, _)| key.column)
}

fn rendered(name: &str, entry: &Entry, column: usize) -> Vec<String> {
    let mut lines = line(column, &scalar(name), "");
    for (key, value) in entry {
        lines.extend(pair(key, value, column + 2));
    }
    lines
}

/// The lines of `key: value`.
fn pair(key: &str, value: &Value, column: usize) -> Vec<String> {
    let key = scalar(key);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let indentation = " ".repeat(column);
            let items = items
                .iter()
                .map(|item| format!("{indentation}- {}", short(item)));
            line(column, &key, "").into_iter().chain(items).collect()
        }
        Value::Object(inner) if !inner.is_empty() => {
            let inner = inner
                .iter()
                .flat_map(|(key, value)| pair(key, value, column + 2));
            line(column, &key, "").into_iter().chain(inner).collect()
        }
        _ => line(column, &key, &format!(" {}", short(value))),
    }
}

fn line(column: usize, key: &str, value: &str) -> Vec<String> {
    vec![format!("{}{key}:{value}", " ".repeat(column))]
}

/// A value on one line.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        // JSON is YAML.
        _ => value.to_string(),
    }
}

/// Plain where every YAML version reads it as a text, else in quotes.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let lower = text.to_ascii_lowercase();
    let is_word = matches!(
        lower.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    match starts_well && !is_word && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

/// The lines of a text while it is edited.
struct Lines<'t> {
    lines: Vec<std::borrow::Cow<'t, str>>,
    newline: &'static str,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            lines: text.split_inclusive('\n').map(Into::into).collect(),
            newline: line_break(text),
        }
    }

    fn insert(&mut self, at: usize, new: Vec<String>) {
        self.replace(at..at, new);
    }

    fn append(&mut self, new: Vec<String>) {
        self.insert(self.lines.len(), new);
    }

    fn replace(&mut self, range: Range<usize>, new: Vec<String>) {
        let end = range.end.min(self.lines.len());
        let start = range.start.min(end);
        // The last line of a text may lack its end.
        if let Some(before) = start.checked_sub(1).and_then(|it| self.lines.get_mut(it))
            && !new.is_empty()
            && !before.ends_with('\n')
        {
            before.to_mut().push_str(self.newline);
        }
        let newline = self.newline;
        let new = new.into_iter().map(|line| (line + newline).into());
        self.lines.splice(start..end, new);
    }

    /// Removes a value that stands on one line, and the space before it.
    fn cut(&mut self, node: &Node) {
        if let Some(line) = self.lines.get_mut(node.line) {
            let before: String = line.chars().take(node.column).collect();
            let after: String = line.chars().skip(node.last_column).collect();
            *line = format!("{}{after}", before.trim_end()).into();
        }
    }

    fn insert_text(&mut self, at: usize, column: usize, new: &str) {
        if let Some(line) = self.lines.get_mut(at) {
            let before: String = line.chars().take(column).collect();
            let after: String = line.chars().skip(column).collect();
            *line = format!("{before}{new}{after}").into();
        }
    }

    fn text(self) -> String {
        self.lines.concat()
    }
}
