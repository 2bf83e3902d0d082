//! `message.send`: puts a message into the outbox, for one or several people. It is
//! sent when the time to take it back is over.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool, Warning,
    approval::{Card, describe},
    context::{Change, Language},
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
    settings::{SET_UP_SMS, SET_UP_SMTP},
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"to": "Ann, 田中太郎", "text": "I am late."}]))]
pub struct Input {
    /// 送信先: name or id of a contact, e-mail address, phone number; several with commas
    #[schemars(length(min = 1, max = 2_000))]
    to: String,
    /// メッセージ本文
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    /// Of an e-mail; the first line unless given
    #[schemars(length(max = 200))]
    subject: Option<String>,
    /// E-mail unless given, if there is an address
    platform: Option<Platform>,
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    recipient: String,
    platform: String,
    /// queued or not_configured (stays in the outbox)
    delivery: &'static str,
    undo_until: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    other_addresses: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

/// The longest text that Twilio accepts.
const LONGEST_SMS: usize = 1_600;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "message.send",
            title: "Send message",
            description: "Send an e-mail or SMS; the user is asked first, and message_cancel takes it back for ten seconds. メッセージを送信します。",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::prepared(state, prepare, handle),
    )
    .in_japanese("メッセージの送信")
    .aliases(&["message_send"])
    .rules(&[errors::TO_EMPTY, errors::TEXT_EMPTY, errors::PLATFORM])
    .normalise(|_, arguments| {
        arguments::joined(arguments, "to");
        arguments::text(arguments, "to");
        arguments::text(arguments, "text");
        arguments::text(arguments, "subject");
        arguments::platform(arguments, "platform");
    })
    .idempotency_key("idempotency_key")
    .personal(&["to", "text", "subject"])
    .card(describe(state, card))
}

/// A message and whom it is for.
struct Addressed {
    text: String,
    subject: Option<String>,
    recipients: Vec<Recipient>,
}

impl Addressed {
    fn of(state: &CounterState, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let recipients = recipients::resolve_all(state, sql, &input.to, input.platform)?;
        let is_long = input.text.chars().nth(LONGEST_SMS).is_some();
        let is_sms = |one: &Recipient| one.platform == Platform::Sms;
        if is_long && recipients.iter().any(is_sms) {
            return Err(errors::text_too_long(LONGEST_SMS));
        }
        Ok(Self {
            text: input.text,
            subject: input.subject,
            recipients,
        })
    }

    fn subject(&self) -> String {
        match &self.subject {
            Some(subject) => subject.clone(),
            None => outbox::subject_of(&self.text),
        }
    }

    /// The recipients of a standing grant.
    fn in_full(&self) -> String {
        let all: Vec<String> = self.recipients.iter().map(Recipient::in_full).collect();
        all.join(", ")
    }

    fn uses(&self, platform: Platform) -> bool {
        self.recipients.iter().any(|one| one.platform == platform)
    }

    /// The platforms that are used, and cannot send.
    fn held(&self, state: &CounterState) -> Vec<Platform> {
        let all = [Platform::Email, Platform::Sms].into_iter();
        all.filter(|one| self.uses(*one) && !state.sends(*one))
            .collect()
    }

    fn other_addresses(&self) -> Vec<String> {
        let others = self.recipients.iter().flat_map(|one| &one.others);
        others.cloned().collect()
    }
}

