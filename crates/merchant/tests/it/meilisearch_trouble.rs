//! Meilisearch is down, slow, wrong, or has lost documents: the shop still answers.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use merchant::Settings;
use serde_json::{Value, json};

use crate::{
    meilisearch::{in_step, one_in_step, settings, until},
    meilisearch_server::{Fault, KEY, Server},
    shop::{Shop, ids},
};

#[track_caller]
fn is_degraded(answer: &Value) {
    assert_eq!(answer["warnings"][0]["code"], "SEARCH_DEGRADED");
    assert_eq!(answer["fallback"], Value::Null);
    assert_eq!(ids(answer).len(), 8);
}

/// Whatever Meilisearch does, the embedded index answers. After a few failures
/// Meilisearch is not asked for a while, and again when it has recovered.
async fn is_survived(fault: Option<Fault>) {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    match fault.clone() {
        Some(fault) => server.fault("/search", fault),
        None => server.go_down().await,
    }
    server.take_seen();
    for _ in 0..23 {
        is_degraded(&shop.find("むぎぼー").await);
    }
    // Only some requests were sent; otherwise each search would have waited.
    let came = server.count("/search");
    match fault {
        Some(_) => assert!((1..23).contains(&came), "{came}"),
        None => assert_eq!(came, 0),
    }
    match fault {
        Some(_) => server.mend(),
        None => server.come_back().await,
    }
    shop.wait_until_in_step().await;
    shop.close().await;
}

#[tokio::test]
async fn doctor_reports_the_state_of_the_engines() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let wrong = crate::shop::with(Settings {
        meilisearch_master_key: "wrong".into(),
        ..settings(&server)
    })
    .await;
    let said = async |shop: &Shop| -> Vec<String> {
        let background = shop.counter.background.as_ref().unwrap();
        let answers = background.check().await.into_iter();
        answers
            .map(|(what, answer)| match answer {
                Ok(message) => format!("{what}: {message}"),
                Err(error) => format!("{what}: {error}"),
            })
            .collect()
    };
    assert_eq!(
        said(&shop).await,
        [
            "search: the index knows 30 products",
            "meilisearch: answers, and has 30 documents"
        ]
    );
    let refused = said(&wrong).await.remove(1);
    let start = "meilisearch: MEILISEARCH_UNUSABLE: Meilisearch answered 403 invalid_api_key";
    assert!(refused.starts_with(start), "{refused}");
    assert!(!refused.contains("wrong"), "{refused}");
    shop.close().await;
    wrong.close().await;
}

#[tokio::test]
async fn down() {
    is_survived(None).await;
}

#[tokio::test]
async fn slow() {
    is_survived(Some(Fault::Slow(Duration::from_secs(5)))).await;
}

#[tokio::test]
async fn hanging_up() {
    is_survived(Some(Fault::HangUp)).await;
}

#[tokio::test]
async fn failing() {
    is_survived(Some(Fault::Status(503))).await;
}

#[tokio::test]
async fn answering_nonsense() {
    is_survived(Some(Fault::Answer("<html>hello</html>"))).await;
}

#[tokio::test]
async fn answering_without_an_end() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    server.fault("/search", Fault::Flood(100));
    is_degraded(&shop.find("むぎぼー").await);
    let megabytes = server.flooded() / 1_000_000;
    assert!(megabytes < 50, "{megabytes} MB were read");
    shop.close().await;
}

/// Hits that are not products of the shop are skipped, and no product after them is
/// lost.
#[tokio::test]
async fn answering_with_what_the_shop_does_not_have() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let odd = r#"{"hits": [{"id": 999999}, {"id": "x"}, {}, {"id": "2"}, {"id": 1}, {"id": 1},
                  {"id": -1}, {"id": null}, {"id": 1e300}, {"id": 4}], "query": "むぎぼー"}"#;
    server.fault("/search", Fault::Answer(odd));
    let answer = shop.remote(json!({"keywords": ["むぎぼー"]})).await;
    assert_eq!(ids(&answer), [2, 1, 4]);
    server.mend();
    server.add_foreign(json!({"id": "theirs", "name": "むぎぼー", "in_stock": true}));
    server.add_foreign(json!({"id": 777, "name": "むぎぼー", "in_stock": true}));
    let page = json!({"keywords": ["むぎぼー"], "limit": 8});
    let page = shop.remote(page).await;
    assert_eq!(ids(&page).len(), 8);
    // After a search that it refuses it is still asked others.
    server.take_seen();
    server.fault("/search", Fault::Status(400));
    for _ in 0..5 {
        is_degraded(&shop.find("むぎぼー").await);
    }
    assert!(server.count("/search") >= 5, "each was asked");
    server.mend();
    shop.wait_until_in_step().await;
    shop.close().await;
}

