//! Changes of carts: what they do, and what is refused.

use kit::{Caller, context::Language, testing::Harness};
use serde_json::{Value, json};

use crate::{
    carts::{BUILD, plan, plan_of, reserving, with},
    shop::{both, one},
};

const UPDATE: &str = "update_cart";

async fn cart(shop: &Harness, arguments: Value) -> Value {
    let built = shop.ok(BUILD, arguments).await;
    built["cart_mandate"]["contents"]["id"].clone()
}

/// The quantities in a mandate.
fn quantities(answer: &Value) -> Vec<(i64, i64)> {
    let lines = &answer["cart_mandate"]["contents"]["metadata"]["raw_items"];
    let number = |value: &Value| value.as_i64().unwrap();
    let lines = lines.as_array().unwrap().iter();
    lines
        .map(|line| (number(&line["product_id"]), number(&line["quantity"])))
        .collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_cart_is_changed_and_keeps_its_id() {
    for shop in both().await {
        let items = json!([{"product_id": 1, "quantity": 1}, {"product_id": 5, "quantity": 2}]);
        let id = cart(&shop, with(plan(items), "reserve", json!(true))).await;
        shop.set_clock("2025-10-23T12:10:00Z");
        let items = json!([{"product_id": 5, "quantity": 15}, {"product_id": "9", "quantity": "3"}, {"product_id": 1, "quantity": 0}]);
        let changed = shop
            .ok(UPDATE, json!({"cart_id": id, "items": items}))
            .await;
        assert_eq!(quantities(&changed), [(5, 15), (9, 3)]);
        assert_eq!(changed["cart_mandate"]["contents"]["id"], id);
        assert_eq!(changed["reserved"], true);
        assert_eq!(changed["expires_at"], "2025-10-23T12:40:00Z");
        let message = changed["message"].as_str().unwrap();
        assert!(
            message.contains("The cart is changed. Total 59004 yen"),
            "{message}"
        );
        for (product, left) in [(1, 50), (5, 0), (9, 297)] {
            assert_eq!(shop.inventory(product).await, left);
        }
        let looked_up = json!({"cart_id": id});
        let again = shop.ok("get_cart_mandate", looked_up.clone()).await;
        assert_eq!(again["cart_mandate"], changed["cart_mandate"]);
        // The reservation is released, and taken again.
        let release = with(looked_up.clone(), "reserve", json!(false));
        assert_eq!(shop.ok(UPDATE, release).await["reserved"], false);
        assert_eq!(shop.inventory(5).await, 15);
        let address =
            json!({"recipient": "山田太郎", "zip": "150-0001", "addressLine": "神宮前1-2-3"});
        let all = with(
            with(looked_up, "reserve", json!("true")),
            "shipping_address",
            address,
        );
        let answer = shop.ok(UPDATE, all).await;
        assert_eq!(answer.get("warnings"), None, "{answer}");
        let contents = &answer["cart_mandate"]["contents"];
        assert_eq!(
            contents["shipping_address"]["addressLine"],
            json!(["神宮前1-2-3"])
        );
        assert_eq!(shop.inventory(5).await, 0);
        assert_eq!(shop.count("merchant_carts").await, 1);
    }
}

#[tokio::test]
async fn a_change_that_changes_nothing_says_so() {
    let mut shop = one().await;
    let id = cart(&shop, plan_of(1, 2)).await;
    shop.set_clock("2025-10-23T12:10:00Z");
    let same = json!({"cart_id": id, "items": [{"product_id": 1, "quantity": 2}]});
    for arguments in [json!({"cart_id": id}), same.clone()] {
        let answer = shop.ok(UPDATE, arguments).await;
        let message = answer["message"].as_str().unwrap();
        assert!(message.starts_with("Nothing changed"), "{message}");
        assert_eq!(answer["expires_at"], "2025-10-23T12:30:00Z");
    }
    let stock = shop.set_stock(1, 50).await;
    let message = stock["message"].as_str().unwrap();
    assert!(message.starts_with("Nothing changed"), "{message}");
    shop.context.language = Language::Japanese;
    let answer = shop.ok(UPDATE, same).await;
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .starts_with("変更はありません")
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_refused_change_leaves_the_cart_as_it_was() {
    for shop in both().await {
        let id = cart(&shop, reserving(5, 10)).await;
        let change = |items: Value| json!({"cart_id": id, "items": items});
        for (items, code) in [
            (
                json!([{"product_id": 5, "quantity": 16}]),
                "INSUFFICIENT_STOCK",
            ),
            (
                json!([{"product_id": 404, "quantity": 1}]),
                "PRODUCT_NOT_FOUND",
            ),
            (json!([{"product_id": 5, "quantity": 0}]), "EMPTY_CART"),
            (
                json!([{"product_id": 5, "quantity": -1}]),
                "INVALID_QUANTITY",
            ),
            (
                json!([{"product_id": 5, "quantity": 1.5}]),
                "INVALID_QUANTITY",
            ),
            (
                json!([{"product_id": "x", "quantity": 1}]),
                "INVALID_PRODUCT_ID",
            ),
            (
                json!([{"product_id": 5, "quantity": 1, "gift_wrap": true}]),
                "NOT_OFFERED",
            ),
            (
                json!([{"product_id": 5, "quantity": 1}, {"product_id": 5, "quantity": 2}]),
                "INVALID_QUANTITY",
            ),
        ] {
            assert_eq!(shop.code(UPDATE, change(items)).await, code);
        }
        let kept = shop.ok("get_cart_mandate", json!({"cart_id": id})).await;
        assert_eq!(quantities(&kept), [(5, 10)]);
        assert_eq!(shop.inventory(5).await, 5);
        let more = json!([{"product_id": 5, "quantity": 11}]);
        let stranger = shop.for_caller(Caller::new("key_1", "stranger"));
        assert_eq!(
            stranger.code(UPDATE, change(more.clone())).await,
            "NOT_YOUR_CART"
        );
        shop.set_clock("2025-10-23T12:30:00Z");
        assert_eq!(
            shop.code(UPDATE, change(more.clone())).await,
            "CART_EXPIRED"
        );
        let other = cart(&shop, plan_of(5, 1)).await;
        shop.ok("cancel_cart", json!({"cart_id": other})).await;
        let change = json!({"cart_id": other, "items": more});
        assert_eq!(shop.code(UPDATE, change).await, "CART_CANCELLED");
    }
}

#[tokio::test]
async fn a_changed_price_is_named_in_a_warning() {
    let shop = one().await;
    let id = cart(&shop, plan_of(1, 1)).await;
    shop.sql("UPDATE merchant_products SET price_yen = 2000 WHERE id = 1 RETURNING id")
        .await;
    let change = json!({"cart_id": id, "items": [{"product_id": 1, "quantity": 2}]});
    let answer = shop.ok(UPDATE, change).await;
    assert_eq!(answer["warnings"][0]["code"], "PRICE_CHANGED");
    assert_eq!(answer["warnings"][0]["passed"], 1980.0);
    assert_eq!(answer["warnings"][0]["current"], 2000.0);
}

#[tokio::test]
async fn a_new_address_is_held_to_the_rules_of_a_new_cart() {
    let shop = one().await;
    let good = json!({"recipient": "山田太郎", "city": "渋谷区", "addressLine": ["神宮前1-2-3"]});
    let id = cart(&shop, with(plan_of(1, 1), "shipping_address", good.clone())).await;
    for (address, code) in [
        (json!({"recipient": "山田太郎"}), "INVALID_ADDRESS"),
        (json!({"planet": "Mars"}), "INVALID_ADDRESS"),
        (json!({"city": 1}), "INVALID_ADDRESS"),
        (
            json!({"city": "渋谷区", "delivery_date": "2026-12-24"}),
            "NOT_OFFERED",
        ),
        (
            json!({"city": "渋谷区", "couponCode": "SALE10"}),
            "NOT_OFFERED",
        ),
    ] {
        let change = json!({"cart_id": id, "shipping_address": address});
        assert_eq!(shop.code(UPDATE, change).await, code, "{address}");
        let new = with(plan_of(1, 1), "shipping_address", address.clone());
        assert_eq!(shop.code(BUILD, new).await, code, "{address}");
    }
    // An empty address does not remove the one there is.
    for empty in [json!({}), json!({"city": " ", "addressLine": [""]})] {
        let change = json!({"cart_id": id, "shipping_address": empty});
        let refused = shop.refused(UPDATE, change).await;
        assert_eq!(refused.code, "INVALID_ADDRESS");
        let next = refused.next.unwrap();
        assert!(next.starts_with("The cart is unchanged. "), "{next}");
    }
    let kept = shop.ok("get_cart_mandate", json!({"cart_id": id})).await;
    assert_eq!(kept["cart_mandate"]["contents"]["shipping_address"], good);
}

#[tokio::test]
async fn a_refusal_says_what_became_of_the_cart() {
    let settings = merchant::Settings {
        max_reserving_carts: std::num::NonZeroU32::MIN,
        ..merchant::Settings::default()
    };
    let shop = crate::shop::with(settings).await;
    let id = cart(&shop, plan_of(5, 1)).await;
    shop.ok(BUILD, reserving(1, 1)).await;
    let many = json!([{"product_id": 5, "quantity": 1_000}]);
    let none = json!([{"product_id": 5, "quantity": 0}]);
    for (name, value, code) in [
        ("items", many, "INSUFFICIENT_STOCK"),
        ("items", none, "EMPTY_CART"),
        ("reserve", json!(true), "TOO_MANY_CARTS"),
        ("coupon", json!("SALE10"), "NOT_OFFERED"),
        ("gift_wrapping", json!(true), "NOT_OFFERED"),
    ] {
        let change = with(json!({"cart_id": id}), name, value);
        let refused = shop.refused(UPDATE, change).await;
        assert_eq!(refused.code, code);
        let said = refused.to_string();
        assert!(said.contains("The cart is unchanged. "), "{said}");
        assert!(!said.contains("No cart was made"), "{said}");
    }
    for (new, code) in [
        (plan_of(5, 1_000), "INSUFFICIENT_STOCK"),
        (reserving(5, 1), "TOO_MANY_CARTS"),
        (
            with(plan_of(5, 1), "coupon", json!("SALE10")),
            "NOT_OFFERED",
        ),
    ] {
        let refused = shop.refused(BUILD, new).await;
        assert_eq!(refused.code, code);
        let said = refused.to_string();
        assert!(said.contains("No cart was made. "), "{said}");
    }
    // A wish that asks for nothing is none.
    let open = json!({"cart_id": id, "discount": 0, "gift_wrap": false});
    shop.ok(UPDATE, open).await;
}
