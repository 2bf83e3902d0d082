//! The outbox, newest first. What is not sent yet can be taken back.

use kit::{
    Context, Language, Result, Sql,
    console::{
        Action, Cell, CellRow, CellTable, PageLink, PageQuery, Part, RowAction, Section, Tag, Tone,
        pick, pick_all,
    },
};
use serde_json::json;

use super::wording::{keeping, time};
use crate::{
    model::address::Platform,
    state::CounterState,
    store::outbox::{self, OutboxItem},
};

const MOST: usize = 50;

/// The tool that takes a message back.
const TAKE_BACK: &str = "message.cancel";

/// Characters of a message in the list.
const EXCERPT: usize = 200;

/// The states by which the list is filtered, in English and Japanese.
const FILTERS: [(&str, &str, &str); 5] = [
    ("", "All", "すべて"),
    ("queued", "Waiting", "送信待ち"),
    ("sent", "Sent", "送信済み"),
    ("failed", "Failed", "失敗"),
    ("cancelled", "Taken back", "取り消し済み"),
];

pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
) -> Result<Section> {
    let wanted = query.get("messages").unwrap_or_default();
    let known = FILTERS.iter().any(|(status, _, _)| *status == wanted);
    let wanted = if known { wanted } else { "" };
    let status = Some(wanted).filter(|status| !status.is_empty());
    let mut found = outbox::messages(sql, status, MOST as i64 + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    let mut parts = vec![links(context, query, wanted)];
    let rows = found.iter().map(|item| CellRow {
        cells: cells(state, context, query, item),
        action: (item.status == "queued").then(|| action(context, item, &found)),
    });
    parts.push(Part::table_or_text(
        CellTable {
            columns: pick_all(
                context,
                &[
                    ("To", "宛先"),
                    ("Text", "本文"),
                    ("State", "状態"),
                    ("Written", "作成日時"),
                    ("By", "送信者"),
                    ("Take back", "取り消し"),
                ],
            ),
            rows: rows.collect(),
            tool: Some(TAKE_BACK),
        },
        pick(
            context,
            "There are no messages.",
            "メッセージはありません。",
        ),
    ));
    parts.extend(more);
    Ok(Section {
        title: pick(context, "Outbox", "送信箱").into(),
        parts,
    })
}

fn cells(
    state: &CounterState,
    context: &Context,
    query: &PageQuery,
    item: &OutboxItem,
) -> Vec<Cell> {
    let (beginning, more) = kit::text::cut(&item.body, EXCERPT);
    let rest = if more > 0 { "…" } else { "" };
    vec![
        Cell::Link {
            label: item.recipient(),
            query: keeping(query, vec![("message", item.id.clone())]),
        },
        Cell::Text(format!("{beginning}{rest}")),
        Cell::Tag(standing(state, context, item)),
        time(state, item.created_at),
        Cell::Caller(item.caller.clone()),
    ]
}

fn action(context: &Context, item: &OutboxItem, all: &[OutboxItem]) -> RowAction {
    let of_call = all.iter().filter(|other| is_of_call(&item.id, &other.id));
    let of_call: Vec<&OutboxItem> = of_call.filter(|one| one.status == "queued").collect();
    let Action { label, fixed, .. } = take_back(context, &item.id, of_call.len());
    RowAction {
        label,
        about: recipients(&of_call),
        arguments: fixed,
    }
}

/// Whether a message is the one with this id, or one to another recipient of the same
/// call, which is taken back with it.
fn is_of_call(id: &str, other: &str) -> bool {
    let rest = other.strip_prefix(id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

pub fn recipients(items: &[&OutboxItem]) -> String {
    let all: Vec<String> = items.iter().map(|item| item.recipient()).collect();
    all.join(", ")
}

/// The form that takes a message back. `count`: how many recipients it has.
pub fn take_back(context: &Context, id: &str, count: usize) -> Action {
    let label = match (count, context.language) {
        (..=1, _) => pick(context, "Take back", "取り消す").to_owned(),
        (_, Language::English) => format!("Take back all {count}"),
        (_, Language::Japanese) => format!("{count}件すべて取り消す"),
    };
    Action {
        tool: TAKE_BACK,
        label,
        fixed: vec![("id", json!(id))],
        inputs: Vec::new(),
    }
}

/// What became of a message, in a word.
pub fn standing(state: &CounterState, context: &Context, item: &OutboxItem) -> Tag {
    let sends = Platform::read(&item.channel).is_some_and(|platform| state.sends(platform));
    let (tone, english, japanese) = match (item.status.as_str(), sends) {
        ("queued", true) => (Tone::Warning, "Waiting", "送信待ち"),
        ("queued", false) => (
            Tone::Warning,
            "Kept: no server is set up",
            "保管中（送信サーバー未設定）",
        ),
        ("sending", _) => (Tone::Warning, "Being sent", "送信中"),
        ("sent", _) => (Tone::Good, "Sent", "送信済み"),
        ("failed", _) => (Tone::Bad, "Failed", "失敗"),
        ("cancelled", _) => (Tone::Neutral, "Taken back", "取り消し済み"),
        _ => (Tone::Bad, "May have been sent", "送信されたか不明"),
    };
    Tag::new(tone, pick(context, english, japanese))
}

fn links(context: &Context, query: &PageQuery, wanted: &str) -> Part {
    let links = FILTERS.iter().map(|(status, english, japanese)| PageLink {
        is_current: *status == wanted,
        ..PageLink::new(
            pick(context, english, japanese),
            keeping(query, vec![("messages", (*status).to_owned())]),
        )
    });
    let label = pick(context, "Which messages", "表示するメッセージ");
    Part::Pager(label.into(), links.collect())
}
