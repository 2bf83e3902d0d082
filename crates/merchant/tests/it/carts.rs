//! Carts: what is refused, what is kept, what is reserved.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::shop::{Shop, both, details, one};

pub fn plan(items: Value) -> Value {
    json!({"cart_plan": {"items": items}, "products": []})
}

pub fn reserving(product_id: i64, quantity: i64) -> Value {
    let mut arguments = plan(json!([{"product_id": product_id, "quantity": quantity}]));
    arguments["reserve"] = json!(true);
    arguments
}

#[tokio::test]
async fn a_refused_cart_names_its_faults_and_is_not_stored() {
    for shop in both().await {
        let refused = shop
            .refused(
                "build_cart_mandates",
                plan(json!([{"product_id": 2, "quantity": 31}])),
            )
            .await;
        assert_eq!(refused.code, "INSUFFICIENT_STOCK");
        assert_eq!(
            details(&refused)["items"],
            json!([{"product_id": 2, "requested": 31, "available": 30}])
        );
        for (items, code) in [
            (json!([]), "EMPTY_CART"),
            (
                json!([{"product_id": 999, "quantity": 1}]),
                "UNKNOWN_PRODUCT",
            ),
            (
                json!([{"product_id": 1, "quantity": 0}]),
                "INVALID_QUANTITY",
            ),
            (
                json!([{"product_id": 3, "quantity": 1}]),
                "INSUFFICIENT_STOCK",
            ),
        ] {
            assert_eq!(shop.code("build_cart_mandates", plan(items)).await, code);
        }
        // The sentence names ten; the details name all.
        let many: Vec<_> = (1001..=1012)
            .map(|id| json!({"product_id": id, "quantity": 1}))
            .collect();
        let refused = shop.refused("build_cart_mandates", plan(json!(many))).await;
        assert!(
            refused.message.ends_with("1009, 1010 and 2 others."),
            "{refused}"
        );
        assert_eq!(details(&refused)["items"].as_array().unwrap().len(), 12);
        assert!(shop.sql("SELECT id FROM merchant_carts").await.is_empty());
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
    let answer = shop.ok("build_cart_mandates", cart).await;
    assert_eq!(answer.get("warnings"), None);
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
        let mut cart = plan(json!([{"product_id": 1, "quantity": 1}]));
        cart["shipping_address"] = blank;
        let answer = shop.ok("build_cart_mandates", cart).await;
        let contents = &answer["cart_mandate"]["contents"];
        assert_eq!(contents.get("shipping_address"), None);
    }
}

#[tokio::test]
async fn the_codes_of_refused_carts() {
    let shop = one().await;
    for (cart_plan, code) in [
        (json!({}), "EMPTY_CART"),
        (json!({"items": null}), "EMPTY_CART"),
        (json!({"items": 1}), "INVALID_CART_PLAN"),
        (json!({"items": [1]}), "INVALID_CART_PLAN"),
        (json!({"items": [{"quantity": 1}]}), "INVALID_PRODUCT_ID"),
        (
            json!({"items": [{"product_id": [1], "quantity": 1}]}),
            "INVALID_PRODUCT_ID",
        ),
        (json!({"items": [{"product_id": 1}]}), "INVALID_QUANTITY"),
        (
            json!({"items": [{"product_id": 1, "quantity": true}]}),
            "INVALID_QUANTITY",
        ),
        (
            json!({"items": [{"product_id": 1, "quantity": 1.5}]}),
            "INVALID_QUANTITY",
        ),
        (
            json!({"items": [{"product_id": 1, "quantity": ""}]}),
            "INVALID_QUANTITY",
        ),
    ] {
        let cart = json!({"cart_plan": cart_plan, "products": []});
        let refused = shop.code("build_cart_mandates", cart).await;
        assert_eq!(refused, code, "{cart_plan}");
    }
    for address in [
        json!({"city": 1}),
        json!({"addressLine": [["x"]]}),
        json!({"postal_code": 1}),
        json!({"zip": "150-0001"}),
    ] {
        let mut cart = plan(json!([{"product_id": 1, "quantity": 1}]));
        cart["shipping_address"] = address.clone();
        let refused = shop.code("build_cart_mandates", cart).await;
        assert_eq!(refused, "INVALID_ADDRESS", "{address}");
    }
}

