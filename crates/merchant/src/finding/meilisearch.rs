//! The few requests Meilisearch gets from us. What it answers is never shown to
//! a caller: its texts are for the log.

use std::{fmt, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::store::Product;

/// The index, as the document names it.
const INDEX: &str = "products";

const CONNECT: Duration = Duration::from_millis(200);
/// A search that takes longer is answered by the embedded index.
const SEARCH: Duration = Duration::from_millis(800);
/// Documents are sent in the background, where nobody waits.
const SYNC: Duration = Duration::from_secs(60);

pub struct Meilisearch {
    client: reqwest::Client,
    url: String,
    key: String,
}

#[derive(Debug)]
pub enum Failure {
    /// It could not be reached, or not in time.
    Unreachable(String),
    /// It answered, but not with what was asked for.
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
    pub facet_distribution: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
pub struct Hit {
    pub id: i64,
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
    pub fn new(url: &str, key: &str) -> std::result::Result<Self, String> {
        // Where two TLS libraries are linked in, rustls wants to be told which.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // A redirect would carry the key to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            client,
            url: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
        })
    }

    /// What to remember a position under: another server knows nothing yet.
    pub fn target(&self, catalogue: &str) -> String {
        format!("meilisearch {} {catalogue}", self.url)
    }

    pub async fn search(&self, body: &Value) -> Result<Hits> {
        let path = format!("/indexes/{INDEX}/search");
        self.send(reqwest::Method::POST, &path, Some(body), SEARCH)
            .await
    }

    /// How many documents the index holds; `None` when there is no index.
    pub async fn documents(&self) -> Result<Option<u64>> {
        let path = format!("/indexes/{INDEX}/stats");
        let stats: Result<Value> = self.send(reqwest::Method::GET, &path, None, SEARCH).await;
        match stats {
            Ok(stats) => Ok(stats.get("numberOfDocuments").and_then(Value::as_u64)),
            Err(failure) if failure.is("index_not_found") => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub async fn create_index(&self) -> Result<u64> {
        let body = json!({ "uid": INDEX, "primaryKey": "id" });
        self.enqueue(reqwest::Method::POST, "/indexes", Some(&body))
            .await
    }

    pub async fn set_up(&self) -> Result<u64> {
        let body = json!({
            "searchableAttributes": ["name", "description", "keywords", "category", "brand", "sku"],
            "filterableAttributes": ["category", "brand", "price_jpy", "in_stock"],
            "sortableAttributes": ["price_jpy", "id", "name"],
            "localizedAttributes": [{ "attributePatterns": ["*"], "locales": ["jpn"] }],
        });
        let path = format!("/indexes/{INDEX}/settings");
        self.enqueue(reqwest::Method::PATCH, &path, Some(&body))
            .await
    }

    pub async fn put(&self, products: &[&Product]) -> Result<u64> {
        let documents: Vec<Value> = products.iter().map(|product| document(product)).collect();
        let path = format!("/indexes/{INDEX}/documents");
        self.enqueue(reqwest::Method::POST, &path, Some(&Value::Array(documents)))
            .await
    }

    pub async fn remove(&self, id: i64) -> Result<u64> {
        let path = format!("/indexes/{INDEX}/documents/{id}");
        self.enqueue(reqwest::Method::DELETE, &path, None).await
    }

    pub async fn task(&self, uid: u64) -> Result<Task> {
        self.send(reqwest::Method::GET, &format!("/tasks/{uid}"), None, SEARCH)
            .await
    }

    async fn enqueue(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<u64> {
        let enqueued: Enqueued = self.send(method, path, body, SYNC).await?;
        Ok(enqueued.task_uid)
    }

    async fn send<T: for<'de> Deserialize<'de>>(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<T> {
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(&self.key)
            .timeout(limit);
        if let Some(body) = body {
            request = request.json(body);
        }
        // An address may hold a password; reqwest's errors repeat it.
        let unreachable =
            |error: reqwest::Error| Failure::Unreachable(causes(&error.without_url()));
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(unreachable)?;
        if !status.is_success() {
            let problem: Problem = serde_json::from_slice(&bytes).unwrap_or_default();
            return Err(Failure::Refused {
                status: status.as_u16(),
                code: problem.code,
                message: problem.message,
            });
        }
        serde_json::from_slice(&bytes).map_err(|error| Failure::Refused {
            status: status.as_u16(),
            code: "not_understood".into(),
            message: error.to_string(),
        })
    }
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

fn document(product: &Product) -> Value {
    json!({
        "id": product.id,
        "sku": product.sku,
        "name": product.name,
        "description": product.description,
        "category": product.category,
        "brand": product.brand,
        "price_jpy": product.price_yen,
        "keywords": product.keywords,
        "in_stock": product.stock > 0,
    })
}

/// A value in a filter expression, quoted so that it stays a value.
pub fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}
