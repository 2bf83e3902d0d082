//! Sends by HTTP: text messages through a gateway with Twilio's interface, ntfy,
//! and signed webhooks.

use std::time::Duration;

use base64ct::{Base64, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use kit::Result;
use reqwest::{Client, RequestBuilder, StatusCode, Url, header::CONTENT_TYPE};
use serde::Deserialize;
use sha2::Sha256;

use crate::{
    errors::invalid_config,
    http_client,
    settings::Settings,
    store::outbox::{OutboxItem, Outcome},
};

const TIMEOUT: Duration = Duration::from_secs(30);

fn address(key: &str, text: &str) -> Result<Option<Url>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(Some(url)),
        _ => Err(invalid_config(
            key,
            "is not an address such as https://example.com/path",
        )),
    }
}

pub struct SmsGateway {
    client: Client,
    url: Url,
    user: String,
    password: String,
    from: String,
}

impl SmsGateway {
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let Some(url) = address("sms_url", &settings.sms_url)? else {
            return Ok(None);
        };
        if settings.sms_from.trim().is_empty() {
            return Err(invalid_config("sms_from", "is needed with sms_url"));
        }
        Ok(Some(Self {
            client: http_client::client(TIMEOUT)?,
            url,
            user: settings.sms_user.clone(),
            password: settings.sms_password.clone(),
            from: settings.sms_from.trim().to_owned(),
        }))
    }

    /// A gateway can't tell a second attempt from a second message, so only what was
    /// certainly not sent is retried.
    pub async fn send(&self, item: &OutboxItem) -> Outcome {
        let encode = |text: &str| kit::resource::escape(text, "");
        let form = format!(
            "To={}&From={}&Body={}",
            encode(&item.address),
            encode(&self.from),
            encode(&item.body)
        );
        let request = self
            .client
            .post(self.url.clone())
            .basic_auth(&self.user, Some(&self.password))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                return Outcome::Retry("The SMS gateway could not be reached.".into());
            }
            Err(_) => {
                return Outcome::Unknown(
                    "The SMS gateway did not answer; it may have been sent.".into(),
                );
            }
        };
        let status = response.status();
        if status.is_success() {
            return Outcome::Sent;
        }
        let said = refusal(response).await;
        // The operator can correct a wrong password.
        if matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED
        ) {
            Outcome::Retry(said)
        } else if status.is_server_error() {
            Outcome::Unknown(said)
        } else {
            Outcome::Failed(said)
        }
    }
}

async fn refusal(response: reqwest::Response) -> String {
    #[derive(Deserialize)]
    struct Body {
        message: String,
    }
    let status = response.status().as_u16();
    let body = response.text().await.unwrap_or_default();
    match serde_json::from_str::<Body>(&body) {
        Ok(body) => {
            let message: String = body.message.chars().take(200).collect();
            format!("The SMS gateway answered {status}: {message}")
        }
        Err(_) => format!("The SMS gateway answered {status}."),
    }
}

pub struct Ntfy {
    client: Client,
    url: Url,
    token: String,
}

impl Ntfy {
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let Some(url) = address("ntfy_url", &settings.ntfy_url)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            client: http_client::client(TIMEOUT)?,
            url,
            token: settings.ntfy_token.trim().to_owned(),
        }))
    }

    pub async fn send(&self, item: &OutboxItem) -> Outcome {
        let request = self
            .client
            .post(self.url.clone())
            .header("Title", "Reminder")
            .header("Tags", "alarm_clock")
            .body(shortened(&item.body));
        let request = match self.token.as_str() {
            "" => request,
            token => request.bearer_auth(token),
        };
        delivered(request, "ntfy").await
    }
}

/// A longer message becomes an attachment, which many servers refuse.
const NTFY_BYTES: usize = 4096;

fn shortened(text: &str) -> String {
    if text.len() <= NTFY_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(NTFY_BYTES - '…'.len_utf8());
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// Signed as Standard Webhooks are: over id, time and body.
pub struct Webhook {
    client: Client,
    url: Url,
    key: Option<Vec<u8>>,
}

impl Webhook {
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let Some(url) = address("webhook_url", &settings.webhook_url)? else {
            return Ok(None);
        };
        let key = match settings.webhook_secret.trim() {
            "" => None,
            secret => Some(match secret.strip_prefix("whsec_") {
                Some(encoded) => Base64::decode_vec(encoded)
                    .map_err(|_| invalid_config("webhook_secret", "is no base64 after whsec_"))?,
                None => secret.as_bytes().to_vec(),
            }),
        };
        Ok(Some(Self {
            client: http_client::client(TIMEOUT)?,
            url,
            key,
        }))
    }

    pub async fn send(&self, item: &OutboxItem, now: jiff::Timestamp) -> Outcome {
        let seconds = now.as_second().to_string();
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &item.id)
            .header("webhook-timestamp", &seconds)
            .body(item.body.clone());
        if let Some(key) = &self.key {
            let signature = signature(key, &item.id, &seconds, &item.body);
            request = request.header("webhook-signature", signature);
        }
        delivered(request, "The webhook").await
    }
}

fn signature(key: &[u8], id: &str, seconds: &str, body: &str) -> String {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return String::new();
    };
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", Base64::encode_string(&mac.finalize().into_bytes()))
}

/// Sending twice does no harm here, so everything but a final refusal is retried.
/// The operator can correct a wrong token.
async fn delivered(request: RequestBuilder, who: &str) -> Outcome {
    let status = match request.send().await {
        Ok(response) => response.status(),
        Err(_) => return Outcome::Retry(format!("{who} did not answer.")),
    };
    let said = format!("{who} answered {}.", status.as_u16());
    if status.is_success() {
        Outcome::Sent
    } else if status.is_server_error()
        || matches!(status.as_u16(), 401 | 403 | 408 | 425 | 429)
        || status.is_redirection()
    {
        Outcome::Retry(said)
    } else {
        Outcome::Failed(said)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// The example of the Standard Webhooks specification.
    #[test]
    fn signatures_are_those_of_standard_webhooks() {
        let key = Base64::decode_vec("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = signature(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
