//! TOML. Edits replace pieces of the text, so that comments and line ends stay.

use std::ops::Range;

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::text::{Entry, Problem, line_break, position};

type Key<'i> = Spanned<DeString<'i>>;
type Item<'i> = Spanned<DeValue<'i>>;

/// A piece of the text and what replaces it.
type Edits = Vec<(Range<usize>, String)>;

pub fn parse(text: &str) -> Result<Value, Problem> {
    Ok(object(read(text)?.get_ref()))
}

fn read(text: &str) -> Result<Spanned<DeTable<'_>>, Problem> {
    DeTable::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        Problem::Syntax {
            line,
            column,
            message: error.message().trim_end_matches('.').into(),
        }
    })
}

/// The keys of a table in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Key<'i>, &'t Item<'i>)> {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys
}

fn object(table: &DeTable<'_>) -> Value {
    let entries = in_order(table).into_iter();
    Value::Object(
        entries
            .map(|(key, item)| (key.get_ref().to_string(), json(item.get_ref())))
            .collect(),
    )
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => number.as_str().into(),
        },
        DeValue::Float(number) => number.as_str().into(),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => object(table),
    }
}

pub fn set(text: &str, path: &[&str], name: &str, entry: &Entry) -> Result<String, Problem> {
    let root = read(text)?;
    let Some((_, item)) = find(root.get_ref(), path, name)? else {
        return Ok(append(text, path, name, entry));
    };
    let mut edits = Edits::new();
    match update(text, item, entry, &mut edits) {
        true => Ok(apply(text, edits)),
        false => Ok(append(&remove(text, path, name)?, path, name, entry)),
    }
}

fn find<'t, 'i>(
    root: &'t DeTable<'i>,
    path: &[&str],
    name: &str,
) -> Result<Option<(&'t Key<'i>, &'t Item<'i>)>, Problem> {
    let mut table = root;
    for key in path {
        match table.get(*key).map(Spanned::get_ref) {
            None => return Ok(None),
            Some(DeValue::Table(inner)) => table = inner,
            Some(_) => return Err(Problem::Form(format!("`{key}` is not a table."))),
        }
    }
    Ok(table.get_key_value(name))
}

fn append(text: &str, path: &[&str], name: &str, entry: &Entry) -> String {
    let newline = line_break(text);
    let mut edited = text.to_owned();
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push_str(newline);
    }
    if !edited.trim().is_empty() {
        edited.push_str(newline);
    }
    let keys = path.iter().copied().chain([name]).map(bare_or_quoted);
    let header = keys.collect::<Vec<_>>().join(".");
    edited.push_str(&format!("[{header}]{newline}"));
    for (key, value) in entry {
        edited.push_str(&line(key, value, newline));
    }
    edited
}

/// Changes the values that differ. `false` if they can't be changed where they are: the
/// item is not a table, or is written with dotted keys.
fn update(text: &str, item: &Item<'_>, entry: &Entry, edits: &mut Edits) -> bool {
    let DeValue::Table(table) = item.get_ref() else {
        return false;
    };
    let span = item.span();
    match text.as_bytes().get(span.start) {
        Some(b'{') => edits.push((span, inline(&Value::Object(entry.clone())))),
        Some(b'[') => {
            for (key, value) in entry {
                match (table.get(key.as_str()), value) {
                    (None, _) => {
                        let at = line_end(text, span.end);
                        let newline = line_break(text);
                        edits.push((at..at, line(key, value, newline)));
                    }
                    (Some(old), _) if json(old.get_ref()) == *value => {}
                    (Some(old), Value::Object(inner)) if old.get_ref().is_table() => {
                        if !update(text, old, inner, edits) {
                            return false;
                        }
                    }
                    (Some(old), _) => edits.push((old.span(), inline(value))),
                }
            }
        }
        _ => return false,
    }
    true
}

pub fn remove(text: &str, path: &[&str], name: &str) -> Result<String, Problem> {
    let root = read(text)?;
    let Some((key, item)) = find(root.get_ref(), path, name)? else {
        return Ok(text.to_owned());
    };
    let mut blocks = Vec::new();
    take_blocks(text, key, item, &mut blocks);
    let edits = blocks
        .into_iter()
        .map(|block| (with_blank_line(text, block), String::new()));
    Ok(apply(text, edits.collect()))
}

/// The lines of a key: `key = value`, or the header of a table with its keys, and of the
/// tables inside it.
fn take_blocks(text: &str, key: &Key<'_>, item: &Item<'_>, blocks: &mut Vec<Range<usize>>) {
    let span = item.span();
    match item.get_ref() {
        DeValue::Table(table) if is_header(text, &span) => {
            let mut end = span.end;
            for (key, inner) in in_order(table) {
                match inner.get_ref() {
                    DeValue::Table(_) if !is_inline(text, &inner.span()) => {
                        take_blocks(text, key, inner, blocks);
                    }
                    _ => end = end.max(inner.span().end),
                }
            }
            blocks.push(line_start(text, span.start)..line_end(text, end));
        }
        // Only tables inside it have headers, or it is written with dotted keys.
        DeValue::Table(table) if !is_inline(text, &span) => {
            for (key, inner) in in_order(table) {
                take_blocks(text, key, inner, blocks);
            }
        }
        _ => blocks.push(line_start(text, key.span().start)..line_end(text, span.end)),
    }
}

fn is_header(text: &str, span: &Range<usize>) -> bool {
    text.as_bytes().get(span.start) == Some(&b'[')
}

fn is_inline(text: &str, span: &Range<usize>) -> bool {
    text.as_bytes().get(span.start) == Some(&b'{')
}

/// Adds the blank line that separated the block: the one before it at the end of the
/// file, else the one after it.
fn with_blank_line(text: &str, block: Range<usize>) -> Range<usize> {
    let before = text.get(..block.start).unwrap_or_default();
    let after = text.get(block.end..).unwrap_or_default();
    if after.is_empty() {
        let kept = before.trim_end_matches(['\r', '\n']).len();
        return line_end(text, kept).min(block.start)..block.end;
    }
    if before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        let blank = after.len() - after.trim_start_matches(['\r', '\n']).len();
        return block.start..block.end + blank;
    }
    block
}

fn apply(text: &str, mut edits: Edits) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        edited.push_str(text.get(at..range.start).unwrap_or_default());
        edited.push_str(&new);
        at = at.max(range.end);
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    edited
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the next line starts.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

fn line(key: &str, value: &Value, newline: &str) -> String {
    format!("{} = {}{newline}", bare_or_quoted(key), inline(value))
}

fn bare_or_quoted(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        false => toml::Value::String(key.into()).to_string(),
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entry) => {
            let pairs = entry
                .iter()
                .map(|(key, value)| format!("{} = {}", bare_or_quoted(key), inline(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
