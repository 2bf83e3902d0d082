//! A client for Meilisearch. Its texts are never shown to a caller: they only go to
//! the log, without secrets.

mod documents;

use std::{fmt, time::Duration};

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::store::Product;
pub use documents::quoted;
use documents::{bodies, is_same_setting, wanted_settings};

/// The index, as the document names it.
const INDEX: &str = "products";

const CONNECT: Duration = Duration::from_millis(200);
/// A search that takes longer is answered by the embedded index.
const SEARCH: Duration = Duration::from_millis(800);
/// For requests in the background. Short enough that the lease does not expire.
const SYNC: Duration = Duration::from_secs(20);

/// An answer has a few kilobytes, more with long facet names.
const MOST_ANSWERED: usize = 4 * 1024 * 1024;
/// Far below what the server accepts (100 MB by default).
const MOST_SENT: usize = 8 * 1024 * 1024;
/// How many characters of a server's text go to the log.
const MOST_LOGGED: usize = 300;

pub struct Meilisearch {
    client: reqwest::Client,
    url: Url,
    /// What must not appear in any text.
    secrets: Vec<String>,
}

#[derive(Debug)]
pub enum Failure {
    /// It could not be reached, or not in time.
    Unreachable(String),
    /// It answered with an error.
    Refused {
        status: u16,
        code: String,
        message: String,
    },
}

impl Failure {
    pub fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }

    /// Other searches may still be answered.
    pub fn is_about_one_search(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 400 | 413 | 414,
                ..
            }
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "Meilisearch can't be reached: {why}"),
            Self::Refused {
                status,
                code,
                message,
            } => {
                write!(f, "Meilisearch answered {status} {code}: {message}")
            }
        }
    }
}

pub type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hits {
    pub hits: Vec<Hit>,
    #[serde(default)]
    pub facet_distribution: Map<String, Value>,
}

/// The index may also hold documents that are not ours.
#[derive(Debug, Deserialize)]
pub struct Hit {
    #[serde(default)]
    id: Value,
}

