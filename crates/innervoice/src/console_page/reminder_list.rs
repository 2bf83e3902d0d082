//! The reminders, in the order in which they come.

use kit::{
    Context, Result, Sql,
    console::{
        Cell, CellRow, CellTable, PageLink, PageQuery, Part, RowAction, Section, Tag, Tone, pick,
        pick_all,
    },
};
use serde_json::json;

use super::{
    new_entries,
    wording::{keeping, time},
};
use crate::{
    model::repeat,
    state::CounterState,
    store::reminders::{self, Reminder},
};

const MOST: usize = 50;
const MOST_FIRED: i64 = 10;
/// How long a reminder that has fired is shown.
const LATELY_MS: i64 = 24 * 60 * 60 * 1000;

pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
) -> Result<Section> {
    let with_past = query.get("reminders") == Some("all");
    let mut found = reminders::list(sql, with_past, MOST as i64 + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    let mut parts = fired_lately(state, context, sql)?;
    parts.push(links(context, query, with_past));
    let rows = found.iter().map(|one| row(state, context, sql, one));
    parts.push(Part::table_or_text(
        CellTable {
            columns: pick_all(
                context,
                &[
                    ("Next", "次回"),
                    ("Note", "内容"),
                    ("Repeats", "繰り返し"),
                    ("Last fired", "前回"),
                    ("Made by", "作成者"),
                    ("Cancel", "取り消し"),
                ],
            ),
            rows: rows.collect::<Result<_>>()?,
            tool: Some("reminder.cancel"),
        },
        pick(
            context,
            "No reminders are set.",
            "リマインダーはありません。",
        ),
    ));
    parts.extend(more);
    parts.push(new_entries::new_reminder(state, context));
    Ok(Section {
        title: pick(context, "Reminders", "リマインダー").into(),
        parts,
    })
}

fn row(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    reminder: &Reminder,
) -> Result<CellRow> {
    let next = match (reminder.next_fire_at, reminder.status.as_str()) {
        (Some(at), _) => time(state, at),
        (None, "cancelled") => past(context, "Cancelled", "取り消し済み"),
        (None, _) => past(context, "Done", "終了"),
    };
    let rule = reminder.rule.as_deref();
    let repeats = rule.map_or(String::new(), |rule| repeat::say(rule, context.language));
    let last = match reminders::last_firing(sql, &reminder.id)? {
        Some((_, fired_at, _, _)) => time(state, fired_at),
        None => Cell::text(""),
    };
    Ok(CellRow {
        cells: vec![
            next,
            Cell::text(&reminder.note),
            Cell::Text(repeats),
            last,
            Cell::Caller(reminder.caller.clone()),
        ],
        action: reminder.next_fire_at.map(|_| RowAction {
            label: pick(context, "Cancel", "取り消す").into(),
            about: reminder.note.clone(),
            arguments: vec![("id", json!(reminder.id))],
        }),
    })
}

/// What whoever looks at the page should know now, also if nothing else could tell them.
fn fired_lately(state: &CounterState, context: &Context, sql: &mut dyn Sql) -> Result<Vec<Part>> {
    let since = context.clock.now().as_millisecond() - LATELY_MS;
    let fired = reminders::fired_since(sql, since, MOST_FIRED)?;
    if fired.is_empty() {
        return Ok(Vec::new());
    }
    let rows = fired
        .into_iter()
        .map(|(note, fired_at)| CellRow::new(vec![time(state, fired_at), Cell::Text(note)]));
    Ok(vec![Part::CellTable(CellTable {
        columns: pick_all(context, &[("Fired lately", "最近の通知"), ("Note", "内容")]),
        rows: rows.collect(),
        tool: None,
    })])
}

fn past(context: &Context, english: &str, japanese: &str) -> Cell {
    Cell::Tag(Tag::new(Tone::Neutral, pick(context, english, japanese)))
}

fn links(context: &Context, query: &PageQuery, with_past: bool) -> Part {
    let link = |english, japanese, value: &str, is_current| {
        let label: &str = pick(context, english, japanese);
        PageLink {
            is_current,
            ..PageLink::new(label, keeping(query, vec![("reminders", value.to_owned())]))
        }
    };
    let links = vec![
        link("Coming", "これから", "", !with_past),
        link("All", "すべて", "all", with_past),
    ];
    let label = pick(context, "Which reminders", "表示するリマインダー");
    Part::Pager(label.into(), links)
}
