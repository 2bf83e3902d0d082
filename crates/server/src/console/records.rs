//! Records of the audit trail as a list, the same wherever they are shown.

use desk::{
    DESK,
    audit::{FoundRecord, TrailPage, acts},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    inbox::{counter_title, tool_title},
    parts::{Tone, exact_time, excerpt, tag, time},
    view::{View, link},
    words::Words,
};

/// How much of the arguments is in a list.
const EXCERPT: usize = 240;

/// A field of a record that is a text.
pub fn text<'a>(record: &'a FoundRecord, name: &str) -> Option<&'a str> {
    record.json.get(name).and_then(Value::as_str)
}

/// The page of one record.
pub fn address(record: &FoundRecord) -> String {
    let seq = record.seq.to_string();
    link(
        "/console/audit/record",
        &[("segment", &record.segment), ("seq", &seq)],
    )
}

/// How a call ended, in a word.
pub fn outcome(words: &Words, record: &FoundRecord) -> Markup {
    let kind = text(record, "kind").unwrap_or_default();
    let (tone, word) = match (text(record, "outcome").unwrap_or_default(), kind) {
        ("done", _) => (Tone::Good, words.pick("Done", "完了")),
        ("asked", _) => (Tone::Warning, words.pick("Asked first", "確認待ち")),
        ("refused", _) => (Tone::Bad, words.pick("Refused", "拒否")),
        ("failed", _) => (Tone::Bad, words.pick("Failed", "失敗")),
        ("abandoned", _) => (Tone::Warning, words.pick("Client left", "中断")),
        (_, "refused_count") => (Tone::Bad, words.pick("Refused", "拒否")),
        (_, other) => (Tone::Neutral, other),
    };
    html! {
        (tag(tone, word))
        @if let Some(code) = text(record, "code") { " " code { (code) } }
    }
}

/// Where records name a counter and mean none of them.
pub fn desk_title(words: &Words) -> &'static str {
    words.pick("The desk itself", "窓口全体")
}

/// What a record is about: the tool, what a person did at the desk, or the kind.
pub fn title<'a>(view: &View, record: &'a FoundRecord) -> &'a str {
    let words = view.words;
    if let Some(tool) = text(record, "tool") {
        let counter = text(record, "counter").unwrap_or_default();
        return acts::title(tool, words.language())
            .unwrap_or_else(|| tool_title(view, counter, tool));
    }
    match text(record, "kind").unwrap_or_default() {
        "refused_count" => words.pick(
            "Requests refused before a tool was known",
            "ツールが分かる前に拒否された要求",
        ),
        "lost" => words.pick("Records were lost", "失われた記録"),
        _ => words.pick("Record", "記録"),
    }
}

/// The counter that a record names.
pub fn place<'a>(view: &View, record: &'a FoundRecord) -> &'a str {
    match text(record, "counter").unwrap_or_default() {
        DESK => desk_title(view.words),
        counter => counter_title(view, counter),
    }
}

/// `who`: whether each line says who called.
pub fn list(view: &View, page: &TrailPage, who: bool) -> Markup {
    let words = view.words;
    html! {
        @if page.records.is_empty() && page.searched_to.is_none() {
            p { (words.pick("There are no such records.", "該当する記録はありません。")) }
        }
        ol class="lines" role="list" {
            @for record in &page.records { (line(view, record, who)) }
        }
    }
}

fn line(view: &View, record: &FoundRecord, who: bool) -> Markup {
    let words = view.words;
    let act = text(record, "tool").filter(|tool| acts::title(tool, words.language()).is_some());
    let arguments = record.json.get("arguments").map(Value::to_string);
    html! {
        li {
            p {
                (outcome(words, record))
                " " a href=(address(record)) { (title(view, record)) }
                @if let Some(act) = act { " " code { (act) } }
                " " (place(view, record))
                @if let Some(count) = record.json.get("count") { " × " (count) }
            }
            p class="when" {
                span { (exact_time(words, record.at)) }
                @if who { span { (caller(record)) } }
                @if let Some(ms) = record.json.get("ms").and_then(Value::as_f64) {
                    span { (format!("{ms:.1} ms")) }
                }
            }
            @if let Some(arguments) = arguments.filter(|text| text != "{}") {
                p class="arguments" { code { (excerpt(&arguments, EXCERPT)) } }
            }
        }
    }
}

/// The name of the caller, leading to what else it did.
pub fn caller(record: &FoundRecord) -> Markup {
    let id = text(record, "caller").unwrap_or_default();
    let name = text(record, "caller_name").unwrap_or(id);
    html! {
        @if !id.is_empty() {
            a href=(link("/console/agents", &[("caller", id)])) { (excerpt(name, 60)) }
        }
    }
}

/// Leads to older records, and back to the newest.
pub fn pager(view: &View, page: &TrailPage, filters: &[(&str, &str)]) -> Markup {
    let words = view.words;
    let path = &view.address.path;
    let older = page.next.as_ref().map(|next| {
        let next = next.to_string();
        let mut parameters = filters.to_vec();
        parameters.push(("before", &next));
        link(path, &parameters)
    });
    html! {
        @if let Some(at) = page.searched_to {
            p class="hint" {
                (words.pick("Searched back to ", "ここまで検索しました：")) (time(words, at))
                (words.pick(". There may be more before that.", "。それより前にもあるかもしれません。"))
            }
        }
        nav class="pager" aria-label=(words.pick("More records", "ほかの記録")) {
            @if view.address.get("before").is_some() {
                a href=(link(path, filters)) { (words.pick("Newest", "最新")) }
            }
            @if let Some(older) = older {
                a href=(older) rel="next" { (words.pick("Older", "以前の記録")) }
            }
        }
    }
}
