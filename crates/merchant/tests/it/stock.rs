//! Stock: changes by the shop's staff, and what is available.

use serde_json::json;

use crate::shop::{both, one};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn stock_is_set_or_changed_and_the_change_is_recorded() {
    for shop in both().await {
        for (arguments, before, after) in [
            (json!({"inventory_count": "12", "reason": "入荷"}), 0, 12),
            (json!({"change": -2}), 12, 10),
        ] {
            let mut arguments = arguments;
            arguments["product_id"] = json!(3);
            let answer = shop.ok("update_inventory", arguments).await;
            assert_eq!(answer["stock_before"], before);
            assert_eq!(answer["stock"], after);
        }
        assert_eq!(shop.inventory(3).await, 10);
        let kept = shop
            .sql(
                "SELECT reason, caller FROM merchant_stock_changes \
                 WHERE product_id = 3 ORDER BY stock_after DESC",
            )
            .await;
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0].opt_text(0).unwrap().as_deref(), Some("入荷"));
        assert_eq!(kept[0].text(1).unwrap(), "local");
    }
}

#[tokio::test]
async fn impossible_stock_is_refused() {
    let shop = one().await;
    for (product_id, change, count, code) in [
        (1, Some(-51), None, "STOCK_BELOW_ZERO"),
        (1, Some(1_000_000_000), None, "STOCK_TOO_LARGE"),
        (99, Some(1), None, "PRODUCT_NOT_FOUND"),
        (1, None, None, "INVALID_ARGUMENT"),
        (1, Some(1), Some(1), "INVALID_ARGUMENT"),
        (1, None, Some(-1), "INVALID_ARGUMENT"),
    ] {
        let arguments =
            json!({"product_id": product_id, "change": change, "inventory_count": count});
        assert_eq!(shop.code("update_inventory", arguments).await, code);
    }
    assert_eq!(shop.inventory(1).await, 50);
}

#[tokio::test]
async fn ids_may_be_texts() {
    let shop = one().await;
    for (ids, inventory) in [
        (json!(["1", "２"]), json!({"1": 50, "2": 30})),
        (json!("1, 2"), json!({"1": 50, "2": 30})),
        (json!("１、2"), json!({"1": 50, "2": 30})),
        (json!("[1, \"2\"]"), json!({"1": 50, "2": 30})),
        (json!([]), json!({})),
    ] {
        let answer = shop
            .ok("check_inventory", json!({"product_ids": ids}))
            .await;
        assert_eq!(answer, json!({"inventory": inventory}), "{ids}");
    }
    for ids in [json!(["x"]), json!("1,x"), json!("")] {
        let ids = json!({"product_ids": ids});
        assert_eq!(
            shop.code("check_inventory", ids).await,
            "INVALID_PRODUCT_ID"
        );
    }
    let beyond = json!({"product_ids": [1_u64 << 63]});
    assert_eq!(
        shop.refused("check_inventory", beyond).await.to_string(),
        "INVALID_ARGUMENT: A number is out of range. Check the arguments \
         against the tool's input schema."
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_product_by_id_or_sku() {
    for shop in both().await {
        let by_id = shop.ok("get_product", json!({"product_id": 1})).await;
        let by_sku = json!({"sku": " MUGIBO-CAL-2025 "});
        assert_eq!(shop.ok("get_product", by_sku).await, by_id);
        assert_eq!(by_id["product"]["price_with_tax_jpy"], 2178.0);
        assert_eq!(by_id["keywords"][0], "カレンダー");
        let sold_out = shop.ok("get_product", json!({"product_id": 3})).await;
        assert_eq!(sold_out["product"]["inventory_count"], 0);
        for (product_id, sku, code) in [
            (Some(404), None, "PRODUCT_NOT_FOUND"),
            (None, Some("NOPE"), "PRODUCT_NOT_FOUND"),
            (None, None, "INVALID_ARGUMENT"),
            (Some(1), Some("MUGIBO-KEY-01"), "INVALID_ARGUMENT"),
        ] {
            let arguments = json!({"product_id": product_id, "sku": sku});
            assert_eq!(shop.code("get_product", arguments).await, code);
        }
    }
}
