//! `message.cancel`: takes back a message that is not sent yet.

use std::sync::Arc;

use kit::{Context, Language, Result, Sql, Tool, context::Change};
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
    /// Your last one unless given
    #[schemars(length(max = LONGEST_ID))]
    id: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    super::cancel::tool::<SentMessage>(
        state,
        "message.cancel",
        &["message_cancel"],
        "Take back message",
        "Take back an unsent message; asks the user unless it is your own.",
    )
    .in_japanese("送信の取り消し")
}

/// One message, or those of a call with several recipients. Never empty.
struct SentMessage {
    id: String,
    items: Vec<OutboxItem>,
}

impl SentMessage {
    fn recipients(&self) -> String {
        let all: Vec<String> = self.items.iter().map(OutboxItem::recipient).collect();
        all.join(", ")
    }
}

impl Cancel for SentMessage {
    type Input = Input;

    fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let id = match input.id {
            Some(id) => id,
            // A second call without an id means the same message, not an earlier one.
            None => {
                outbox::newest(sql, &context.caller.id)?.ok_or_else(errors::nothing_to_cancel)?
            }
        };
        let mut items = outbox::group(sql, &id)?;
        let Some(first) = items.first() else {
            return Err(errors::not_found("message", &id, "message_list"));
        };
        // What can't be taken back does not keep the others.
        let late = errors::too_late(&id, &first.status);
        items.retain(|item| matches!(item.status.as_str(), "queued" | "cancelled"));
        match items.is_empty() {
            true => Err(late),
            false => Ok(Self { id, items }),
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
        self.items.iter().all(|item| item.caller == caller)
    }

    fn is_cancelled(&self) -> bool {
        self.items.iter().all(|item| item.status == "cancelled")
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        context.changed(Change::Page);
        let mut any = false;
        for item in &self.items {
            any |= outbox::cancel(sql, &item.id)?;
        }
        if !any {
            // It was claimed for sending or cancelled in this moment.
            let id = Some(self.id.clone());
            Self::find(context, sql, Input { id })?;
        }
        Ok(true)
    }

    fn question(&self, language: Language) -> String {
        let to = self.recipients();
        match language {
            Language::English => format!("Take back the message to {to}"),
            Language::Japanese => format!("{to}へのメッセージを取り消す"),
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        lines.fact(("To", "宛先"), &self.recipients());
        let text = self.items.first().map(|item| item.body.as_str());
        lines.fact(("Text", "本文"), text.unwrap_or_default());
    }

    fn message(&self, _: &CounterState, context: &Context) -> String {
        let names = self.items.iter();
        let names = names.map(|item| item.recipient_name.as_deref().unwrap_or(&item.address));
        let names: Vec<&str> = names.collect();
        let may_have_arrived = self.items.iter().any(|item| item.attempts > 0);
        match (context.language, may_have_arrived) {
            (Language::English, false) => {
                format!("I took back the message to {}.", names.join(" and "))
            }
            (Language::English, true) => format!(
                "I took back the message to {}; an earlier attempt may still have reached them.",
                names.join(" and ")
            ),
            (Language::Japanese, false) => {
                format!("{}へのメッセージを取り消しました。", names.join("と"))
            }
            (Language::Japanese, true) => format!(
                "{}へのメッセージを取り消しましたが、すでに届いている可能性があります。",
                names.join("と")
            ),
        }
    }
}
