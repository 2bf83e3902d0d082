//! `message.send`: into the outbox, from where it leaves once it can no longer
//! be taken back.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{Card, Describe, Line},
    context::Language,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ID_LENGTH, MAKES, OK, arguments};
use crate::{
    bounds::{self, LONGEST_KEY},
    errors,
    model::{address::Platform, when::rfc3339_millis},
    outbox,
    recipients::{self, Recipient},
    store,
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    to: String,
    text: String,
    platform: Option<Platform>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "to": {
                "type": "string",
                "description": "Name or id of a contact, an e-mail address or a phone number",
                "minLength": 1,
                "maxLength": 320
            },
            "text": {
                "type": "string",
                "description": "The message",
                "minLength": 1,
                "maxLength": 20_000
            },
            "platform": {
                "type": "string",
                "description": "Unless given, e-mail where there is an address; mail and メール mean email",
                "enum": ["sms", "email"]
            },
            "idempotency_key": {
                "type": "string",
                "description": "Give the same key when you retry, and nothing is sent twice",
                "maxLength": LONGEST_KEY
            }
        },
        "required": ["to", "text"]
    })
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

/// As much as Twilio takes.
const LONGEST_SMS: usize = 1_600;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "message.send",
        aliases: &["message_send"],
        title: "Send a message",
        description: "Send an e-mail or a text message; the user is asked first. For ten seconds \
            message_cancel can take it back.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: MAKES,
        effect: Effect::Outside,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: Some("idempotency_key"),
        rules: &[errors::TO_EMPTY, errors::TEXT_EMPTY, errors::PLATFORM],
        normalise: |_, arguments| {
            arguments::text(arguments, "to");
            arguments::text(arguments, "text");
            arguments::platform(arguments, "platform");
        },
        meta: None,
        personal: &["to", "text"],
        card: Some(card(voice)),
        inner_calls: None,
        run: Run::prepared(voice, prepare, handle),
    }
}

/// Looking somebody up takes longer the more people there are, so that it is done
/// before the transaction.
fn prepare(
    voice: &Voice,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<(Input, Recipient)> {
    let recipient = recipient(voice, sql, &input)?;
    context.check_card(Some(&recipient.in_full()), None)?;
    Ok((input, recipient))
}

fn handle(
    voice: &Voice,
    context: &Context,
    sql: &mut dyn Sql,
    (input, recipient): &(Input, Recipient),
) -> Result<Output> {
    bounds::check_messages(sql, &context.caller.id)?;
    let now = voice.now(context).as_millisecond();
    let undo_until = now + i64::from(voice.settings.undo_seconds) * 1_000;
    let id = kit::ids::random("msg_", ID_LENGTH);
    store::outbox::insert(
        sql,
        &store::outbox::New {
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
    let is_sent = voice.sends(recipient.platform);
    Ok(Output {
        status: OK,
        id,
        message: message(voice, context.language, recipient, is_sent),
        recipient: recipient.in_full(),
        platform: recipient.platform.as_str().into(),
        delivery: if is_sent { "queued" } else { "not_configured" },
        undo_until: rfc3339_millis(undo_until, &voice.zone),
    })
}

fn recipient(voice: &Voice, sql: &mut dyn Sql, input: &Input) -> Result<Recipient> {
    let recipient = recipients::resolve(voice, sql, &input.to, input.platform)?;
    let is_long = input.text.chars().nth(LONGEST_SMS).is_some();
    if recipient.platform == Platform::Sms && is_long {
        return Err(errors::text_too_long(LONGEST_SMS));
    }
    Ok(recipient)
}

/// For a person who is asked: to which address, and every word of it.
fn card(voice: &Arc<Voice>) -> Describe {
    let voice = Arc::clone(voice);
    Arc::new(move |context, sql, arguments| {
        let input: Input = kit::handler::typed(arguments.clone())?;
        let recipient = recipient(&voice, sql, &input)?;
        bounds::check_messages(sql, &context.caller.id)?;
        let to = recipient.in_full();
        let (summary, labels, platform) = match (context.language, recipient.platform) {
            (Language::English, Platform::Email) => (
                format!("Send an e-mail to {to}"),
                ["To", "By", "Text"],
                "e-mail",
            ),
            (Language::English, Platform::Sms) => (
                format!("Send a text message to {to}"),
                ["To", "By", "Text"],
                "SMS",
            ),
            (Language::Japanese, Platform::Email) => (
                format!("{to}にメールを送る"),
                ["宛先", "方法", "本文"],
                "メール",
            ),
            (Language::Japanese, Platform::Sms) => {
                (format!("{to}にSMSを送る"), ["宛先", "方法", "本文"], "SMS")
            }
        };
        let texts = [to.clone(), platform.to_owned(), input.text];
        let lines = labels.into_iter().zip(texts);
        Ok(Card {
            summary,
            recipient: Some(to),
            lines: lines.map(|(label, text)| Line::new(label, text)).collect(),
            ..Card::default()
        })
    })
}

fn message(voice: &Voice, language: Language, to: &Recipient, is_sent: bool) -> String {
    let name = to.spoken();
    let (soon, later) = match voice.settings.undo_seconds {
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
            format!("SMSの送信先が設定されていないため、{name}へのSMSは送信箱に残しています。")
        }
    }
}