/// Finds the recipients before the transaction, since that takes longer the more
/// contacts there are.
fn prepare(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Addressed> {
    let message = Addressed::of(state, sql, input)?;
    context.check_card(Some(&message.in_full()), None)?;
    Ok(message)
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    message: &Addressed,
) -> Result<Output> {
    bounds::check_messages(sql, &context.caller.id, message.recipients.len())?;
    let now = state.now(context).as_millisecond();
    let undo_until = now + i64::from(state.settings.undo_seconds) * 1_000;
    let id = kit::ids::random("msg_", ID_LENGTH);
    let subject = message.subject();
    for (at, recipient) in message.recipients.iter().enumerate() {
        // The first has the id itself; see `outbox::group`.
        let own_id = match at {
            0 => id.clone(),
            _ => format!("{id}-{}", at + 1),
        };
        store::outbox::insert(
            sql,
            &store::outbox::NewItem {
                id: &own_id,
                origin: "message",
                firing_id: None,
                channel: recipient.platform.as_str(),
                contact_id: recipient.contact_id.as_deref(),
                recipient_name: recipient.name.as_deref(),
                address: &recipient.address,
                subject: &subject,
                body: &message.text,
                not_before: undo_until,
                caller: &context.caller.id,
                created_at: now,
            },
        )?;
    }
    context.changed(Change::Page);
    let held = message.held(state);
    let platforms = [Platform::Email, Platform::Sms].into_iter();
    let platforms: Vec<&str> = platforms
        .filter(|one| message.uses(*one))
        .map(Platform::as_str)
        .collect();
    Ok(Output {
        status: OK,
        id,
        message: spoken(state, context.language, message, &held),
        recipient: message.in_full(),
        platform: platforms.join(", "),
        delivery: if held.is_empty() {
            "queued"
        } else {
            "not_configured"
        },
        undo_until: rfc3339_millis(undo_until, &state.zone),
        other_addresses: message.other_addresses(),
        warnings: warnings(message, &held, context.language),
    })
}

fn warnings(message: &Addressed, held: &[Platform], language: Language) -> Vec<Warning> {
    let pick = |english: &'static str, japanese: &'static str| match language {
        Language::English => english,
        Language::Japanese => japanese,
    };
    let mut warnings = Vec::new();
    for platform in held {
        let text = pick(
            "It is not sent until the operator sets up a server for it.",
            "送信サーバーが設定されるまで送信されません。",
        );
        let (setting, name, help) = match platform {
            Platform::Email => ("[innervoice] smtp_url, smtp_from", "email", SET_UP_SMTP),
            Platform::Sms => ("[innervoice] sms_url, sms_from", "sms", SET_UP_SMS),
        };
        let warning = Warning::new("NOT_CONFIGURED", text);
        let warning = warning.detail("platform", name).detail("settings", setting);
        warnings.push(warning.detail("operator", help));
    }
    if message.subject.is_some() && message.uses(Platform::Sms) {
        let text = pick("An SMS has no subject.", "SMSに件名は付きません。");
        warnings.push(Warning::new("SUBJECT_IGNORED", text));
    }
    warnings
}

/// For the person who is asked: the addresses and the whole text.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let message = Addressed::of(state, sql, input)?;
    bounds::check_messages(sql, &context.caller.id, message.recipients.len())?;
    let to = message.in_full();
    let is_mail = message.uses(Platform::Email);
    let (by, summary) = match (context.language, is_mail, message.uses(Platform::Sms)) {
        (Language::English, true, true) => ("e-mail, SMS", format!("Send a message to {to}")),
        (Language::English, true, _) => ("e-mail", format!("Send an e-mail to {to}")),
        (Language::English, false, _) => ("SMS", format!("Send a text message to {to}")),
        (Language::Japanese, true, true) => ("メール、SMS", format!("{to}にメッセージを送る")),
        (Language::Japanese, true, _) => ("メール", format!("{to}にメールを送る")),
        (Language::Japanese, false, _) => ("SMS", format!("{to}にSMSを送る")),
    };
    let mut lines = CardLines::new(context.language);
    lines.fact(("To", "宛先"), &to);
    lines.fact(("By", "方法"), by);
    if is_mail {
        lines.fact(("Subject", "件名"), &message.subject());
    }
    lines.fact(("Text", "本文"), &message.text);
    let others = message.other_addresses().join(", ");
    lines.fact(
        ("Other addresses (not used)", "ほかの連絡先(使いません)"),
        &others,
    );
    if !message.held(state).is_empty() {
        let stays = lines.pick((
            "stays in the outbox; no server is set up",
            "送信箱に残ります(送信サーバーが未設定)",
        ));
        lines.fact(("Delivery", "送信"), stays);
    }
    Ok(Card {
        summary,
        recipient: Some(to),
        lines: lines.done(),
        ..Card::default()
    })
}

/// One sentence for each platform.
fn spoken(
    state: &CounterState,
    language: Language,
    message: &Addressed,
    held: &[Platform],
) -> String {
    let mut sentences = String::new();
    for platform in [Platform::Email, Platform::Sms] {
        let of_it = message
            .recipients
            .iter()
            .filter(|one| one.platform == platform);
        let names: Vec<&str> = of_it.map(Recipient::spoken).collect();
        if names.is_empty() {
            continue;
        }
        if !sentences.is_empty() && language == Language::English {
            sentences.push(' ');
        }
        let is_held = held.contains(&platform);
        sentences.push_str(&match language {
            Language::English => english(state, platform, &names, is_held),
            Language::Japanese => japanese(state, platform, &names, is_held),
        });
    }
    sentences
}

fn english(state: &CounterState, platform: Platform, names: &[&str], is_held: bool) -> String {
    let names = match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    };
    let (what, server) = match platform {
        Platform::Email => ("e-mail", "mail server"),
        Platform::Sms => ("text", "SMS gateway"),
    };
    if is_held {
        return format!(
            "The {what} to {names} is kept in the outbox, because no {server} is configured."
        );
    }
    match state.settings.undo_seconds {
        0 => format!("The {what} to {names} goes out now."),
        1 => format!("The {what} to {names} goes out in one second."),
        seconds => format!("The {what} to {names} goes out in {seconds} seconds."),
    }
}

fn japanese(state: &CounterState, platform: Platform, names: &[&str], is_held: bool) -> String {
    let names = names.join("と");
    let (what, server) = match platform {
        Platform::Email => ("メール", "メールサーバー"),
        Platform::Sms => ("SMS", "SMSゲートウェイ"),
    };
    if is_held {
        return format!(
            "{server}が設定されていないため、{names}への{what}は送信箱に残しています。"
        );
    }
    match state.settings.undo_seconds {
        0 => format!("{names}への{what}を今すぐ送信します。"),
        seconds => format!("{names}への{what}を{seconds}秒後に送信します。"),
    }
}
