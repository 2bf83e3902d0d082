//! `check_inventory`: how many of each product can be sold.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, arguments};
use crate::{errors, shop::Shop, store};

#[derive(Deserialize)]
pub struct Input {
    product_ids: Vec<i64>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "product_ids": {
                "type": "array",
                "items": { "type": "integer" },
                "description": "商品IDリスト（\"1,2\"も可）",
                "maxItems": 1000
            }
        },
        "required": ["product_ids"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// What can be sold of each product, by its id; 0 for an unknown one.
    inventory: Map<String, Value>,
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "check_inventory",
        aliases: &[],
        title: "在庫確認 / Check inventory",
        description: "在庫状況を確認",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::IDS_TYPE],
        normalise: |_, arguments| arguments::integers(arguments, "product_ids"),
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let available = store::inventory(sql, &input.product_ids, shop.now(context))?;
    let inventory = input
        .product_ids
        .iter()
        .map(|id| {
            (
                id.to_string(),
                available.get(id).copied().unwrap_or(0).into(),
            )
        })
        .collect();
    Ok(Output { inventory })
}
