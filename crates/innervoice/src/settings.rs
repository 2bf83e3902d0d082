//! What an operator can set for this counter.

use jiff::tz::TimeZone;
use kit::{Language, counter::AnswerLanguage};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// What the operator does so that e-mails are sent.
pub const SET_UP_SMTP: &str = "Set MADOGUCHI_INNERVOICE__SMTP_URL=smtps://user:password@host and \
    MADOGUCHI_INNERVOICE__SMTP_FROM=me@example.com, and check them: madoguchi doctor";
/// The same for texts.
pub const SET_UP_SMS: &str = "Set MADOGUCHI_INNERVOICE__SMS_URL and \
    MADOGUCHI_INNERVOICE__SMS_FROM, and check them: madoguchi doctor";

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The IANA time zone its user lives in: what a time without a zone means.
    #[serde(deserialize_with = "known_zone")]
    pub time_zone: String,
    /// The language the user is answered in: ja or en. Empty: the one the client asks for, else the one the user speaks.
    #[serde(deserialize_with = "known_language")]
    pub language: String,
    /// The country calling code of numbers that begin with 0.
    pub country_code: String,
    /// How many seconds a message waits before it is sent, and can be taken back.
    pub undo_seconds: u32,
    /// The mail server: smtp://user:password@host:587?tls=required or smtps://…. Empty: e-mails stay in the outbox.
    pub smtp_url: String,
    /// Whom e-mails come from: Name <me@example.com>.
    pub smtp_from: String,
    /// The SMS gateway, in Twilio's form: https://api.twilio.com/2010-04-01/Accounts/AC…/Messages.json. Empty: texts stay in the outbox.
    pub sms_url: String,
    /// The gateway's user, for Twilio the account's SID.
    pub sms_user: String,
    /// The gateway's password, for Twilio the auth token.
    pub sms_password: String,
    /// The number that texts come from.
    pub sms_from: String,
    /// A calendar on a CalDAV server that events are written to: https://example.com/me/calendar/. Empty: they stay here.
    pub caldav_url: String,
    /// Who the CalDAV server knows us as; empty for nobody.
    pub caldav_user: String,
    /// The password for `caldav_user`.
    pub caldav_password: String,
    /// Reminders are sent to this e-mail address too. Empty: they are not.
    pub reminder_email: String,
    /// Reminders are published to this ntfy topic too: https://ntfy.sh/my-topic.
    pub ntfy_url: String,
    /// The access token for that topic.
    pub ntfy_token: String,
    /// Reminders are posted to this address too, as JSON.
    pub webhook_url: String,
    /// What those posts are signed with (Standard Webhooks): whsec_ and base64, or any text.
    pub webhook_secret: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: "Asia/Tokyo".into(),
            language: String::new(),
            country_code: "81".into(),
            undo_seconds: 10,
            smtp_url: String::new(),
            smtp_from: String::new(),
            sms_url: String::new(),
            sms_user: String::new(),
            sms_password: String::new(),
            sms_from: String::new(),
            caldav_url: String::new(),
            caldav_user: String::new(),
            caldav_password: String::new(),
            reminder_email: String::new(),
            ntfy_url: String::new(),
            ntfy_token: String::new(),
            webhook_url: String::new(),
            webhook_secret: String::new(),
        }
    }
}

impl Settings {
    pub(crate) fn language(&self) -> AnswerLanguage {
        match self.language.as_str() {
            "ja" => AnswerLanguage::Always(Language::Japanese),
            "en" => AnswerLanguage::Always(Language::English),
            _ => AnswerLanguage::OfThePerson {
                spoken: &["start", "time", "date", "from", "repeat", "note"],
                otherwise: match self.time_zone.as_str() {
                    "Asia/Tokyo" => Language::Japanese,
                    _ => Language::English,
                },
            },
        }
    }

    /// A configuration with an unknown zone is refused when it is read, so the
    /// fallback only applies to settings made in code.
    pub(crate) fn zone(&self) -> TimeZone {
        kit::time::zone(&self.time_zone).unwrap_or(TimeZone::UTC)
    }
}

/// Passwords, tokens and private addresses must not be logged.
impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("time_zone", &self.time_zone)
            .finish_non_exhaustive()
    }
}

fn known_language<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    match name.as_str() {
        "" | "ja" | "en" => Ok(name),
        _ => Err(D::Error::custom(format!("`{name}` is not ja or en"))),
    }
}

fn known_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    match kit::time::zone(&name) {
        Some(_) => Ok(name),
        None => Err(D::Error::custom(format!(
            "`{name}` is not an IANA time zone such as `Asia/Tokyo`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_refusals() {
        let read = |text| serde_json::from_str::<Settings>(text);
        let defaults = read("{}").unwrap();
        assert_eq!(defaults.time_zone, "Asia/Tokyo");
        assert_eq!(defaults.undo_seconds, 10);
        assert!(read(r#"{"time_zone": "Asia/Tokio"}"#).is_err());
        assert!(read(r#"{"language": "fr"}"#).is_err());
        assert!(read(r#"{"smtp": "x"}"#).is_err());
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = Settings {
            smtp_url: "smtp://me:hunter2@mail".into(),
            webhook_secret: "hunter2".into(),
            ..Settings::default()
        };
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
