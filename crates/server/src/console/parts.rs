//! The parts that pages are made of. Each looks the same on every page.

use std::collections::BTreeMap;

use jiff::{Timestamp, tz::TimeZone};
use maud::{Markup, html};

use super::{text::shown, words::Words};

/// The field with which a form shows that it is one of the console's.
pub fn form_token(token: &str) -> Markup {
    html! { input type="hidden" name="form" value=(token); }
}

/// With the zone of the desk; a browser with scripts shows its own.
pub fn time(words: &Words, at_ms: i64) -> Markup {
    let at = Timestamp::from_millisecond(at_ms).ok();
    html! {
        @if let Some(at) = at {
            @let local = at.to_zoned(TimeZone::system());
            @let written = kit::time::written(&local, words.language());
            time datetime=(at) { (written) " " (local.strftime("%Z (UTC%:z)")) }
        }
    }
}

/// The same to the second, for records.
pub fn exact_time(words: &Words, at_ms: i64) -> Markup {
    let at = Timestamp::from_millisecond(at_ms).ok();
    html! {
        @if let Some(at) = at {
            @let local = at.to_zoned(TimeZone::system());
            @let written = kit::time::written_to_the_second(&local, words.language());
            time datetime=(at) data-exact { (written) " " (local.strftime("%Z (UTC%:z)")) }
        }
    }
}

/// Says what became of something.
pub enum Notice {
    Good(String),
    Bad(String),
}

pub fn notice(notice: &Notice) -> Markup {
    match notice {
        Notice::Good(text) => html! { p class="notice" role="status" { (shown(text)) } },
        Notice::Bad(text) => html! { p class="notice bad" role="alert" { (shown(text)) } },
    }
}

/// A word in a coloured field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Warning,
    Neutral,
}

pub fn tag(tone: Tone, text: &str) -> Markup {
    tag_of(tone, html! { (text) })
}

pub fn tag_of(tone: Tone, content: Markup) -> Markup {
    let class = match tone {
        Tone::Good => "tag",
        Tone::Bad => "tag denied",
        Tone::Warning => "tag expired",
        Tone::Neutral => "tag neutral",
    };
    html! { span class=(class) { (content) } }
}

/// Rows under headings. On a narrow screen each row becomes a block, and each cell
/// says which column it belongs to; the roles keep it a table for screen readers.
pub fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Markup>>) -> Markup {
    let rows = rows.into_iter().map(|cells| (None, cells));
    table_of_rows(caption, columns, rows.collect())
}

/// The same with ids of rows: where the page changes, such a row stays what it is.
pub fn table_of_rows(
    caption: &str,
    columns: &[&str],
    rows: Vec<(Option<String>, Vec<Markup>)>,
) -> Markup {
    html! {
        table role="table" {
            caption class="unseen" { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    @for column in columns { th role="columnheader" scope="col" { (column) } }
                }
            }
            tbody role="rowgroup" {
                @for (id, cells) in rows {
                    tr role="row" id=[id] {
                        @for (at, cell) in cells.into_iter().enumerate() {
                            td role="cell" data-column=(columns.get(at).unwrap_or(&"")) { div { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// Names and what they stand for.
pub fn pairs(pairs: Vec<(&str, Markup)>) -> Markup {
    html! {
        dl { @for (name, value) in pairs { div { dt { (name) } dd dir="auto" { (value) } } } }
    }
}

/// A text to be copied. The button works with scripts alone, and they show it.
pub fn copyable(words: &Words, title: &str, text: &str) -> Markup {
    html! {
        div class="copyable" {
            p class="label" { (title) }
            pre tabindex="0" translate="no" { (text) }
            button type="button" hidden data-copy=(words.pick("Copied.", "コピーしました。")) {
                (words.pick("Copy", "コピー"))
            }
        }
    }
}

/// The beginning of a text of an agent.
pub fn excerpt(text: &str, most: usize) -> Markup {
    let (text, more) = kit::text::cut(text, most);
    html! { bdi { (shown(text)) @if more > 0 { "…" } } }
}

/// A field with its label, and what is to be known about it.
pub fn field(id: &str, label: &str, hint: Option<&str>, input: Markup) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            (input)
            @if let Some(hint) = hint { p class="hint" id={ (id) "-hint" } { (hint) } }
        }
    }
}

/// A choice among values, each with its label.
pub fn select(id: &str, name: &str, chosen: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        select id=(id) name=(name) {
            @for (value, label) in options {
                option value=(value) selected[*value == chosen] { (label) }
            }
        }
    }
}

/// A text, with values that the browser offers while it is written, each with its label.
pub fn suggesting(name: &str, value: &str, offered: &BTreeMap<&str, &str>) -> Markup {
    let list = format!("{name}-offered");
    html! {
        input id=(name) name=(name) type="text" value=(value) list=(list) autocomplete="off";
        datalist id=(list) {
            @for (value, label) in offered { option value=(value) { (label) } }
        }
    }
}

pub fn text_field(id: &str, name: &str, value: &str) -> Markup {
    html! { input id=(id) name=(name) type="text" value=(value) autocomplete="off"; }
}
