//! One record of the audit trail: the call, its approval, what it changed.

use desk::{Desk, audit, audit::FoundRecord, events};
use kit::{Result, context::Change, sql::Budget};
use maud::{Markup, html};
use serde_json::Value;

use super::super::{
    inbox::{counter_title, tool_title},
    parts::{copyable, exact_time, excerpt, pairs},
    readable::readable,
    records::{caller, outcome, text},
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
    let counter = text(&record, "counter").unwrap_or_default();
    let tool = text(&record, "tool").unwrap_or_default();
    let title = match tool.is_empty() {
        true => words.pick("Record", "記録"),
        false => tool_title(&view, counter, tool),
    };
    let changes = changes(desk, &record).await?;
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
        section {
            h2 { (words.pick("What it changed", "変更されたもの")) }
            @if changes.is_empty() {
                p { (words.pick("Nothing that is still known.", "記録に残っている変更はありません。")) }
            }
            ul class="lines" role="list" {
                @for change in &changes { li { code { (excerpt(change, 300)) } } }
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
        let title = counter_title(view, counter);
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
    if let Some(ms) = record.json.get("ms").and_then(Value::as_f64) {
        let took = html! { (format!("{ms:.1} ms")) };
        rows.push((words.pick("Took", "所要時間"), took));
    }
    if let Some(approval) = text(record, "approval") {
        let address = link("/console/approvals/one", &[("id", approval)]);
        let approval = html! { a href=(address) { code { (approval) } } };
        rows.push((words.pick("Approval", "確認"), approval));
    }
    pairs(rows)
}

/// The resources that the call changed. The rows about it are kept for a day.
async fn changes(desk: &Desk, record: &FoundRecord) -> Result<Vec<String>> {
    let served = text(record, "counter").and_then(|counter| desk.counter(counter));
    let store = served.and_then(|served| served.counter.store.as_ref());
    let (Some(store), Some(call)) = (store, text(record, "call")) else {
        return Ok(Vec::new());
    };
    let call = call.to_owned();
    let kept = store.query(Budget::default(), move |sql| {
        let row = sql.query_one(
            "SELECT changes FROM desk_writes WHERE call_id = $1",
            &[(&call).into()],
        )?;
        row.map(|row| row.text(0)).transpose()
    });
    let kept = kept.await?.unwrap_or_default();
    let mut changes: Vec<String> = events::decode(&kept)
        .filter_map(|change| match change {
            Change::Resource(uri) => Some(uri),
            Change::ResourceList | Change::ToolList | Change::PromptList | Change::Page => None,
        })
        .collect();
    changes.dedup();
    Ok(changes)
}
