//! `message.cancel`: takes back a message that is not sent yet.

use std::sync::Arc;

use kit::{Context, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::cancel::Cancel;
use crate::{
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
    super::cancel::tool::<OutboxItem>(
        state,
        "message.cancel",
        &["message_cancel"],
        "Take back a message",
        "Take back a message that has not been sent; asks the user unless it is your own.",
    )
}

impl Cancel for OutboxItem {
    type Input = Input;

    fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let id = match input.id {
            Some(id) => id,
            // A second call without an id means the same message, not an earlier one.
            None => {
                outbox::newest(sql, &context.caller.id)?.ok_or_else(errors::nothing_to_cancel)?
            }
        };
        let item = outbox::message(sql, &id)?
            .ok_or_else(|| errors::not_found("message", &id, "message_list"))?;
        match item.status.as_str() {
            "queued" | "cancelled" => Ok(item),
            status => Err(errors::too_late(&id, status)),
        }
    }

    fn id(&self) -> &str {
        &self.id
    }

    /// A message never changes.
    fn version(&self) -> String {
        self.id.clone()
    }

    fn is_of(&self, caller: &str) -> bool {
        self.caller == caller
    }

    fn is_cancelled(&self) -> bool {
        self.status == "cancelled"
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        if !outbox::cancel(sql, &self.id)? {
            // It was claimed for sending or cancelled in this moment.
            let id = Some(self.id.clone());
            Self::find(context, sql, Input { id })?;
        }
        Ok(true)
    }

    fn question(&self, language: Language) -> String {
        let to = self.recipient();
        match language {
            Language::English => format!("Take back the message to {to}"),
            Language::Japanese => format!("{to}へのメッセージを取り消す"),
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        lines.fact(("To", "宛先"), &self.recipient());
        lines.fact(("Text", "本文"), &self.body);
    }

    fn message(&self, language: Language) -> String {
        let name = self.recipient_name.as_deref().unwrap_or(&self.address);
        match (language, self.attempts) {
            (Language::English, 0) => format!("I took back the message to {name}."),
            (Language::English, _) => format!(
                "I took back the message to {name}; an earlier attempt may still have reached them."
            ),
            (Language::Japanese, 0) => format!("{name}へのメッセージを取り消しました。"),
            (Language::Japanese, _) => format!(
                "{name}へのメッセージを取り消しましたが、すでに届いている可能性があります。"
            ),
        }
    }
}
