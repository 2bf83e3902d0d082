//! One message of the outbox, with its whole text.

use kit::{
    Context, Result, Sql,
    console::{Cell, Part, Section, pick},
};

use super::{
    messages::{recipients, standing, take_back},
    wording::{Facts, missing, time},
};
use crate::{
    state::CounterState,
    store::outbox::{self, OutboxItem},
};

pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: &str,
) -> Result<Section> {
    let title = pick(context, "Message", "メッセージ");
    let of_call = outbox::group(sql, id)?;
    let Some(item) = of_call.iter().find(|item| item.id == id) else {
        let text = pick(
            context,
            "There is no such message.",
            "そのメッセージはありません。",
        );
        return Ok(missing(title, text));
    };
    let others: Vec<&OutboxItem> = of_call.iter().filter(|other| other.id != id).collect();
    let mut facts = Facts::new(context);
    facts.add(("To", "宛先"), Cell::Text(item.recipient()));
    facts.add(("Also to", "ほかの宛先"), Cell::Text(recipients(&others)));
    facts.add(("State", "状態"), Cell::Tag(standing(state, context, item)));
    if item.channel == "email" {
        facts.add(("Subject", "件名"), Cell::text(&item.subject));
    }
    facts.add(("Text", "本文"), Cell::LongText(item.body.clone()));
    facts.add(("Written", "作成日時"), time(state, item.created_at));
    if let Some(sent_at) = item.sent_at {
        facts.add(("Sent", "送信日時"), time(state, sent_at));
    }
    let trouble = item.last_error.as_deref().unwrap_or_default();
    facts.add(("Last error", "直近のエラー"), Cell::text(trouble));
    facts.add(("By", "送信者"), Cell::Caller(item.caller.clone()));
    let mut parts = vec![facts.done()];
    if item.status == "queued" {
        let waiting = of_call.iter().filter(|one| one.status == "queued").count();
        parts.push(Part::Action(take_back(context, id, waiting)));
    }
    Ok(Section {
        title: title.into(),
        parts,
    })
}
