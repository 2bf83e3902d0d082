//! Carts: what is refused, what is kept, what is reserved.

use std::sync::Arc;

use futures::future::join_all;
use kit::testing::details;
use serde_json::{Value, json};

use crate::shop::{Shop, both, one};

pub const BUILD: &str = "build_cart_mandates";

pub fn plan(items: Value) -> Value {
    json!({"cart_plan": {"items": items}, "products": []})
}

/// A cart of one product.
pub fn plan_of(product_id: i64, quantity: i64) -> Value {
    plan(json!([{"product_id": product_id, "quantity": quantity}]))
}

pub fn reserving(product_id: i64, quantity: i64) -> Value {
    with(plan_of(product_id, quantity), "reserve", json!(true))
}

/// The arguments, with one more.
pub fn with(mut arguments: Value, name: &str, value: Value) -> Value {
    arguments[name] = value;
    arguments
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_refused_cart_names_its_faults_and_is_not_stored() {
    for shop in both().await {
        let refused = shop.refused(BUILD, plan_of(2, 31)).await;
        assert_eq!(refused.code, "INSUFFICIENT_STOCK");
        assert_eq!(
            details(&refused)["items"],
            json!([{"product_id": 2, "requested": 31, "available": 30}])
        );
        for (cart, code) in [
            (plan(json!([])), "EMPTY_CART"),
            (plan_of(999, 1), "PRODUCT_NOT_FOUND"),
            (plan_of(1, 0), "INVALID_QUANTITY"),
            (plan_of(3, 1), "INSUFFICIENT_STOCK"),
        ] {
            assert_eq!(shop.code(BUILD, cart).await, code);
        }
        // The error names five.
        let many: Vec<_> = (1001..=1012)
            .map(|id| json!({"product_id": id, "quantity": 1}))
            .collect();
        let refused = shop.refused(BUILD, plan(json!(many))).await;
        let end = "1004, 1005 and 7 others.";
        assert!(refused.message.ends_with(end), "{refused}");
        assert_eq!(details(&refused)["items"].as_array().unwrap().len(), 5);
        assert_eq!(details(&refused)["more"], 7);
        assert_eq!(shop.count("merchant_carts").await, 0);
    }
}

#[tokio::test]
async fn the_published_shapes_refuse_nothing_that_was_accepted() {
    let shop = one().await;
    let cart = json!({
        "cart_plan": {
            "name": "おすすめプラン", "total": [1],
            "items": [
                {"product_id": "１", "quantity": "2", "reason": {"a": 1}},
                {"product_id": 5.0, "quantity": 1.0, "name": null},
            ],
        },
        "products": [
            {"id": true, "price_jpy": [1], "name": 1},
            {"product_id": "1", "price_jpy": null, "price_cents": "198000"},
            {},
        ],
        "shipping_address": {
            "recipient": "山田太郎", "city": "", "region": null, "postalCode": "",
            "postal_code": "150-0001", "addressLine": ["", "神宮前1-2-3", null], "note": {"floor": 3},
        },
    });
    let answer = shop.ok(BUILD, cart).await;
    let [warning] = answer["warnings"].as_array().unwrap().as_slice() else {
        panic!("{answer}");
    };
    assert_eq!(warning["field"], "shipping_address.note");
    assert_eq!(
        answer["cart_mandate"]["contents"]["shipping_address"],
        json!({
            "recipient": "山田太郎", "postal_code": "150-0001", "addressLine": ["神宮前1-2-3"],
            "note": {"floor": 3},
        })
    );
    for blank in [
        json!({"city": "", "addressLine": [""]}),
        json!({}),
        json!(null),
    ] {
        let cart = with(plan_of(1, 1), "shipping_address", blank);
        let answer = shop.ok(BUILD, cart).await;
        let contents = &answer["cart_mandate"]["contents"];
        assert_eq!(contents.get("shipping_address"), None);
    }
}

#[tokio::test]
async fn the_codes_of_refused_carts() {
    let shop = one().await;
    let without_products = json!({"cart_plan": {"items": [{"product_id": 1, "quantity": 1}]}});
    shop.ok(BUILD, without_products).await;
    for (cart_plan, code) in [
        (json!({}), "EMPTY_CART"),
        (json!({"items": null}), "EMPTY_CART"),
        (json!({"items": 1}), "INVALID_CART_PLAN"),
        (json!({"items": [1]}), "INVALID_CART_PLAN"),
        (json!({"items": [{"quantity": 1}]}), "INVALID_PRODUCT_ID"),
        (json!({"items": [{"product_id": 1}]}), "INVALID_QUANTITY"),
    ] {
        let cart = json!({"cart_plan": cart_plan, "products": []});
        assert_eq!(shop.code(BUILD, cart).await, code, "{cart_plan}");
    }
    for (product_id, quantity, code) in [
        (json!([1]), json!(1), "INVALID_PRODUCT_ID"),
        (json!(1), json!(true), "INVALID_QUANTITY"),
        (json!(1), json!(1.5), "INVALID_QUANTITY"),
        (json!(1), json!(""), "INVALID_QUANTITY"),
    ] {
        let cart = plan(json!([{"product_id": product_id, "quantity": quantity}]));
        assert_eq!(shop.code(BUILD, cart).await, code, "{quantity}");
    }
    for address in [
        json!({"city": 1}),
        json!({"addressLine": [["x"]]}),
        json!({"postal_code": 1}),
        json!({"planet": "Mars"}),
    ] {
        let cart = with(plan_of(1, 1), "shipping_address", address.clone());
        assert_eq!(shop.code(BUILD, cart).await, "INVALID_ADDRESS", "{address}");
    }
}

#[tokio::test]
async fn prices_passed_by_the_agent_are_ignored() {
    let shop = one().await;
    let passed = json!([{"id": 1, "price_jpy": 1.0}]);
    let cart = plan(json!([{"product_id": "1", "quantity": "1"}]));
    let answer = shop.ok(BUILD, with(cart, "products", passed)).await;
    let metadata = &answer["cart_mandate"]["contents"]["metadata"];
    assert_eq!(metadata["subtotal"], 1980.0);
    assert_eq!(
        answer["warnings"],
        json!([{
            "code": "PRICE_CHANGED", "message": "Product 1 costs 1980 yen, not 1.",
            "product_id": 1, "passed": 1, "current": 1980.0,
        }])
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_cart_can_be_looked_up_until_it_expires() {
    for shop in both().await {
        let built = shop.ok(BUILD, plan_of(1, 1)).await;
        let id = json!({"cart_id": built["cart_mandate"]["contents"]["id"]});
        let again = shop.ok("get_cart_mandate", id.clone()).await;
        assert_eq!(again["cart_mandate"], built["cart_mandate"]);
        assert_eq!(again["expires_at"], "2025-10-23T12:30:00Z");
        let ap2 = with(id.clone(), "format", json!("ap2-0.1"));
        let ap2 = shop.ok("get_cart_mandate", ap2).await;
        let details = &ap2["cart_mandate"]["contents"]["payment_request"]["details"];
        assert_eq!(details["total"]["amount"]["value"], 2728.0, "{ap2:#}");
        shop.set_clock("2025-10-23T12:30:00Z");
        assert_eq!(shop.code("get_cart_mandate", id).await, "CART_EXPIRED");
        let other = json!({"cart_id": "cart_0"});
        assert_eq!(shop.code("get_cart_mandate", other).await, "CART_NOT_FOUND");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reserved_goods_are_kept_until_the_cart_expires() {
    for shop in both().await {
        shop.ok(BUILD, reserving(5, 10)).await;
        assert_eq!(shop.inventory(5).await, 5);
        let product = shop.ok("get_product", json!({"product_id": 5})).await;
        assert_eq!(product["product"]["inventory_count"], 5);
        let refused = shop.refused(BUILD, reserving(5, 6)).await;
        assert_eq!(
            details(&refused)["items"],
            json!([{"product_id": 5, "requested": 6, "available": 5}])
        );
        shop.set_clock("2025-10-23T12:30:00Z");
        assert_eq!(shop.inventory(5).await, 15);
        shop.ok(BUILD, reserving(5, 15)).await;
        assert_eq!(shop.inventory(5).await, 0);
        let found = shop.search(json!({"keywords": ["ぬいぐるみ"]})).await;
        assert!(!found.contains(&5));
    }
}

#[tokio::test]
async fn a_cart_without_a_reservation_keeps_no_stock() {
    let shop = one().await;
    shop.ok(BUILD, plan_of(5, 15)).await;
    assert_eq!(shop.inventory(5).await, 15);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_hundred_agents_reserve_the_last_ten() {
    for shop in both().await {
        shop.sql("UPDATE merchant_products SET stock = 10 WHERE id IN (5, 6) RETURNING id")
            .await;
        let shop = Arc::new(shop);
        let calls = (0..100).map(|index| {
            let shop = Arc::clone(&shop);
            tokio::spawn(async move {
                // In both orders, to provoke deadlocks.
                let mut items = [5, 6].map(|id| json!({"product_id": id, "quantity": 1}));
                if index % 2 == 0 {
                    items.reverse();
                }
                let cart = with(plan(json!(items)), "reserve", json!(true));
                shop.call(BUILD, cart).await
            })
        });
        let mut won = 0;
        for outcome in join_all(calls).await {
            match outcome.unwrap() {
                Ok(_) => won += 1,
                Err(error) => {
                    let cause = &error.cause;
                    assert_eq!(error.code, "INSUFFICIENT_STOCK", "{error} {cause:?}");
                }
            }
        }
        let engine = shop.store().engine();
        assert_eq!(won, 10, "{engine}");
        assert_eq!(reserved(&shop).await, [(5, 10), (6, 10)], "{engine}");
        let left = (shop.inventory(5).await, shop.inventory(6).await);
        assert_eq!(left, (0, 0), "{engine}");
    }
}

async fn reserved(shop: &Shop) -> Vec<(i64, i64)> {
    shop.sql(
        "SELECT product_id, CAST(SUM(quantity) AS BIGINT) FROM merchant_reservations \
         GROUP BY product_id ORDER BY product_id",
    )
    .await
    .iter()
    .map(|row| (row.int(0).unwrap(), row.int(1).unwrap()))
    .collect()
}
