//! Searches as agents make them.

use std::{collections::HashSet, num::NonZeroU32};

use kit::context::Language;
use merchant::Settings;
use serde_json::{Value, json};

use crate::{
    carts::{BUILD, plan, plan_of, reserving, with as with_argument},
    shop::{both, both_empty, ids, on_all_pages, one, row, with},
};

const SEARCH: &str = "search_products";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn no_keywords_list_everything_in_stock() {
    for shop in both().await {
        for keywords in [json!([]), json!([""]), json!([" ", "　"])] {
            let answer = shop.ok(SEARCH, json!({"keywords": keywords})).await;
            assert_eq!(ids(&answer).len(), 20);
            assert_eq!(answer["fallback"], Value::Null);
            assert!(!ids(&answer).contains(&3), "sold out");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn products_that_do_not_match_are_marked_as_fallback() {
    for shop in both().await {
        let search = json!({"keywords": ["存在しない商品"], "limit": 5});
        let answer = shop.ok(SEARCH, search).await;
        assert_eq!(answer["fallback"], true);
        let reason = answer["fallback_reason"].as_str().unwrap();
        assert!(reason.contains("not matches"), "{reason}");
        assert_eq!(ids(&answer).len(), 5);
    }
}

/// There is no fallback behind a filter.
#[tokio::test]
async fn a_filter_that_matches_nothing_finds_nothing() {
    let shop = one().await;
    let search = json!({"keywords": ["カレンダー"], "max_price": 1});
    let answer = shop.ok(SEARCH, search).await;
    assert_eq!(ids(&answer), [0; 0]);
    assert_eq!(answer["fallback"], Value::Null);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn sold_out_products_are_listed_on_request() {
    for shop in both().await {
        for keywords in [json!([]), json!(["SORA"])] {
            let search = json!({"keywords": keywords, "category": ["electronics"], "include_sold_out": "true", "sort": "newest"});
            assert_eq!(shop.search(search).await, [15, 14, 13, 12]);
        }
        // The categories of what there is, also when nothing matches.
        let nothing = json!({"keywords": ["存在しない商品"], "facets": true, "limit": 1});
        let answer = shop.ok(SEARCH, nothing).await;
        assert_eq!(answer["facets"]["category"]["outdoor"], 3, "{answer}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn sold_out_products_do_not_count_towards_the_limit() {
    for shop in both().await {
        // むぎぼー: 1 to 8 and 30, of which 3 is sold out in the sample data.
        let all = json!({"keywords": ["むぎぼー"], "limit": 100});
        let all = shop.search(all).await;
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 8, "{all:?}");
        assert!(!all.contains(&3));
        // Fully reserved: only the database knows.
        for id in [1, 2, 4, 5] {
            let quantity = shop.inventory(id).await;
            shop.ok(BUILD, reserving(id, quantity)).await;
        }
        let left = json!({"keywords": ["むぎぼー"], "limit": 3});
        let left = shop.search(left).await;
        assert_eq!(left.len(), 3, "{left:?}");
        assert!(left.iter().all(|id| [6, 7, 8, 30].contains(id)), "{left:?}");
    }
}

/// However many sold-out products come before it.
#[tokio::test]
async fn the_only_product_that_is_not_reserved_is_found() {
    // One caller reserves nearly everything.
    let shop = with(Settings {
        max_reserving_carts: NonZeroU32::new(30).unwrap(),
        max_mostly_reserved_products: 300,
        ..Settings::default()
    })
    .await;
    let rows = (101..=400).map(|id| row(id, "羅針盤"));
    shop.import_rows(rows.collect()).await;
    let search = |limit| json!({"keywords": ["羅針盤"], "limit": limit});
    let all = shop.search(search(1_000)).await;
    assert_eq!(all.len(), 300);
    let items = all[..299]
        .iter()
        .map(|id| json!({"product_id": id, "quantity": 1}));
    let cart = with_argument(plan(items.collect()), "reserve", json!(true));
    shop.ok(BUILD, cart).await;
    let left = shop.ok(SEARCH, search(1)).await;
    assert_eq!(left["fallback"], Value::Null, "{left}");
    assert_eq!(ids(&left), all[299..]);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn pages_cover_a_search_once() {
    for shop in both().await {
        for keywords in [json!(["むぎぼー"]), json!([])] {
            let whole = json!({"keywords": keywords, "limit": 100});
            let seen = on_all_pages(async |cursor| {
                let page = json!({"keywords": keywords, "limit": 3, "cursor": cursor});
                shop.ok(SEARCH, page).await
            });
            assert_eq!(seen.await, shop.search(whole).await);
        }
    }
}

/// Facets are counted on the first page only; the other pages continue in order.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn later_pages_have_no_facets() {
    for shop in both().await {
        let mut seen = on_all_pages(async |cursor| {
            let facets = cursor.is_null();
            let page = json!({"keywords": [], "sort": "price_desc", "limit": 4, "facets": facets, "cursor": cursor});
            shop.ok(SEARCH, page).await
        })
        .await;
        let everything = json!({"keywords": [], "limit": 100});
        let mut wanted = shop.search(everything).await;
        wanted.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, wanted);
    }
}

#[tokio::test]
async fn a_cursor_is_refused_in_another_search() {
    let shop = one().await;
    let page = json!({"keywords": ["むぎぼー"], "limit": 2});
    let cursor = shop.ok(SEARCH, page).await["next_cursor"].clone();
    for arguments in [
        json!({"keywords": ["くも"], "cursor": cursor}),
        json!({"keywords": ["むぎぼー"], "sort": "price_asc", "cursor": cursor}),
        json!({"keywords": ["むぎぼー"], "cursor": "e2"}),
        json!({"keywords": ["むぎぼー"], "cursor": "x9999999999999-00000000"}),
    ] {
        assert_eq!(shop.code(SEARCH, arguments).await, "INVALID_CURSOR");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn filters_and_orders() {
    for shop in both().await {
        let cheap = json!({"keywords": [], "category": ["kitchen"], "max_price": 5000, "sort": "price_desc"});
        assert_eq!(shop.search(cheap).await, [25, 26]);
        let brand = json!({"keywords": ["お茶"], "brand": "茶の里", "sort": "price_asc"});
        assert_eq!(shop.search(brand).await, [24, 23]);
        let newest = json!({"keywords": [], "sort": "newest", "limit": 2});
        assert_eq!(shop.search(newest).await, [30, 29]);
        let swapped = json!({"keywords": ["むぎぼー"], "min_price": 2480, "max_price": 1980});
        assert_eq!(shop.code(SEARCH, swapped).await, "INVALID_ARGUMENT");
        let range = json!({"keywords": ["むぎぼー"], "min_price": 1980, "max_price": 2480, "sort": "price_asc"});
        assert_eq!(shop.search(range).await, [1, 4]);
        // Labels as people write them, with keywords and without.
        for keywords in [json!([]), json!(["SORA"])] {
            let brand = json!({"keywords": keywords, "brand": ["ｓｏｒａ", "むぎぼ"], "category": "Electronics", "sort": "newest"});
            assert_eq!(shop.search(brand).await, [14, 13, 12], "{keywords}");
            let nobody = json!({"keywords": keywords, "brand": ["!", "nobody"]});
            assert!(shop.search(nobody).await.is_empty(), "{keywords}");
        }
    }
}

#[tokio::test]
async fn fields_and_facets() {
    let shop = one().await;
    let search = json!({"keywords": ["むぎぼー"], "limit": 1, "fields": ["name", "price_jpy"], "facets": true});
    let answer = shop.ok(SEARCH, search).await;
    let mut names: Vec<&String> = answer["products"][0].as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["id", "name", "price_jpy"]);
    assert_eq!(answer["facets"]["brand"]["むぎぼー"], 8, "{answer:#}");
    let unknown = json!({"keywords": [], "fields": ["cost"]});
    assert_eq!(shop.code(SEARCH, unknown).await, "INVALID_ARGUMENT");
}

/// As the document says: a client that reads `product["image_url"]` finds null.
#[tokio::test]
async fn missing_fields_of_a_product_are_null() {
    let shop = one().await;
    let list = json!({"keywords": [], "limit": 2});
    let listed = shop.ok(SEARCH, list.clone()).await;
    let got = shop.ok("get_product", json!({"product_id": 2})).await;
    for product in [&listed["products"][1], &got["product"]] {
        assert_eq!(product.get("image_url"), Some(&Value::Null), "{product}");
        assert_eq!(product["brand"], "むぎぼー");
    }
    let only = with_argument(list, "fields", json!(["name"]));
    let answer = shop.ok(SEARCH, only).await;
    assert_eq!(answer["products"][0].get("image_url"), None);
}

#[tokio::test]
async fn models_write_keywords_in_their_own_way() {
    let shop = one().await;
    let wanted = shop.search(json!({"keywords": ["カレンダー"]})).await;
    assert!(wanted.contains(&1));
    for keywords in [
        json!("カレンダー"),
        json!("[\"カレンダー\"]"),
        json!(["ｶﾚﾝﾀﾞｰ"]),
    ] {
        let search = json!({"keywords": keywords, "limit": "20"});
        assert_eq!(shop.search(search).await, wanted);
    }
    for limit in [0, 1001, -1] {
        let search = json!({"keywords": [], "limit": limit});
        assert_eq!(shop.code(SEARCH, search).await, "INVALID_ARGUMENT");
    }
}

#[tokio::test]
async fn blanks_in_lists_count_as_not_given() {
    let shop = one().await;
    let wanted = shop.search(json!({"keywords": ["カレンダー"]})).await;
    let blanks = json!({
        "keywords": ["", "カレンダー", null, " "],
        "category": [""], "brand": ["", null], "fields": [""],
    });
    assert_eq!(shop.search(blanks).await, wanted);
    let of = |brands: Value| json!({"keywords": [], "brand": brands, "limit": 100});
    let sora = shop.search(of(json!(["SORA"]))).await;
    assert_eq!(shop.search(of(json!(["", "SORA"]))).await, sora);
    let inventory = json!({"product_ids": ["", 1, null]});
    let answer = shop.ok("check_inventory", inventory).await;
    assert_eq!(answer, json!({"inventory": {"1": 50}}));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_empty_shop_tells_how_to_import_products() {
    for mut shop in both_empty().await {
        let import = "`madoguchi import merchant FILE`";
        let searched = shop.find("何か").await;
        assert_eq!(ids(&searched), [0; 0]);
        let inventory = json!({"product_ids": [1]});
        let checked = shop.ok("check_inventory", inventory.clone()).await;
        assert_eq!(checked["inventory"], json!({"1": 0}));
        assert_eq!(checked["message"], searched["message"]);
        let message = checked["message"].as_str().unwrap();
        assert!(message.contains(import), "{message}");

        let change = json!({"product_id": 1, "change": 1});
        for (tool, arguments, code) in [
            (BUILD, plan_of(1, 1), "PRODUCT_NOT_FOUND"),
            ("get_product", json!({"product_id": 1}), "PRODUCT_NOT_FOUND"),
            ("update_inventory", change, "PRODUCT_NOT_FOUND"),
        ] {
            let refused = shop.refused(tool, arguments).await;
            assert_eq!(refused.code, code, "{tool}");
            assert!(refused.next.unwrap().ends_with(message), "{tool}");
        }
        shop.context.language = Language::Japanese;
        let checked = shop.ok("check_inventory", inventory).await;
        let message = checked["message"].as_str().unwrap();
        assert!(message.starts_with("商品がまだ") && message.contains(import));
    }
}
