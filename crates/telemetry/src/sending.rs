//! One request to the collector, repeated while the collector is busy or can't be reached.

use std::time::Duration;

use reqwest::{
    Client, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};

use crate::environment::{Encoding, ExportTarget};

/// How many times one request is sent at most.
const ATTEMPTS: u32 = 4;
/// The wait before the first repetition; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a collector can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The way to the collector, for one signal.
pub struct Sender {
    client: Client,
    target: ExportTarget,
}

/// Why the collector has not taken a request. Never shows what was sent.
#[derive(Debug)]
pub enum Failure {
    /// It may take it later.
    Later(String, Option<Duration>),
    Refused(String),
}

impl Failure {
    pub fn text(&self) -> &str {
        match self {
            Self::Later(text, _) | Self::Refused(text) => text,
        }
    }
}

impl Sender {
    /// `Err` says what is wrong with the settings.
    pub fn new(target: ExportTarget) -> Result<Self, String> {
        // With two TLS libraries linked in, rustls has to be told which to use.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        for (name, value) in &target.headers {
            let name = HeaderName::try_from(name);
            let (Ok(name), Ok(mut value)) = (name, HeaderValue::try_from(value)) else {
                return Err("OTEL_EXPORTER_OTLP_HEADERS names an invalid header".into());
            };
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let kind = match target.encoding {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let client = Client::builder()
            .timeout(target.timeout)
            .default_headers(headers)
            // A redirect would send the headers to another server.
            .redirect(Policy::none())
            .build();
        match client {
            Ok(client) => Ok(Self { client, target }),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn encoding(&self) -> Encoding {
        self.target.encoding
    }

    /// Sends until the collector has taken the request, refuses it, or was asked
    /// often enough.
    pub async fn send(&self, body: Vec<u8>) -> Result<(), Failure> {
        let mut wait = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            match self.send_once(body.clone()).await {
                Err(Failure::Later(_, asked)) if attempt < ATTEMPTS => {
                    tokio::time::sleep(asked.unwrap_or(wait).min(LONGEST_WAIT)).await;
                }
                result => return result,
            }
            attempt += 1;
            wait *= 2;
        }
    }

    pub async fn send_once(&self, body: Vec<u8>) -> Result<(), Failure> {
        let sent = self.client.post(&self.target.url).body(body).send().await;
        let response = sent.map_err(|error| Failure::Later(cause(&error), None))?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let text = format!("the collector answered {status}");
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Failure::Later(text, asked_wait(&response)),
            _ => Failure::Refused(text),
        })
    }
}

/// The innermost cause. What is around it repeats the URL, which may contain a key.
pub fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn asked_wait(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}
