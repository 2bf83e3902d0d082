//! The counter with Meilisearch: the documents it sends and the searches it makes.

use std::{sync::Arc, time::Duration};

use merchant::Settings;
use serde_json::{Value, json};
use store::testing::Scratch;

use crate::{
    carts::with,
    meilisearch_server::{Seen, Server},
    shop::{Shop, ids, on_all_pages, row},
};

pub fn settings(server: &Server) -> Settings {
    Settings {
        meilisearch_url: server.url(),
        ..Settings::default()
    }
}

impl Shop {
    /// Starts the background work.
    pub fn start_background(&self) {
        let background = self.counter.background.as_ref().unwrap();
        background.start(Arc::new(|_| {}));
    }

    pub async fn close(&self) {
        self.counter.background.as_ref().unwrap().stop().await;
    }

    /// Waits for an answer from Meilisearch, which may be late on a busy machine.
    pub async fn remote(&self, arguments: Value) -> Value {
        for _ in 0..2_400 {
            // A later page is of the same engine, or of none.
            let answer = self.call("search_products", arguments.clone()).await;
            let answer = match answer {
                Err(error) if error.code == "INVALID_CURSOR" => Value::Null,
                answer => answer.unwrap(),
            };
            let is_late = answer.is_null() || !answer["warnings"].is_null();
            if !is_late && self.answered_by() == "meilisearch" {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("Meilisearch never answered");
    }

    /// The engine that answered the last search.
    pub fn answered_by(&self) -> String {
        let health = self.counter.background.as_ref().unwrap().health().unwrap();
        let engine = health["search"]["answered_by"].as_str();
        engine.unwrap_or_default().to_owned()
    }

    pub async fn wait_until_in_step(&self) {
        self.remote(json!({"keywords": ["むぎぼー"]})).await;
    }
}

/// Waits until a condition holds.
pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..2_400 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("timed out: {what}");
}

/// A shop with the sample data, and a server that has all of it.
pub async fn in_step(scratch: Scratch, server: &Server) -> Shop {
    let shop = Shop::with_demo(scratch, settings(server)).await;
    shop.start_background();
    shop.wait_until_in_step().await;
    shop
}

/// The same on SQLite.
pub async fn one_in_step(server: &Server) -> Shop {
    in_step(store::testing::sqlite().await, server).await
}

pub fn searches(seen: &[Seen]) -> Vec<&Value> {
    seen.iter()
        .filter(|seen| seen.path.ends_with("/search"))
        .map(|seen| &seen.body)
        .collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_catalogue_is_sent_and_searched_there() {
    for scratch in store::testing::both().await {
        let server = Server::start().await;
        let shop = in_step(scratch, &server).await;
        assert_eq!(server.documents(), 30);
        let settings = server.settings();
        assert_eq!(settings["rankingRules"][0], "sort");
        assert_eq!(
            settings["localizedAttributes"][0]["locales"],
            json!(["jpn"])
        );
        let calendar = server.document(1).unwrap();
        assert_eq!(calendar["name"], "むぎぼーカレンダー2025");
        assert_eq!(calendar["price_jpy"], 1980);
        assert_eq!(calendar["in_stock"], true);
        assert_eq!(server.document(3).unwrap()["in_stock"], false);

        server.take_seen();
        let search = json!({
            "keywords": ["むぎぼー"], "limit": 3, "max_price": 3000,
            "sort": "price_asc", "facets": true,
        });
        let answer = shop.remote(search).await;
        assert_eq!(ids(&answer).len(), 3);
        assert!(answer["facets"]["brand"]["むぎぼー"].as_u64().unwrap() >= 3);
        let seen = server.take_seen();
        assert_eq!(
            *searches(&seen)[0],
            json!({
                "q": "むぎぼー", "limit": 4, "offset": 0, "attributesToRetrieve": ["id"],
                "locales": ["jpn"], "filter": "price_jpy <= 3000 AND in_stock = true",
                "sort": ["price_jpy:asc"], "facets": ["category", "brand"],
            })
        );
        shop.close().await;
    }
}

#[tokio::test]
async fn orders_and_pages_are_those_of_the_embedded_index() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let alone = crate::shop::one().await;
    for sort in ["price_asc", "price_desc", "newest"] {
        let all = json!({"keywords": ["むぎぼー"], "sort": sort, "limit": 100});
        let wanted = alone.search(all).await;
        let seen = on_all_pages(async |cursor| {
            let page =
                json!({"keywords": ["むぎぼー"], "sort": sort, "limit": 3, "cursor": cursor});
            shop.remote(page).await
        })
        .await;
        // Products of the same price come in any order.
        let sorted = |mut ids: Vec<i64>| {
            ids.sort_unstable();
            ids
        };
        match sort {
            "newest" => assert_eq!(seen, wanted),
            _ => assert_eq!(sorted(seen), sorted(wanted)),
        }
    }
    shop.close().await;
}

/// A server with default settings stops after a thousand matches.
#[tokio::test]
async fn pages_go_beyond_a_thousand_matches() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let rows = (101..=1_150).map(|id| row(id, "羅針盤"));
    shop.import_rows(rows.collect()).await;
    until("they are there", async || server.documents() == 1_080).await;
    let search = json!({"keywords": ["羅針盤"], "limit": 1_000, "fields": ["id"]});
    let first = shop.remote(search.clone()).await;
    assert_eq!(ids(&first).len(), 1_000);
    let mut search = search;
    search["cursor"] = first["next_cursor"].clone();
    let second = shop.remote(search).await;
    assert_eq!(ids(&second).len(), 50);
    shop.close().await;
}

