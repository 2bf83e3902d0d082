//! One record of the audit trail: the call, its approval, what it changed.

use desk::{audit, audit::FoundRecord};
use kit::Result;
use maud::{Markup, html};
use serde_json::Value;

use super::super::{
    changes,
    parts::{copyable, exact_time, pairs},
    readable::readable,
    records::{caller, outcome, place, text, title},
    view::{Page, View, link},
};

pub async fn page(view: View) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let segment = view.address.get("segment").unwrap_or_default().to_owned();
    // It becomes the name of a file.
    let is_name = segment
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let seq = view.address.get("seq").and_then(|seq| seq.parse().ok());
    let (Some(trail), Some(seq), true) = (&desk.audit.trail, seq, is_name) else {
        return Ok(Page::not_found(words));
    };
    let found = audit::blocking(&trail.store, move |store, _| {
        audit::record(store, &segment, seq)
    });
    let Some(record) = found.await? else {
        return Ok(Page::not_found(words));
    };
    let title = title(&view, &record);
    let changes = changes::of(desk, &record).await?;
    let main = html! {
        h1 { (title) }
        (particulars(&view, &record))
        @for (name, heading) in [
            ("arguments", words.pick("Arguments", "引数")),
            ("personal", words.pick("What a person wrote", "個人が書いた内容")),
        ] {
            @if let Some(kept) = record.json.get(name) {
                section class="answer" { h2 { (heading) } (readable(words, kept)) }
            }
        }
        @if record.json.get("erased").is_some() {
            p class="hint" { (words.pick("The arguments were erased.", "引数は消去されました。")) }
        }
        @if let Some(changes) = changes {
            section {
                h2 { (words.pick("What it changed", "変更されたもの")) }
                (changes.shown(&view, &record))
            }
        }
        section {
            h2 { (words.pick("The record", "記録")) }
            (copyable(words, "JSON", &serde_json::to_string_pretty(&record.json).unwrap_or_default()))
        }
    };
    Ok(Page::new(title, main))
}

fn particulars(view: &View, record: &FoundRecord) -> Markup {
    let (desk, words) = (&view.desk, view.words);
    let counter = text(record, "counter").unwrap_or_default();
    let mut rows = vec![
        (words.pick("Outcome", "結果"), outcome(words, record)),
        (words.pick("When", "日時"), exact_time(words, record.at)),
        (words.pick("Caller", "呼び出し元"), caller(record)),
    ];
    if !counter.is_empty() {
        let title = place(view, record);
        rows.push((words.pick("Counter", "窓口"), html! { (title) }));
    }
    if let Some(tool) = text(record, "tool") {
        let address = format!("/console/tools/{counter}/{tool}");
        let is_tool = desk
            .counter(counter)
            .is_some_and(|it| it.counter.tool(tool).is_some());
        let name = html! {
            @if is_tool { a href=(address) { code { (tool) } } } @else { code { (tool) } }
        };
        rows.push((words.pick("Tool", "ツール"), name));
    }
    for (field, label) in [
        ("ms", words.pick("Took", "所要時間")),
        (
            "waited_ms",
            words.pick(
                "Of that, waiting for a person",
                "うち、人の判断を待った時間",
            ),
        ),
    ] {
        if let Some(ms) = record.json.get(field).and_then(Value::as_f64) {
            rows.push((label, html! { (format!("{ms:.1} ms")) }));
        }
    }
    if let Some(count) = record.json.get("count") {
        rows.push((words.pick("Times", "回数"), html! { (count) }));
    }
    if let Some(approval) = text(record, "approval") {
        let address = link("/console/approvals/one", &[("id", approval)]);
        let approval = html! { a href=(address) { code { (approval) } } };
        rows.push((words.pick("Approval", "確認"), approval));
    }
    pairs(rows)
}
