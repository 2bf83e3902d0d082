//! Text messages, through a gateway with Twilio's interface.

use jiff::Timestamp;
use kit::Result;
use reqwest::{Client, Response, StatusCode, Url, header::CONTENT_TYPE};
use serde::Deserialize;

use super::http::{TIMEOUT, address, retry, retry_after, unreachable};
use crate::{
    errors::invalid_config,
    http_client,
    settings::Settings,
    store::outbox::{OutboxItem, Outcome},
};

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
    pub async fn send(&self, item: &OutboxItem, now: Timestamp) -> Outcome {
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
                return Outcome::Retry(unreachable("The SMS gateway", &error));
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
        let wait = retry_after(&response, now);
        let said = refusal(response).await;
        // The operator can correct a wrong password.
        if matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED
        ) {
            retry(said, wait)
        } else if status.is_server_error() {
            Outcome::Unknown(said)
        } else {
            Outcome::Failed(said)
        }
    }
}

async fn refusal(response: Response) -> String {
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
