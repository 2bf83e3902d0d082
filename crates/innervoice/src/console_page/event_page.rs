//! One event.

use kit::{
    Context, Result, Sql,
    console::{Action, Cell, Part, Section, Tag, Tone, pick},
    time::written_day,
};
use serde_json::json;

use super::wording::{Facts, missing, time};
use crate::{model::repeat, state::CounterState, store::events};

pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: &str,
) -> Result<Section> {
    let Some(event) = events::find(sql, id)? else {
        return Ok(missing(
            pick(context, "Event", "予定"),
            pick(context, "There is no such event.", "その予定はありません。"),
        ));
    };
    let language = context.language;
    let (start, end) = match event.all_day {
        true => (
            Cell::Text(written_day(event.day(), language)),
            Cell::Text(written_day(event.last_day(), language)),
        ),
        false => (time(state, event.starts_at), time(state, event.ends_at)),
    };
    let mut facts = Facts::new(context);
    if event.cancelled_at.is_some() {
        let cancelled = Tag::new(Tone::Neutral, pick(context, "Cancelled", "取り消し済み"));
        facts.add(("State", "状態"), Cell::Tag(cancelled));
    }
    facts.add(("Starts", "開始"), start);
    facts.add(("Ends", "終了"), end);
    let rule = event.rule.as_deref();
    let repeats = rule.map_or(String::new(), |rule| repeat::say(rule, language));
    facts.add(("Repeats", "繰り返し"), Cell::Text(repeats));
    facts.add(("Place", "場所"), Cell::text(&event.location));
    if event.zone() != state.zone {
        facts.add(("Time zone", "タイムゾーン"), Cell::text(&event.zone));
    }
    facts.add(("Made by", "作成者"), Cell::Caller(event.caller.clone()));
    let changed_by = event.changed_by.clone().unwrap_or_default();
    facts.add(("Changed by", "変更者"), Cell::Caller(changed_by));
    facts.add(("Description", "説明"), Cell::LongText(event.description));
    let mut parts = vec![facts.done()];
    if event.cancelled_at.is_none() {
        parts.push(Part::Action(Action {
            tool: "calendar.cancel",
            label: match event.rule {
                Some(_) => pick(
                    context,
                    "Cancel the whole series",
                    "繰り返しをすべて取り消す",
                ),
                None => pick(context, "Cancel the event", "予定を取り消す"),
            }
            .into(),
            fixed: vec![("id", json!(event.id))],
            inputs: Vec::new(),
        }));
    }
    Ok(Section {
        title: event.title,
        parts,
    })
}
