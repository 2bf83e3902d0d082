//! JSON as people read it: names and values, lists, tables.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    parts::{excerpt, table},
    words::Words,
};

/// Longer texts are cut; the JSON beside it has them whole.
const LONGEST_TEXT: usize = 4000;
const MOST_ROWS: usize = 200;
const MOST_COLUMNS: usize = 8;

pub fn readable(words: &Words, value: &Value) -> Markup {
    match value {
        Value::Null => html! { "–" },
        Value::Bool(true) => html! { (words.pick("yes", "はい")) },
        Value::Bool(false) => html! { (words.pick("no", "いいえ")) },
        Value::Number(number) => html! { (number) },
        Value::String(text) => excerpt(text, LONGEST_TEXT),
        Value::Array(items) => list(words, items),
        Value::Object(fields) => object(words, fields),
    }
}

fn object(words: &Words, fields: &Map<String, Value>) -> Markup {
    html! {
        @if fields.is_empty() { "–" } @else {
            dl {
                @for (name, value) in fields {
                    div { dt { (excerpt(name, 100)) } dd dir="auto" { (readable(words, value)) } }
                }
            }
        }
    }
}

fn list(words: &Words, items: &[Value]) -> Markup {
    let shown = items.get(..items.len().min(MOST_ROWS)).unwrap_or_default();
    let is_plain = |item: &Value| !item.is_array() && !item.is_object();
    html! {
        @if items.is_empty() {
            "–"
        } @else if let Some(columns) = columns(shown) {
            (rows(words, &columns, shown))
        } @else if items.iter().all(is_plain) {
            @for (at, item) in shown.iter().enumerate() {
                @if at > 0 { ", " }
                (readable(words, item))
            }
        } @else {
            ul class="lines" role="list" {
                @for item in shown { li { (readable(words, item)) } }
            }
        }
        @if items.len() > shown.len() { p class="hint" { "… " (items.len()) } }
    }
}

/// The names of all fields, if all items are objects with few fields and nothing deep
/// in them.
fn columns(items: &[Value]) -> Option<Vec<&str>> {
    let mut columns: Vec<&str> = Vec::new();
    for item in items {
        for (name, value) in item.as_object()? {
            if value.is_object() || value.as_array().is_some_and(|it| it.iter().any(is_deep)) {
                return None;
            }
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    (items.len() > 1 && (1..=MOST_COLUMNS).contains(&columns.len())).then_some(columns)
}

fn is_deep(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn rows(words: &Words, columns: &[&str], items: &[Value]) -> Markup {
    let rows = items.iter().map(|item| {
        let cell = |name: &&str| readable(words, item.get(*name).unwrap_or(&Value::Null));
        columns.iter().map(cell).collect()
    });
    table(words.pick("List", "一覧"), columns, rows.collect())
}

#[cfg(test)]
mod tests {
    use kit::context::Language;
    use serde_json::json;

    use super::*;

    fn text(value: &Value) -> String {
        readable(Words::of(Language::English), value).into_string()
    }

    #[test]
    fn values_look_like_what_they_are() {
        assert_eq!(text(&json!(true)), "yes");
        assert_eq!(text(&json!([])), "–");
        assert_eq!(text(&json!([1, 2])), "1, 2");
        let named = text(&json!({ "a": { "b": 1 } }));
        assert!(named.contains("<dt><bdi>b</bdi></dt>"), "{named}");
        let rows = text(&json!([{ "a": 1 }, { "a": 2, "b": [3] }]));
        assert_eq!(rows.matches("<tr").count(), 3, "{rows}");
        // A field inside a field is not squeezed into a cell.
        let deep = text(&json!([{ "a": { "b": 1 } }, { "a": 2 }]));
        assert!(!deep.contains("<table"), "{deep}");
    }

    #[test]
    fn what_agents_write_is_harmless_and_bounded() {
        let hostile = json!({ "<b>\u{202e}": "<script>alert(1)</script>".repeat(1000) });
        let page = text(&hostile);
        assert!(
            !page.contains("<script") && page.contains("U+202E"),
            "{page}"
        );
        assert!(page.len() < 30_000, "{}", page.len());
    }
}
