//! `message.send`: puts a message into the outbox. It is sent when the time to take
//! it back is over.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{Card, describe},
    context::Language,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ADDS_OUTSIDE, ID_LENGTH, OK, arguments};
use crate::{
    bounds::{self, LONGEST_KEY},
    cards::CardLines,
    errors,
    model::{address::Platform, moment::rfc3339_millis},
    outbox,
    recipients::{self, Recipient},
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Name or id of a contact, an e-mail address or a phone number
    #[schemars(length(min = 1, max = 320))]
    to: String,
    /// The message
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    /// Unless given, e-mail where there is an address; mail and メール mean email
    platform: Option<Platform>,
    /// Give the same key when you retry, and nothing is sent twice
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    /// The message's id.
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    /// To whom: the contact's name and the address.
    recipient: String,
    platform: String,
    /// queued, or not_configured: it stays in the outbox
    delivery: &'static str,
    /// Until then message_cancel takes it back for certain.
    undo_until: String,
}

/// The longest text that Twilio accepts.
const LONGEST_SMS: usize = 1_600;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "message.send",
            title: "Send a message",
            description: "Send an e-mail or a text message; the user is asked first. For ten seconds \
            message_cancel can take it back.",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::prepared(state, prepare, handle),
    )
    .aliases(&["message_send"])
        .rules(&[errors::TO_EMPTY, errors::TEXT_EMPTY, errors::PLATFORM])
        .normalise(|_, arguments| {
            arguments::text(arguments, "to");
            arguments::text(arguments, "text");
            arguments::platform(arguments, "platform");
        })
        .idempotency_key("idempotency_key")
        .personal(&["to", "text"])
        .card(describe(state, card))
}

/// Finds the recipient before the transaction, since that takes longer the more
/// contacts there are.
fn prepare(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<(Input, Recipient)> {
    let recipient = recipient(state, sql, &input)?;
    context.check_card(Some(&recipient.in_full()), None)?;
    Ok((input, recipient))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    (input, recipient): &(Input, Recipient),
) -> Result<Output> {
    bounds::check_messages(sql, &context.caller.id)?;
    let now = state.now(context).as_millisecond();
    let undo_until = now + i64::from(state.settings.undo_seconds) * 1_000;
    let id = kit::ids::random("msg_", ID_LENGTH);
    store::outbox::insert(
        sql,
        &store::outbox::NewItem {
            id: &id,
            origin: "message",
            firing_id: None,
            channel: recipient.platform.as_str(),
            contact_id: recipient.contact_id.as_deref(),
            recipient_name: recipient.name.as_deref(),
            address: &recipient.address,
            subject: &outbox::subject_of(&input.text),
            body: &input.text,
            not_before: undo_until,
            caller: &context.caller.id,
            created_at: now,
        },
    )?;
    let is_sent = state.sends(recipient.platform);
    Ok(Output {
        status: OK,
        id,
        message: message(state, context.language, recipient, is_sent),
        recipient: recipient.in_full(),
        platform: recipient.platform.as_str().into(),
        delivery: if is_sent { "queued" } else { "not_configured" },
        undo_until: rfc3339_millis(undo_until, &state.zone),
    })
}

fn recipient(state: &CounterState, sql: &mut dyn Sql, input: &Input) -> Result<Recipient> {
    let recipient = recipients::resolve(state, sql, &input.to, input.platform)?;
    let is_long = input.text.chars().nth(LONGEST_SMS).is_some();
    if recipient.platform == Platform::Sms && is_long {
        return Err(errors::text_too_long(LONGEST_SMS));
    }
    Ok(recipient)
}

/// For the person who is asked: the address and the whole text.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let recipient = recipient(state, sql, &input)?;
    bounds::check_messages(sql, &context.caller.id)?;
    let to = recipient.in_full();
    let (by, summary) = match (context.language, recipient.platform) {
        (Language::English, Platform::Email) => ("e-mail", format!("Send an e-mail to {to}")),
        (Language::English, Platform::Sms) => ("SMS", format!("Send a text message to {to}")),
        (Language::Japanese, Platform::Email) => ("メール", format!("{to}にメールを送る")),
        (Language::Japanese, Platform::Sms) => ("SMS", format!("{to}にSMSを送る")),
    };
    let mut lines = CardLines::new(context.language);
    lines.fact(("To", "宛先"), &to);
    lines.fact(("By", "方法"), by);
    lines.fact(("Text", "本文"), &input.text);
    Ok(Card {
        summary,
        recipient: Some(to),
        lines: lines.done(),
        ..Card::default()
    })
}

fn message(state: &CounterState, language: Language, to: &Recipient, is_sent: bool) -> String {
    let name = to.spoken();
    let (soon, later) = match state.settings.undo_seconds {
        0 => ("now".to_owned(), "今すぐ".to_owned()),
        1 => ("in one second".to_owned(), "1秒後に".to_owned()),
        seconds => (format!("in {seconds} seconds"), format!("{seconds}秒後に")),
    };
    match (language, to.platform, is_sent) {
        (Language::English, Platform::Email, true) => {
            format!("The e-mail to {name} goes out {soon}.")
        }
        (Language::English, Platform::Sms, true) => {
            format!("The text to {name} goes out {soon}.")
        }
        (Language::English, Platform::Email, false) => format!(
            "The e-mail to {name} is kept in the outbox, because no mail server is configured."
        ),
        (Language::English, Platform::Sms, false) => format!(
            "The text to {name} is kept in the outbox, because no SMS gateway is configured."
        ),
        (Language::Japanese, Platform::Email, true) => {
            format!("{name}へのメールを{later}送信します。")
        }
        (Language::Japanese, Platform::Sms, true) => {
            format!("{name}へのSMSを{later}送信します。")
        }
        (Language::Japanese, Platform::Email, false) => format!(
            "メールサーバーが設定されていないため、{name}へのメールは送信箱に残しています。"
        ),
        (Language::Japanese, Platform::Sms, false) => {
            format!("SMSゲートウェイが設定されていないため、{name}へのSMSは送信箱に残しています。")
        }
    }
}
