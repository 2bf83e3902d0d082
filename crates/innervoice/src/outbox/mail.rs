//! E-mail by SMTP.

use std::{
    error::Error as _,
    time::{Duration, SystemTime},
};

use kit::{Error, Result};
use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
};

use crate::{
    errors::invalid_config,
    http_client,
    model::names,
    settings::Settings,
    store::outbox::{OutboxItem, Outcome},
};

const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let url = settings.smtp_url.trim();
        if url.is_empty() {
            return Ok(None);
        }
        if settings.smtp_from.trim().is_empty() {
            let why = "is needed with smtp_url; write it like Name <me@example.com>";
            return Err(invalid_config("smtp_from", why));
        }
        let from = settings.smtp_from.trim().parse().map_err(|_| {
            invalid_config(
                "smtp_from",
                "is not an address such as Name <me@example.com>",
            )
        })?;
        // The address may hold a password, so its error is not repeated.
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| {
                invalid_config(
                    "smtp_url",
                    "is not an address such as smtps://user:password@host",
                )
            })?
            .timeout(Some(TIMEOUT))
            .build();
        Ok(Some(Self { transport, from }))
    }

    /// Checks that the server accepts our login.
    pub async fn check(&self) -> Result<String> {
        let unreachable = || {
            Error::new("SMTP_UNREACHABLE", "The mail server does not let us in.").next(
                "Messages wait in the outbox. Correct smtp_url in [innervoice], and check it: \
                     madoguchi doctor",
            )
        };
        match self.transport.test_connection().await {
            Ok(true) => Ok("the mail server answers".into()),
            Ok(false) => Err(unreachable()),
            Err(error) => Err(unreachable().cause(error)),
        }
    }

    /// Every attempt sends the same message with the same Message-ID, so that a
    /// server can recognise a duplicate.
    pub async fn send(&self, item: &OutboxItem) -> Outcome {
        let message = match self.message(item) {
            Ok(message) => message,
            Err(why) => return Outcome::Failed(why),
        };
        match self.transport.send(message).await {
            Ok(_) => Outcome::Sent,
            Err(error) => {
                tracing::warn!(message = item.id, %error, "an e-mail was not sent");
                match outcome(&error) {
                    Outcome::Failed(why) if self.refuses_everything().await => Outcome::Retry(why),
                    outcome => outcome,
                }
            }
        }
    }

    /// Whether the server refuses us before it has seen any message. Then its refusal
    /// says nothing about the message.
    async fn refuses_everything(&self) -> bool {
        let tested = self.transport.test_connection().await;
        tested.is_err_and(|error| error.is_permanent())
    }

    fn message(&self, item: &OutboxItem) -> Result<Message, String> {
        let address: Address = item
            .address
            .parse()
            .map_err(|_| "The address is not valid.".to_owned())?;
        let id = format!("<{}@{}>", item.id, self.from.email.domain());
        // Headers have no line breaks, and the crate panics on some characters.
        let name = item.recipient_name.as_deref().map(names::one_line);
        let created = u64::try_from(item.created_at).unwrap_or_default();
        Message::builder()
            .message_id(Some(id))
            .date(SystemTime::UNIX_EPOCH + Duration::from_millis(created))
            .from(self.from.clone())
            .to(Mailbox::new(name, address))
            .subject(item.subject.as_str())
            .header(ContentType::TEXT_PLAIN)
            .body(item.body.clone())
            .map_err(|error| format!("The e-mail could not be written: {error}."))
    }
}

/// The codes for a wrong password: the operator's mistake, not the message's.
const AUTHENTICATION: [u16; 4] = [530, 534, 535, 538];

fn outcome(error: &lettre::transport::smtp::Error) -> Outcome {
    let Some(code) = error.status() else {
        // The connection may have failed before or after the data was accepted; the
        // Message-ID lets the server recognise the next attempt.
        return Outcome::Retry(match error.source() {
            Some(_) if http_client::is_untrusted(error) => {
                "The certificate of the mail server is not trusted.".into()
            }
            Some(missing) if error.is_client() => {
                format!("The mail server can't be used: {missing}.")
            }
            _ => "The mail server could not be reached, or broke off.".into(),
        });
    };
    let code: u16 = code.into();
    let said = format!("The mail server answered {code}.");
    if error.is_permanent() && !AUTHENTICATION.contains(&code) {
        Outcome::Failed(said)
    } else {
        Outcome::Retry(said)
    }
}

pub fn reminder_address(settings: &Settings, can_send: bool) -> Result<Option<String>> {
    let address = settings.reminder_email.trim();
    if address.is_empty() {
        return Ok(None);
    }
    if !can_send {
        return Err(invalid_config(
            "reminder_email",
            "needs smtp_url and smtp_from",
        ));
    }
    crate::model::address::email(address)
        .map(Some)
        .ok_or_else(|| invalid_config("reminder_email", "is no e-mail address"))
}
