//! `message.cancel`: takes back a message that has not gone out.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{Card, Describe},
    context::Language,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments};
use crate::{
    answers::Done,
    bounds::LONGEST_ID,
    cards::Lines,
    errors,
    store::outbox::{self, Item},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    id: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "description": "The message's id, msg_…; your last one unless given",
                "maxLength": LONGEST_ID
            }
        }
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "message.cancel",
        aliases: &["message_cancel"],
        title: "Take back a message",
        description: "Take back a message that has not been sent; asks the user unless it is your own.",
        input: input(),
        output: kit::schema::output::<Done>(),
        hints: CHANGES,
        effect: Effect::Outside,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::narrow(arguments, "id");
        },
        meta: None,
        personal: &[],
        card: Some(card()),
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

/// The message that is meant, unless it is too late for it.
fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Item> {
    let id = match input.id {
        Some(id) => id,
        // Said twice it means the same message, not the one before.
        None => outbox::newest(sql, &context.caller.id)?.ok_or_else(errors::nothing_to_cancel)?,
    };
    let item = outbox::message(sql, &id)?
        .ok_or_else(|| errors::not_found("message", &id, "message_list"))?;
    match item.status.as_str() {
        "queued" | "cancelled" => Ok(item),
        status => Err(errors::too_late(&id, status)),
    }
}

fn handle(_: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let item = find(context, sql, input)?;
    // What a message says never changes, so its id is its state.
    context.check_card(None, Some(&item.id))?;
    if item.status == "queued" && !outbox::cancel(sql, &item.id)? {
        // It was taken for sending in this moment, or back by somebody else.
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

/// For a person who is asked about somebody else's message.
fn card() -> Describe {
    Arc::new(|context, sql, arguments| {
        let item = find(context, sql, kit::handler::typed(arguments.clone())?)?;
        let is_own = *item.caller == *context.caller.id;
        let to = match &item.recipient_name {
            Some(name) => format!("{name} <{}>", item.address),
            None => item.address.clone(),
        };
        let mut lines = Lines::new(context.language);
        lines.fact(("To", "宛先"), &to);
        lines.fact(("Text", "本文"), &item.body);
        if !is_own {
            lines.not_own();
        }
        Ok(Card {
            summary: match context.language {
                Language::English => format!("Take back the message to {to}"),
                Language::Japanese => format!("{to}へのメッセージを取り消す"),
            },
            lines: lines.done(),
            exempt: is_own || item.status == "cancelled",
            state: Some(item.id),
            ..Card::default()
        })
    })
}
