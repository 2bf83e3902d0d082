//! Notifications on the user's phone, through an ntfy server.

use jiff::Timestamp;
use kit::Result;
use reqwest::{Client, Url};

use super::http::{TIMEOUT, address, delivered};
use crate::{
    http_client,
    settings::Settings,
    store::outbox::{NOTICE, OutboxItem, Outcome},
};

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

    pub async fn send(&self, item: &OutboxItem, now: Timestamp) -> Outcome {
        let request = self
            .client
            .post(self.url.clone())
            .body(shortened(&item.body));
        let request = match item.id.starts_with(NOTICE) {
            true => request
                .header("Title", "Approval")
                .header("Tags", "bell")
                .header("Click", &item.address),
            false => request
                .header("Title", "Reminder")
                .header("Tags", "alarm_clock"),
        };
        let request = match self.token.as_str() {
            "" => request,
            token => request.bearer_auth(token),
        };
        delivered(request, "ntfy", now).await
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