/// A server with default settings counts the first hundred values by the alphabet,
/// not the most frequent ones.
#[tokio::test]
async fn facets_are_the_most_frequent_values() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let rows = (101..=230).map(|id| {
        let brand = match id {
            226.. => "んだ工房".to_owned(),
            _ => format!("brand {id}"),
        };
        with(row(id, "羅針盤"), "brand", json!(brand))
    });
    shop.import_rows(rows.collect()).await;
    until("they are there", async || server.documents() == 160).await;
    let answer = shop
        .remote(json!({"keywords": ["羅針盤"], "limit": 1, "facets": true}))
        .await;
    assert_eq!(answer["facets"]["brand"]["んだ工房"], 5, "{answer}");
    shop.close().await;
}

/// A brand's name cannot break out of the filter.
#[tokio::test]
async fn values_in_filters_are_quoted() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    let brands = [
        r"O'Brien",
        r#"He said "it's""#,
        r"C:\new\",
        r"\'",
        r"' OR in_stock = true OR brand = '",
        "むぎ' AND",
    ];
    let rows = brands
        .iter()
        .zip(100..)
        .map(|(brand, id)| with(row(id, "急須"), "brand", json!(brand)));
    shop.import_rows(rows.collect()).await;
    until("they are there", async || server.documents() == 36).await;
    for (brand, id) in brands.iter().zip(100..) {
        let search = json!({"keywords": ["急須"], "brand": [brand]});
        let answer = shop.remote(search).await;
        assert_eq!(ids(&answer), [id], "{brand}");
    }
    let several = json!({"keywords": ["急須"], "brand": [brands[0], brands[2]]});
    let mut found = ids(&shop.remote(several).await);
    found.sort_unstable();
    assert_eq!(found, [100, 102]);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn changes_are_sent() {
    for scratch in store::testing::both().await {
        let server = Server::start().await;
        let shop = in_step(scratch, &server).await;
        shop.set_stock(3, 5).await;
        until("product 3 is in stock", async || {
            server.document(3).unwrap()["in_stock"] == true
        })
        .await;
        let calendar = with(row(1, "卓上カレンダー"), "sku", json!("MUGIBO-CAL-2025"));
        shop.import_rows(vec![calendar, row(500, "急須")]).await;
        until("the import is there", async || {
            server.document(500).is_some() && server.document(1).unwrap()["price_jpy"] == 1
        })
        .await;
        shop.remove_demo().await;
        until("the sample data is gone", async || server.documents() == 2).await;
        assert_eq!(ids(&shop.find("急須").await), [500]);
        shop.close().await;
    }
}

