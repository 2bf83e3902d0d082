//! The three tools as their document publishes them, and its examples.

use serde_json::{Value, json};

use crate::shop::{both, one};

/// The document's definitions, word for word. It calls the plan the result of
/// `optimize_cart`, a tool of its agent that this counter does not have.
fn published() -> Value {
    json!({
        "search_products": {
            "description": "データベースから商品を検索",
            "properties": {
                "keywords": {"type": "array", "items": {"type": "string"}, "description": "検索キーワードリスト"},
                "limit": {"type": "integer", "description": "最大検索結果数", "default": 20}
            },
            "required": ["keywords"]
        },
        "check_inventory": {
            "description": "在庫状況を確認",
            "properties": {
                "product_ids": {"type": "array", "items": {"type": "integer"}, "description": "商品IDリスト"}
            },
            "required": ["product_ids"]
        },
        "build_cart_mandates": {
            "description": "AP2準拠のCartMandateを構築（未署名）",
            "properties": {
                "cart_plan": {"type": "object", "description": "カートプラン"},
                "products": {"type": "array", "items": {"type": "object"}, "description": "商品情報リスト"},
                "shipping_address": {"type": "object", "description": "AP2準拠のContactAddress"}
            },
            "required": ["cart_plan", "products"]
        }
    })
}

#[tokio::test]
async fn tools_are_published_as_written() {
    let counter = one().await.counter.clone();
    assert_eq!(counter.about.server_name, "merchant_agent_mcp");
    assert_eq!(counter.about.version, "1.0.0");
    for (name, published) in published().as_object().unwrap() {
        let tool = counter.tool(name).unwrap();
        let words = published["description"].as_str().unwrap();
        assert!(tool.description.contains(words), "{name}");
        assert_eq!(tool.input["required"], published["required"]);
        for (field, written) in published["properties"].as_object().unwrap() {
            for (keyword, value) in written.as_object().unwrap() {
                let ours = &tool.input["properties"][field][keyword];
                match keyword.as_str() {
                    "items" => assert_eq!(ours["type"], value["type"], "{name}.{field}"),
                    // In English too, and with what else is accepted.
                    "description" => {
                        let words = value.as_str().unwrap();
                        assert!(ours.as_str().unwrap().contains(words), "{name}.{field}");
                    }
                    _ => assert_eq!(ours, value, "{name}.{field}.{keyword}"),
                }
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_documents_search() {
    for shop in both().await {
        let search = json!({"keywords": ["かわいい", "グッズ"], "limit": 10});
        let answer = shop.ok("search_products", search).await;
        assert_eq!(answer["fallback"], Value::Null, "{answer:#}");
        let mut products = answer["products"].as_array().unwrap().iter();
        let first = products.find(|product| product["id"] == 1).unwrap();
        let documented = json!({
            "sku": "MUGIBO-CAL-2025",
            "name": "むぎぼーカレンダー2025",
            "description": "むぎぼーの可愛いカレンダー",
            "price_cents": 198_000,
            "price_jpy": 1980.0,
            "inventory_count": 50,
            "category": "goods",
            "brand": "むぎぼー",
            "image_url": "/assets/むぎぼーカレンダー.png",
            "refund_period_days": 30
        });
        for (field, value) in documented.as_object().unwrap() {
            assert_eq!(first[field], *value, "{field}");
        }
        let written = first.to_string();
        assert!(written.contains("\"price_jpy\":1980.0"), "{written}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_documents_stock() {
    for shop in both().await {
        let ids = json!({"product_ids": [1, 2, 3]});
        let answer = shop.ok("check_inventory", ids).await;
        assert_eq!(answer, json!({"inventory": {"1": 50, "2": 30, "3": 0}}));
    }
}

/// The written rules hold, not the example's figures: free shipping from 5,000
/// yen on, and 10 % on goods and shipping.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_documents_cart() {
    for shop in both().await {
        let cart = json!({
            "cart_plan": {"items": [
                {"product_id": 1, "quantity": 2},
                {"product_id": 5, "quantity": 1}
            ]},
            "products": [
                {"id": 1, "name": "...", "price_jpy": 1980.0},
                {"id": 5, "name": "...", "price_jpy": 3500.0}
            ],
            "shipping_address": {
                "recipient": "山田太郎",
                "addressLine": ["東京都渋谷区1-2-3"],
                "city": "渋谷区",
                "country": "JP",
                "postalCode": "150-0001"
            }
        });
        let answer = shop.ok("build_cart_mandates", cart).await;
        let mandate = &answer["cart_mandate"];
        let contents = &mandate["contents"];
        assert_eq!(mandate["type"], "CartMandate");
        assert_eq!(mandate["created_at"], "2025-10-23T12:00:00Z");
        assert!(contents["id"].as_str().unwrap().starts_with("cart_"));
        assert_eq!(contents["merchant_id"], "did:ap2:merchant:mugibo_merchant");
        assert_eq!(
            contents["display_items"][0],
            json!({
                "label": "むぎぼーカレンダー2025",
                "amount": {"value": 3960.0, "currency": "JPY"},
                "refund_period": 2_592_000
            })
        );
        let total = json!({"value": 8206.0, "currency": "JPY"});
        assert_eq!(contents["total"], total);
        assert_eq!(
            contents["metadata"]["raw_items"][0],
            json!({
                "product_id": 1,
                "sku": "MUGIBO-CAL-2025",
                "name": "むぎぼーカレンダー2025",
                "quantity": 2,
                "unit_price_jpy": 1980.0,
                "total_price_jpy": 3960.0
            })
        );
        assert_eq!(contents["metadata"]["shipping_fee"], 0.0);
        assert_eq!(contents["metadata"]["tax"], 746.0);
        assert_eq!(contents["metadata"]["subtotal"], 7460.0);
        assert_eq!(contents["shipping_address"]["postalCode"], "150-0001");
        let items = contents["display_items"].as_array().unwrap().iter();
        let sum: f64 = items
            .map(|item| item["amount"]["value"].as_f64().unwrap())
            .sum();
        assert!((sum - 8206.0).abs() < 0.001, "{contents:#}");
        assert_eq!(answer.get("warnings"), None);
    }
}