#[tokio::test]
async fn prices_passed_by_the_agent_are_ignored() {
    let shop = one().await;
    let mut arguments = plan(json!([{"product_id": "1", "quantity": "1"}]));
    arguments["products"] = json!([{"id": 1, "price_jpy": 1.0}]);
    let answer = shop.ok("build_cart_mandates", arguments).await;
    assert_eq!(
        answer["cart_mandate"]["contents"]["metadata"]["subtotal"],
        1980.0
    );
    assert_eq!(
        answer["warnings"],
        json!([{"code": "PRICE_CHANGED", "product_id": 1, "passed": 1, "current": 1980.0}])
    );
}

#[tokio::test]
async fn a_cart_can_be_looked_up_until_it_expires() {
    for shop in both().await {
        let built = shop
            .ok(
                "build_cart_mandates",
                plan(json!([{"product_id": 1, "quantity": 1}])),
            )
            .await;
        let id = built["cart_mandate"]["contents"]["id"].clone();
        let again = shop.ok("get_cart_mandate", json!({"cart_id": id})).await;
        assert_eq!(again["cart_mandate"], built["cart_mandate"]);
        assert_eq!(again["expires_at"], "2025-10-23T12:30:00Z");
        let ap2 = shop
            .ok(
                "get_cart_mandate",
                json!({"cart_id": id, "format": "ap2-0.1"}),
            )
            .await;
        let details = &ap2["cart_mandate"]["contents"]["payment_request"]["details"];
        assert_eq!(details["total"]["amount"]["value"], 2728.0, "{ap2:#}");
        shop.set_clock("2025-10-23T12:30:00Z");
        assert_eq!(
            shop.code("get_cart_mandate", json!({"cart_id": id})).await,
            "CART_EXPIRED"
        );
        let other = json!({"cart_id": "cart_0"});
        assert_eq!(shop.code("get_cart_mandate", other).await, "CART_NOT_FOUND");
    }
}

#[tokio::test]
async fn reserved_goods_are_kept_until_the_cart_expires() {
    for shop in both().await {
        shop.ok("build_cart_mandates", reserving(5, 10)).await;
        assert_eq!(shop.inventory(5).await, 5);
        let product = shop.ok("get_product", json!({"product_id": 5})).await;
        assert_eq!(product["product"]["inventory_count"], 5);
        let refused = shop.refused("build_cart_mandates", reserving(5, 6)).await;
        assert_eq!(
            details(&refused)["items"],
            json!([{"product_id": 5, "requested": 6, "available": 5}])
        );
        shop.set_clock("2025-10-23T12:30:00Z");
        assert_eq!(shop.inventory(5).await, 15);
        shop.ok("build_cart_mandates", reserving(5, 15)).await;
        assert_eq!(shop.inventory(5).await, 0);
        assert!(
            !shop
                .search(json!({"keywords": ["ぬいぐるみ"]}))
                .await
                .contains(&5)
        );
    }
}

#[tokio::test]
async fn a_cart_without_a_reservation_keeps_no_stock() {
    let shop = one().await;
    shop.ok(
        "build_cart_mandates",
        plan(json!([{"product_id": 5, "quantity": 15}])),
    )
    .await;
    assert_eq!(shop.inventory(5).await, 15);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_agents_reserve_the_last_ten() {
    for shop in both().await {
        shop.sql("UPDATE merchant_products SET stock = 10 WHERE id IN (5, 6) RETURNING id")
            .await;
        let shop = Arc::new(shop);
        let calls = (0..100).map(|index| {
            let shop = Arc::clone(&shop);
            tokio::spawn(async move {
                // In both orders, to provoke deadlocks.
                let mut items = vec![
                    json!({"product_id": 5, "quantity": 1}),
                    json!({"product_id": 6, "quantity": 1}),
                ];
                if index % 2 == 0 {
                    items.reverse();
                }
                let mut arguments = plan(json!(items));
                arguments["reserve"] = json!(true);
                shop.call("build_cart_mandates", arguments).await
            })
        });
        let mut won = 0;
        for outcome in join_all(calls).await {
            match outcome.unwrap() {
                Ok(_) => won += 1,
                Err(error) => {
                    assert_eq!(
                        error.code, "INSUFFICIENT_STOCK",
                        "{error} {:?}",
                        error.cause
                    );
                }
            }
        }
        let engine = shop.store.engine();
        assert_eq!(won, 10, "{engine}");
        assert_eq!(reserved(&shop).await, [(5, 10), (6, 10)], "{engine}");
        assert_eq!(
            (shop.inventory(5).await, shop.inventory(6).await),
            (0, 0),
            "{engine}"
        );
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
