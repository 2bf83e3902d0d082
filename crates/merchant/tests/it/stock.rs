//! Stock: changes by the shop's staff, and what is available.

use serde_json::json;

use crate::shop::{both, one};

#[tokio::test]
async fn stock_is_set_or_changed_and_the_change_is_recorded() {
    for shop in both().await {
        let answer = shop
            .ok(
                "update_inventory",
                json!({"product_id": 3, "inventory_count": "12", "reason": "入荷"}),
            )
            .await;
        assert_eq!(
            (&answer["stock_before"], &answer["stock"]),
            (&json!(0), &json!(12))
        );
        let answer = shop
            .ok("update_inventory", json!({"product_id": 3, "change": -2}))
            .await;
        assert_eq!(
            (&answer["stock_before"], &answer["stock"]),
            (&json!(12), &json!(10))
        );
        assert_eq!(shop.inventory(3).await, 10);
        let kept = shop
            .sql(
                "SELECT stock_before, stock_after, reason, caller FROM merchant_stock_changes \
                 WHERE product_id = 3 ORDER BY stock_after DESC",
            )
            .await;
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0].opt_text(2).unwrap().as_deref(), Some("入荷"));
        assert_eq!(kept[0].text(3).unwrap(), "local");
    }
}

#[tokio::test]
async fn impossible_stock_is_refused() {
    let shop = one().await;
    for (arguments, code) in [
        (json!({"product_id": 1, "change": -51}), "STOCK_BELOW_ZERO"),
        (
            json!({"product_id": 1, "change": 1_000_000_000}),
            "STOCK_TOO_LARGE",
        ),
        (json!({"product_id": 99, "change": 1}), "PRODUCT_NOT_FOUND"),
        (json!({"product_id": 1}), "INVALID_ARGUMENT"),
        (
            json!({"product_id": 1, "change": 1, "inventory_count": 1}),
            "INVALID_ARGUMENT",
        ),
        (
            json!({"product_id": 1, "inventory_count": -1}),
            "INVALID_ARGUMENT",
        ),
    ] {
        assert_eq!(shop.code("update_inventory", arguments).await, code);
    }
    assert_eq!(shop.inventory(1).await, 50);
}

#[tokio::test]
async fn unknown_ids_have_no_stock_and_ids_may_be_texts() {
    let shop = one().await;
    let answer = shop
        .ok("check_inventory", json!({"product_ids": ["1", 404, "２"]}))
        .await;
    assert_eq!(answer, json!({"inventory": {"1": 50, "404": 0, "2": 30}}));
    for list in ["1, 2", "１、2", "[1, \"2\"]"] {
        let answer = shop
            .ok("check_inventory", json!({"product_ids": list}))
            .await;
        assert_eq!(answer, json!({"inventory": {"1": 50, "2": 30}}), "{list}");
    }
    let answer = shop.ok("check_inventory", json!({"product_ids": []})).await;
    assert_eq!(answer, json!({"inventory": {}}));
    for list in [json!(["x"]), json!("1,x"), json!("")] {
        let code = shop
            .code("check_inventory", json!({"product_ids": list}))
            .await;
        assert_eq!(code, "INVALID_PRODUCT_ID");
    }
    let beyond = json!({"product_ids": [1_u64 << 63]});
    assert_eq!(
        shop.refused("check_inventory", beyond).await.to_string(),
        "INVALID_ARGUMENT: A number is out of range. Check the arguments \
         against the tool's input schema."
    );
}

#[tokio::test]
async fn a_product_by_id_or_sku() {
    for shop in both().await {
        let by_id = shop.ok("get_product", json!({"product_id": 1})).await;
        let by_sku = shop
            .ok("get_product", json!({"sku": " MUGIBO-CAL-2025 "}))
            .await;
        assert_eq!(by_id, by_sku);
        assert_eq!(by_id["product"]["price_with_tax_jpy"], 2178.0);
        assert_eq!(by_id["keywords"][0], "カレンダー");
        let sold_out = shop.ok("get_product", json!({"product_id": 3})).await;
        assert_eq!(sold_out["product"]["inventory_count"], 0);
        for (arguments, code) in [
            (json!({"product_id": 404}), "PRODUCT_NOT_FOUND"),
            (json!({"sku": "NOPE"}), "PRODUCT_NOT_FOUND"),
            (json!({}), "INVALID_ARGUMENT"),
            (
                json!({"product_id": 1, "sku": "MUGIBO-KEY-01"}),
                "INVALID_ARGUMENT",
            ),
        ] {
            assert_eq!(shop.code("get_product", arguments).await, code);
        }
    }
}
