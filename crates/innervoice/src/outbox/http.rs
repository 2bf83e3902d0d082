//! What all channels over HTTP share: their addresses, and what an answer means.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};
use kit::Result;
use reqwest::{RequestBuilder, Response, Url, header::RETRY_AFTER};

use crate::{errors::invalid_config, http_client, store::outbox::Outcome};

pub const TIMEOUT: Duration = Duration::from_secs(30);

pub fn address(key: &str, text: &str) -> Result<Option<Url>> {
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

/// Sending twice does no harm here, so everything but a final refusal is retried.
/// The operator can correct a wrong token.
pub async fn delivered(request: RequestBuilder, who: &str, now: Timestamp) -> Outcome {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Outcome::Retry(unreachable(who, &error)),
        Err(_) => return Outcome::Retry(format!("{who} did not answer.")),
    };
    let status = response.status();
    let said = format!("{who} answered {}.", status.as_u16());
    if status.is_success() {
        Outcome::Sent
    } else if status.is_server_error()
        || matches!(status.as_u16(), 401 | 403 | 408 | 425 | 429)
        || status.is_redirection()
    {
        retry(said, retry_after(&response, now))
    } else {
        Outcome::Failed(said)
    }
}

pub fn unreachable(who: &str, error: &reqwest::Error) -> String {
    match http_client::is_untrusted(error) {
        true => format!("{who} has a certificate that is not trusted."),
        false => format!("{who} could not be reached."),
    }
}

pub fn retry(said: String, wait_ms: Option<i64>) -> Outcome {
    match wait_ms {
        Some(wait) => Outcome::RetryAfter(said, wait),
        None => Outcome::Retry(said),
    }
}

/// How many milliseconds a server wants to be left alone: seconds, or a date.
pub fn retry_after(response: &Response, now: Timestamp) -> Option<i64> {
    wait_ms(response.headers().get(RETRY_AFTER)?.to_str().ok()?, now)
}

fn wait_ms(header: &str, now: Timestamp) -> Option<i64> {
    let wait = match header.trim().parse::<u32>() {
        Ok(seconds) => i64::from(seconds) * 1000,
        Err(_) => {
            let date = rfc2822::parse(header.trim()).ok()?;
            date.timestamp().as_millisecond() - now.as_millisecond()
        }
    };
    Some(wait.max(0))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_server_names_seconds_or_a_date() {
        let now = "2026-11-16T22:00:00Z".parse().unwrap();
        for (header, wait) in [
            ("120", Some(120_000)),
            (" 0 ", Some(0)),
            ("Mon, 16 Nov 2026 22:00:30 GMT", Some(30_000)),
            ("Mon, 16 Nov 2026 21:59:59 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
        ] {
            assert_eq!(wait_ms(header, now), wait, "{header}");
        }
    }
}