impl Hit {
    pub fn id(&self) -> Option<i64> {
        match &self.id {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    number_of_documents: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Enqueued {
    task_uid: u64,
}

#[derive(Debug, Deserialize)]
pub struct Task {
    pub status: String,
    pub error: Option<Problem>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Problem {
    pub message: String,
    pub code: String,
}

impl Meilisearch {
    /// The error is a sentence about what is wrong with the settings.
    pub fn new(url: &str, key: &str) -> std::result::Result<Self, String> {
        let mut address = Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or("meilisearch_url is not an address such as http://localhost:7700")?;
        address.set_query(None);
        address.set_fragment(None);
        let mut secrets = vec![key.to_owned()];
        secrets.extend(address.password().map(str::to_owned));
        secrets.retain(|secret| !secret.is_empty());
        let mut headers = HeaderMap::new();
        // A request has one authorization: the key, or else the name and password of
        // the address.
        if !key.is_empty() {
            without_password(&mut address);
            let mut bearer = HeaderValue::from_str(&format!("Bearer {key}")).map_err(
                |_| "meilisearch_master_key has characters that are not allowed in a key",
            )?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        // Two TLS libraries are linked in, so rustls has to be told which to use.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT)
            // A redirect would send the key to another server.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| causes(&error))?;
        Ok(Self {
            client,
            url: address,
            secrets,
        })
    }

    /// The name under which the position of this server is stored.
    pub fn target(&self, catalogue: &str) -> String {
        let mut url = self.url.clone();
        without_password(&mut url);
        let url = url.as_str().trim_end_matches('/');
        format!("meilisearch {url} {catalogue}")
    }

    pub async fn search(&self, body: &Value) -> Result<Hits> {
        let path = format!("/indexes/{INDEX}/search");
        self.send(Method::POST, &path, Some(body.to_string()), SEARCH)
            .await
    }

    /// How many documents the index holds; `None` when there is no index.
    pub async fn documents(&self) -> Result<Option<u64>> {
        let path = format!("/indexes/{INDEX}/stats");
        match self.send::<Stats>(Method::GET, &path, None, SYNC).await {
            Ok(stats) => Ok(Some(stats.number_of_documents)),
            Err(failure) if failure.is("index_not_found") => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub async fn create_index(&self) -> Result<u64> {
        let body = json!({ "uid": INDEX, "primaryKey": "id" });
        self.enqueue(Method::POST, "/indexes", Some(body.to_string()))
            .await
    }

    /// Changes the settings that differ from ours; `None` when none do.
    pub async fn set_up(&self, synonyms: &[Vec<String>]) -> Result<Option<u64>> {
        let path = format!("/indexes/{INDEX}/settings");
        let current: Map<String, Value> = self.send(Method::GET, &path, None, SYNC).await?;
        let mut wanted = wanted_settings(current.get("rankingRules"), synonyms);
        wanted.retain(|name, value| {
            let current = current.get(name);
            current.is_none_or(|current| !is_same_setting(name, current, value))
        });
        if wanted.is_empty() {
            return Ok(None);
        }
        let body = Value::Object(wanted).to_string();
        self.enqueue(Method::PATCH, &path, Some(body))
            .await
            .map(Some)
    }

    /// Sends products, in several requests if they are large, and returns the task of
    /// each.
    pub async fn put(&self, products: &[&Product]) -> Result<Vec<u64>> {
        let path = format!("/indexes/{INDEX}/documents");
        let mut tasks = Vec::new();
        for body in bodies(products, MOST_SENT) {
            tasks.push(self.enqueue(Method::POST, &path, Some(body)).await?);
        }
        Ok(tasks)
    }

    pub async fn remove(&self, id: i64) -> Result<u64> {
        let path = format!("/indexes/{INDEX}/documents/{id}");
        self.enqueue(Method::DELETE, &path, None).await
    }

    pub async fn task(&self, uid: u64) -> Result<Task> {
        let mut task: Task = self
            .send(Method::GET, &format!("/tasks/{uid}"), None, SYNC)
            .await?;
        if let Some(problem) = &mut task.error {
            problem.message = self.for_log(&problem.message);
        }
        Ok(task)
    }

    async fn enqueue(&self, method: Method, path: &str, body: Option<String>) -> Result<u64> {
        let enqueued: Enqueued = self.send(method, path, body, SYNC).await?;
        Ok(enqueued.task_uid)
    }

    async fn send<T: for<'de> Deserialize<'de>>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        limit: Duration,
    ) -> Result<T> {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        let mut request = self.client.request(method, url).timeout(limit);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        // An address may hold a password; reqwest's errors repeat it.
        let unreachable = |error: reqwest::Error| {
            Failure::Unreachable(self.for_log(&causes(&error.without_url())))
        };
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let refused = |code: &str, message: &str| Failure::Refused {
            status,
            code: self.for_log(code),
            message: self.for_log(message),
        };
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if answer.len() + chunk.len() > MOST_ANSWERED {
                return Err(refused("too_long", "the answer is too long"));
            }
            answer.extend_from_slice(&chunk);
        }
        if !response.status().is_success() {
            let problem: Problem = serde_json::from_slice(&answer).unwrap_or_default();
            return Err(refused(&problem.code, &problem.message));
        }
        serde_json::from_slice(&answer)
            .map_err(|error| refused("not_understood", &error.to_string()))
    }

    /// The text without secrets and of bounded length, for the log.
    fn for_log(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, "***");
        }
        text.chars().take(MOST_LOGGED).collect()
    }
}

fn without_password(url: &mut Url) {
    // Fails only for addresses that cannot have them.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_used_are_refused_without_repeating_them() {
        for (url, key) in [
            ("localhost:7700", "key"),
            ("ftp://me:hunter2@host", "key"),
            ("http://", "key"),
            ("nonsense hunter2", "key"),
            ("http://localhost:7700", "hunter2\n"),
        ] {
            let Err(problem) = Meilisearch::new(url, key) else {
                panic!("{url} was accepted");
            };
            assert!(!problem.contains("hunter2"), "{problem}");
        }
    }

    #[test]
    fn secrets_are_in_no_text_and_no_name() {
        let meilisearch =
            Meilisearch::new("http://me:hunter2@localhost:7700/search/", "masterKey").unwrap();
        let target = meilisearch.target("c1");
        assert_eq!(target, "meilisearch http://localhost:7700/search c1");
        let text = meilisearch.for_log("Bearer masterKey for me:hunter2");
        assert_eq!(text, "Bearer *** for me:***");
        assert!(meilisearch.for_log(&"long ".repeat(1_000)).len() <= MOST_LOGGED);
    }

    #[test]
    fn ids_are_numbers_or_written_like_numbers() {
        let hits: Hits = serde_json::from_str(
            r#"{"hits": [{"id": 1}, {"id": "2"}, {"id": "x"}, {"id": null}, {}, {"id": 1.5}]}"#,
        )
        .unwrap();
        let ids: Vec<Option<i64>> = hits.hits.iter().map(Hit::id).collect();
        assert_eq!(ids, [Some(1), Some(2), None, None, None, None]);
    }
}
