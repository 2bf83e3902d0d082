//! The few requests Meilisearch gets from us. What it answers is never shown to
//! a caller: its texts are for the log, without anything secret in them.

use std::{fmt, time::Duration};

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::store::Product;

/// The index, as the document names it.
const INDEX: &str = "products";

const CONNECT: Duration = Duration::from_millis(200);
/// A search that takes longer is answered by the embedded index.
const SEARCH: Duration = Duration::from_millis(800);
/// Documents are sent in the background, where nobody waits; but a lease must
/// not run out meanwhile.
const SYNC: Duration = Duration::from_secs(20);

/// An answer of ours is some kilobytes; facets with long names may be more.
const MOST_ANSWERED: usize = 4 * 1024 * 1024;
/// A request stays far below what the server takes (100 MB unless it was told
/// otherwise).
const MOST_SENT: usize = 8 * 1024 * 1024;
/// How far into the matches pages reach. A server that was told nothing stops
/// after 1000.
const DEEPEST: u64 = 100_000;
/// Of a text that somebody else wrote, so much goes into the log.
const MOST_LOGGED: usize = 300;

pub struct Meilisearch {
    client: reqwest::Client,
    url: Url,
    /// What must not be repeated in any text.
    secrets: Vec<String>,
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

    /// Another search may well be answered.
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

/// Whatever else the index holds, it is no product of ours.
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
            .ok_or("meilisearch_url is no address such as http://localhost:7700")?;
        address.set_query(None);
        address.set_fragment(None);
        let mut secrets = vec![key.to_owned()];
        secrets.extend(address.password().map(str::to_owned));
        secrets.retain(|secret| !secret.is_empty());
        let mut headers = HeaderMap::new();
        // A name and password in the address are used when there is no key: a
        // request has one authorization.
        if !key.is_empty() {
            without_password(&mut address);
            let mut bearer = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| "meilisearch_master_key holds characters that no key has")?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        // Where two TLS libraries are linked in, rustls wants to be told which.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT)
            // A redirect would carry the key to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| causes(&error))?;
        Ok(Self {
            client,
            url: address,
            secrets,
        })
    }

    /// What to remember a position under: another server knows nothing yet.
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

    /// Sets what the index must be set to; `None` when it already is.
    pub async fn set_up(&self) -> Result<Option<u64>> {
        let path = format!("/indexes/{INDEX}/settings");
        let current: Map<String, Value> = self.send(Method::GET, &path, None, SYNC).await?;
        let mut wanted = wanted_settings(current.get("rankingRules"));
        wanted.retain(|name, value| current.get(name) != Some(value));
        if wanted.is_empty() {
            return Ok(None);
        }
        let body = Value::Object(wanted).to_string();
        self.enqueue(Method::PATCH, &path, Some(body))
            .await
            .map(Some)
    }

    /// Sends products, in as many requests as their size asks for, and returns
    /// the task of each.
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
            problem.message = self.harmless(&problem.message);
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
            Failure::Unreachable(self.harmless(&causes(&error.without_url())))
        };
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let refused = |code: &str, message: &str| Failure::Refused {
            status,
            code: self.harmless(code),
            message: self.harmless(message),
        };
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if answer.len() + chunk.len() > MOST_ANSWERED {
                return Err(refused("too_long", "the answer has no end"));
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

    /// A text of somebody else's that can go into the log.
    fn harmless(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, "***");
        }
        text.chars().take(MOST_LOGGED).collect()
    }
}

fn without_password(url: &mut Url) {
    // Fails only for addresses that have no place for them.
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

/// Without `sort` in front, an order that somebody asks for would only count
/// among equally good matches. The other rules are the server's: their names
/// differ between versions.
fn wanted_settings(ranking_rules: Option<&Value>) -> Map<String, Value> {
    let mut wanted = Map::new();
    wanted.insert(
        "searchableAttributes".into(),
        json!([
            "name",
            "description",
            "keywords",
            "category",
            "brand",
            "sku"
        ]),
    );
    wanted.insert(
        "filterableAttributes".into(),
        json!(["category", "brand", "price_jpy", "in_stock"]),
    );
    wanted.insert(
        "sortableAttributes".into(),
        json!(["price_jpy", "id", "name"]),
    );
    wanted.insert(
        "localizedAttributes".into(),
        json!([{ "attributePatterns": ["*"], "locales": ["jpn"] }]),
    );
    wanted.insert("pagination".into(), json!({ "maxTotalHits": DEEPEST }));
    wanted.insert(
        "faceting".into(),
        json!({ "maxValuesPerFacet": 100, "sortFacetValuesBy": { "*": "count" } }),
    );
    if let Some(rules) = ranking_rules.and_then(Value::as_array) {
        let others = rules.iter().filter(|rule| *rule != "sort").cloned();
        let rules: Vec<Value> = std::iter::once("sort".into()).chain(others).collect();
        wanted.insert("rankingRules".into(), rules.into());
    }
    wanted
}

/// Lists of documents, none longer than `most` unless a single one is.
fn bodies(products: &[&Product], most: usize) -> Vec<String> {
    let mut bodies = Vec::new();
    let mut body = String::new();
    for product in products {
        let document = document(product);
        if !body.is_empty() && body.len() + document.len() > most {
            bodies.push(std::mem::take(&mut body) + "]");
        }
        body.push(if body.is_empty() { '[' } else { ',' });
        body.push_str(&document);
    }
    if !body.is_empty() {
        bodies.push(body + "]");
    }
    bodies
}

fn document(product: &Product) -> String {
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
    .to_string()
}

/// A value in a filter expression, quoted so that it stays a value.
pub fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
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
                panic!("{url} was taken");
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
        let text = meilisearch.harmless("Bearer masterKey for me:hunter2");
        assert_eq!(text, "Bearer *** for me:***");
        assert!(meilisearch.harmless(&"long ".repeat(1_000)).len() <= MOST_LOGGED);
    }

    #[test]
    fn long_products_go_in_several_requests() {
        let product = |id| Product {
            id,
            sku: format!("K-{id}"),
            name: "急須".into(),
            description: "\"".repeat(2_000),
            price_yen: 1,
            stock: 1,
            category: None,
            brand: None,
            image_url: None,
            refund_period_days: 30,
            keywords: Vec::new(),
        };
        let products: Vec<Product> = (0..5).map(product).collect();
        let products: Vec<&Product> = products.iter().collect();
        let bodies = bodies(&products, 10_000);
        let lists: Vec<Vec<Value>> = bodies
            .iter()
            .map(|body| serde_json::from_str(body).unwrap())
            .collect();
        let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 2, 1]);
        assert!(bodies.iter().all(|body| body.len() < 10_000));
        assert_eq!(super::bodies(&[], 10_000), [""; 0]);
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
