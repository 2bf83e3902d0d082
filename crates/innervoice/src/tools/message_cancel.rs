//! `message.cancel`: takes back a message that has not gone out.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments};
use crate::{answers::Done, errors, store::outbox, voice::Voice};

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
                "description": "The message's id, msg_…; your last one unless given"
            }
        }
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "message.cancel",
        aliases: &["message_cancel"],
        title: "Take back a message",
        description: "Take back a message that has not been sent: for certain within ten seconds, \
            later if it is still waiting.",
        input: input(),
        output: kit::schema::output::<Done>(),
        hints: CHANGES,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            arguments::narrow(arguments, "id");
            arguments::drop_empty(arguments, "id");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn handle(_: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let id = match input.id {
        Some(id) => id,
        // Said twice it means the same message, not the one before.
        None => outbox::newest(sql, &context.caller.id)?.ok_or_else(errors::nothing_to_cancel)?,
    };
    let is_cancelled = outbox::cancel(sql, &id)?;
    let item = outbox::message(sql, &id)?
        .ok_or_else(|| errors::not_found("message", &id, "message_list"))?;
    if !is_cancelled && item.status != "cancelled" {
        return Err(errors::too_late(&id, &item.status));
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
        id,
        message,
    })
}
