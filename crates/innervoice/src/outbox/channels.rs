//! The channels that are configured: e-mail, SMS, ntfy, webhook.

use kit::Result;

use super::{
    mail::{self, Mailer},
    ntfy::Ntfy,
    sms::SmsGateway,
    webhook::Webhook,
};
use crate::{
    settings::Settings,
    store::outbox::{OutboxItem, Outcome},
};

pub struct Channels {
    pub email: Option<Mailer>,
    pub sms: Option<SmsGateway>,
    ntfy: Option<Ntfy>,
    webhook: Option<Webhook>,
    reminder_email: Option<String>,
}

impl Channels {
    pub fn new(settings: &Settings) -> Result<Self> {
        let email = Mailer::new(settings)?;
        Ok(Self {
            reminder_email: mail::reminder_address(settings, email.is_some())?,
            email,
            sms: SmsGateway::new(settings)?,
            ntfy: Ntfy::new(settings)?,
            webhook: Webhook::new(settings)?,
        })
    }

    /// The names of the configured channels.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            ("email", self.email.is_some()),
            ("sms", self.sms.is_some()),
            ("ntfy", self.ntfy.is_some()),
            ("webhook", self.webhook.is_some()),
        ];
        let configured = all.into_iter().filter(|(_, is_there)| *is_there);
        configured.map(|(name, _)| name).collect()
    }

    /// Where reminders are sent: channel and address.
    pub fn for_reminders(&self) -> Vec<(&'static str, String)> {
        let email = self
            .reminder_email
            .clone()
            .map(|address| ("email", address));
        let ntfy = self.ntfy.as_ref().map(|_| ("ntfy", String::new()));
        let webhook = self.webhook.as_ref().map(|_| ("webhook", String::new()));
        email.into_iter().chain(ntfy).chain(webhook).collect()
    }

    pub async fn send(&self, item: &OutboxItem, now: jiff::Timestamp) -> Outcome {
        let gone = || Outcome::Retry("This channel is no longer configured.".into());
        match item.channel.as_str() {
            "email" => match &self.email {
                Some(mailer) => mailer.send(item).await,
                None => gone(),
            },
            "sms" => match &self.sms {
                Some(gateway) => gateway.send(item, now).await,
                None => gone(),
            },
            "ntfy" => match &self.ntfy {
                Some(ntfy) => ntfy.send(item, now).await,
                None => gone(),
            },
            "webhook" => match &self.webhook {
                Some(webhook) => webhook.send(item, now).await,
                None => gone(),
            },
            other => Outcome::Failed(format!("There is no channel {other}.")),
        }
    }
}

const SUBJECT: usize = 60;

/// The subject of an e-mail: the first line of the message.
pub fn subject_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line: String = line
        .unwrap_or_default()
        .chars()
        .filter(|letter| !letter.is_control())
        .collect();
    match line.char_indices().nth(SUBJECT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
