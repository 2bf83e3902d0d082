//! Signed webhooks.

use base64ct::{Base64, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use kit::Result;
use reqwest::{Client, Url, header::CONTENT_TYPE};
use sha2::Sha256;

use super::http::{TIMEOUT, address, delivered};
use crate::{
    errors::invalid_config,
    http_client,
    settings::Settings,
    store::outbox::{OutboxItem, Outcome},
};

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

    pub async fn send(&self, item: &OutboxItem, now: Timestamp) -> Outcome {
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
        delivered(request, "The webhook", now).await
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