#[tokio::test]
async fn synonyms_become_a_setting_of_the_server() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    shop.import_synonyms("compass, 羅針盤\n").await;
    until("the synonyms are there", async || {
        let synonyms = &server.settings()["synonyms"];
        *synonyms == json!({"compass": ["羅針盤"], "羅針盤": ["compass"]})
    })
    .await;
    shop.wait_until_in_step().await;
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_restart_sends_nothing_again() {
    for scratch in store::testing::both().await {
        let server = Server::start().await;
        let again = scratch.again().await;
        let shop = in_step(scratch, &server).await;
        shop.close().await;
        let sent = |seen: &[Seen]| {
            let writes = seen.iter().filter(|seen| seen.method != "GET");
            writes
                .filter(|seen| !seen.path.ends_with("/search"))
                .count()
        };
        assert!(sent(&server.take_seen()) >= 3, "index, settings, documents");
        let next = Shop::on(again, settings(&server));
        next.start_background();
        next.wait_until_in_step().await;
        // It only checks that nothing was lost.
        until("it has looked", async || server.count("/settings") > 0).await;
        next.set_stock(3, 5).await;
        until("product 3 is in stock", async || {
            server.document(3).unwrap()["in_stock"] == true
        })
        .await;
        let seen = server.take_seen();
        assert_eq!(sent(&seen), 1, "{seen:#?}");
        let put = seen.iter().find(|seen| seen.path.ends_with("/documents"));
        assert_eq!(put.unwrap().body.as_array().unwrap().len(), 1);
        next.close().await;
        drop(shop);
    }
}

/// Such as `madoguchi call`: it runs no outbox, but another process did.
#[tokio::test]
async fn a_process_that_makes_one_call_asks_meilisearch_too() {
    let server = Server::start().await;
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let shop = in_step(scratch, &server).await;
    shop.close().await;
    let call = Shop::on(again, settings(&server));
    call.wait_until_in_step().await;
}

#[tokio::test]
async fn a_batch_counts_as_sent_when_its_task_has_ended() {
    let server = Server::start().await;
    let shop = crate::shop::with(settings(&server)).await;
    server.hold_tasks(true);
    shop.start_background();
    until("something is enqueued", async || {
        server.count("/tasks/") > 1
    })
    .await;
    let answer = shop.find("むぎぼー").await;
    assert_eq!(shop.answered_by(), "embedded");
    assert_eq!(answer["warnings"][0]["code"], "SEARCH_DEGRADED");
    assert_eq!(shop.count("merchant_sync").await, 0);
    server.hold_tasks(false);
    shop.wait_until_in_step().await;
    let rows = shop.sql("SELECT position FROM merchant_sync").await;
    assert_eq!(rows[0].int(0).unwrap(), 30);
    shop.close().await;
}

/// The embedded index may recognise a typo that Meilisearch does not.
#[tokio::test]
async fn what_meilisearch_does_not_find_the_embedded_index_may() {
    let server = Server::start().await;
    let shop = one_in_step(&server).await;
    until("the slip is seen through", async || {
        let answer = shop.find("カレンター").await;
        let is_embedded = shop.answered_by() == "embedded";
        is_embedded && answer["warnings"].is_null() && ids(&answer).contains(&1)
    })
    .await;
    let nothing = shop.find("存在しない商品").await;
    assert_eq!(nothing["fallback"], true);
    shop.close().await;
}