#[tokio::test]
async fn lost_documents_are_sent_again() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    server.lose_index();
    is_degraded(&shop.find("むぎぼー").await);
    until("all is there again", async || server.documents() == 30).await;
    assert_eq!(server.settings()["rankingRules"][0], "sort");
    shop.wait_until_in_step().await;
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn documents_lost_while_no_process_ran_are_sent_again() {
    for scratch in store::testing::both().await {
        let server = Server::start().await;
        let again = scratch.again().await;
        let shop = in_step(scratch, &server).await;
        shop.close().await;
        server.lose_documents();
        let next = Shop::on(again, settings(&server));
        next.start_background();
        until("all is there again", async || server.documents() == 30).await;
        next.wait_until_in_step().await;
        next.close().await;
    }
}

#[tokio::test]
async fn failed_tasks_are_retried() {
    let server = Server::start().await;
    let shop = crate::shop::with(settings(&server)).await;
    server.fail_tasks("no_space_left_on_device");
    shop.start_background();
    until("it was tried twice", async || {
        server.count("/documents") >= 2
    })
    .await;
    is_degraded(&shop.find("むぎぼー").await);
    server.fault("/documents", Fault::Status(503));
    until("it was tried again", async || {
        server.count("/documents") >= 3
    })
    .await;
    server.mend();
    shop.wait_until_in_step().await;
    assert_eq!(server.documents(), 30);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_process_sends_and_another_takes_over_when_it_dies() {
    for scratch in store::testing::both().await {
        let server = Server::start().await;
        let dying = Dying::start(scratch.url.clone(), settings(&server));
        let (second, third) = (scratch.again().await, scratch.again().await);
        let shop = Shop::empty(scratch, settings(&server)).await;
        until("somebody holds the lease", async || {
            shop.count("leases").await > 0
        })
        .await;
        let others = [
            Shop::on(second, settings(&server)),
            Shop::on(third, settings(&server)),
        ];
        for other in &others {
            other.start_background();
            other.wait_until_in_step().await;
        }
        let puts = server.count("/documents");
        assert_eq!(puts, 1, "only one of them has sent the catalogue");

        dying.die();
        others[0].set_stock(3, 5).await;
        // The lease expires.
        shop.sql(
            "UPDATE leases SET expires_at = 0 WHERE name = 'merchant-meilisearch' RETURNING 1",
        )
        .await;
        until("another has sent the change", async || {
            server.document(3).unwrap()["in_stock"] == true
        })
        .await;
        assert_eq!(server.count("/documents"), 2);
        for other in &others {
            other.close().await;
        }
    }
}

/// A shop in its own runtime, which can be killed.
struct Dying(Option<tokio::runtime::Runtime>);

impl Dying {
    /// Loads the sample data and starts the background work.
    fn start(url: store::url::DatabaseUrl, settings: Settings) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.spawn(async move {
            let database = store::Database::open(&url, store::Options::default());
            let shop = Shop::on(database.await.unwrap(), settings);
            shop.migrate().await;
            shop.load_demo().await;
            shop.start_background();
            std::future::pending::<()>().await;
        });
        Self(Some(runtime))
    }

    fn die(mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

#[tokio::test]
async fn secrets_appear_in_no_answer_and_no_log() {
    let log = Log::start();
    let server = Server::start().await;
    let host = server.host();
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let with = |key: &str| Settings {
        meilisearch_url: format!("http://operator:hunter2@{host}/"),
        meilisearch_master_key: key.into(),
        ..Settings::default()
    };
    // A key the server does not know.
    let wrong = Shop::with_demo(scratch, with("wrongSecret1")).await;
    wrong.start_background();
    until("it was refused", async || log.has("invalid_api_key")).await;
    let mut told = wrong.find("むぎぼー").await.to_string();
    is_degraded(&wrong.find("むぎぼー").await);
    told += &format!("{:?}", wrong.counter.background.as_ref().unwrap().health());
    wrong.close().await;
    // The right key, then all kinds of faults, from a server that repeats the key.
    let right = Shop::on(again, with(KEY));
    right.start_background();
    right.wait_until_in_step().await;
    let repeats = r#"{"code": "odd", "message": "what masterKey123 hunter2", "hits": 1}"#;
    for fault in [
        Fault::Refusal(repeats),
        Fault::Answer(repeats),
        Fault::HangUp,
    ] {
        server.mend();
        server.fault("/search", fault);
        told += &right.find("むぎぼー").await.to_string();
    }
    server.go_down().await;
    told += &right.find("むぎぼー").await.to_string();
    told += &format!("{:?}", right.counter.background.as_ref().unwrap().health());
    for row in right.sql("SELECT target FROM merchant_sync").await {
        told += &row.text(0).unwrap();
    }
    right.close().await;
    told += &log.text();
    assert!(told.contains("Meilisearch can't be reached"), "{told}");
    assert!(told.contains("odd: what *** ***"), "{told}");
    for secret in ["hunter2", KEY, "wrongSecret1"] {
        let at = told.find(secret);
        let around =
            at.map(|at| String::from_utf8_lossy(&told.as_bytes()[at.saturating_sub(200)..]));
        assert_eq!(at, None, "{around:?}");
    }
}

/// Everything that is logged, at all levels.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn start() -> Self {
        let log = Self::default();
        let writer = log.clone();
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_writer(move || writer.clone())
            .init();
        log
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    fn has(&self, what: &str) -> bool {
        self.text().contains(what)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
