//! `message.cancel`: takes back a message that is not sent yet.

use std::sync::Arc;

use kit::{Context, Language, Result, Sql, Tool, approval::Card};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    OK,
    cancel::{self, Cancel},
};
use crate::{
    answers::Done,
    bounds::LONGEST_ID,
    cards::CardLines,
    errors,
    state::CounterState,
    store::outbox::{self, OutboxItem},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The message's id, msg_…; your last one unless given
    #[schemars(length(max = LONGEST_ID))]
    id: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let names = Cancel {
        name: "message.cancel",
        aliases: &["message_cancel"],
        title: "Take back a message",
        description: "Take back a message that has not been sent; asks the user unless it is your own.",
    };
    cancel::tool(state, names, handle, card)
}

/// The message to cancel, unless it is too late.
fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<OutboxItem> {
    let id = match input.id {
        Some(id) => id,
        // A second call without an id means the same message, not an earlier one.
        None => outbox::newest(sql, &context.caller.id)?.ok_or_else(errors::nothing_to_cancel)?,
    };
    let item = outbox::message(sql, &id)?
        .ok_or_else(|| errors::not_found("message", &id, "message_list"))?;
    match item.status.as_str() {
        "queued" | "cancelled" => Ok(item),
        status => Err(errors::too_late(&id, status)),
    }
}

fn handle(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let item = find(context, sql, input)?;
    // A message never changes, so its id is its version.
    context.check_card(None, Some(&item.id))?;
    if item.status == "queued" && !outbox::cancel(sql, &item.id)? {
        // It was claimed for sending or cancelled in this moment.
        let id = Some(item.id.clone());
        find(context, sql, Input { id })?;
    }
    let name = item.recipient_name.as_deref().unwrap_or(&item.address);
    let message = match (context.language, item.attempts) {
        (Language::English, 0) => format!("I took back the message to {name}."),
        (Language::English, _) => format!(
            "I took back the message to {name}; an earlier attempt may still have reached them."
        ),
        (Language::Japanese, 0) => format!("{name}へのメッセージを取り消しました。"),
        (Language::Japanese, _) => {
            format!("{name}へのメッセージを取り消しましたが、すでに届いている可能性があります。")
        }
    };
    Ok(Done {
        status: OK,
        id: item.id,
        message,
    })
}

/// For the person who is asked about another key's message.
fn card(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let item = find(context, sql, input)?;
    let to = match &item.recipient_name {
        Some(name) => format!("{name} <{}>", item.address),
        None => item.address.clone(),
    };
    let mut lines = CardLines::new(context.language);
    lines.fact(("To", "宛先"), &to);
    lines.fact(("Text", "本文"), &item.body);
    let summary = match context.language {
        Language::English => format!("Take back the message to {to}"),
        Language::Japanese => format!("{to}へのメッセージを取り消す"),
    };
    let is_own = *item.caller == *context.caller.id;
    let is_cancelled = item.status == "cancelled";
    Ok(cancel::card(summary, lines, item.id, is_own, is_cancelled))
}
