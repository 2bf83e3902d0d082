//! `update_inventory`: the shop's own people count their shelves.

use std::sync::Arc;

use kit::{Context, Effect, Hints, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arguments;
use crate::{
    errors,
    shop::Shop,
    store::{self, MOST_STOCK},
};

#[derive(Deserialize)]
pub struct Input {
    product_id: i64,
    inventory_count: Option<i64>,
    change: Option<i64>,
    reason: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "product_id": { "type": "integer", "description": "Product id" },
            "inventory_count": {
                "type": "integer",
                "description": "The stock as counted",
                "minimum": 0,
                "maximum": MOST_STOCK
            },
            "change": {
                "type": "integer",
                "description": "Added to the stock, in place of inventory_count; negative takes away",
                "minimum": -MOST_STOCK,
                "maximum": MOST_STOCK
            },
            "reason": { "type": "string", "description": "Kept with the change", "maxLength": 200 },
            "idempotency_key": {
                "type": "string",
                "description": "Any text of your own; reuse it when you retry, and nothing is counted twice"
            }
        },
        "required": ["product_id"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    product_id: i64,
    /// What can be sold now: the stock less what carts have reserved.
    inventory_count: i64,
    stock_before: i64,
    stock: i64,
    /// One sentence for people.
    message: String,
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "update_inventory",
        aliases: &[],
        title: "在庫更新 / Update inventory",
        description: "Set a product's stock, or add to it. Only for keys of the shop's own staff.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: Hints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: false,
        },
        effect: Effect::Manage,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: Some("idempotency_key"),
        rules: &[],
        normalise: |_, arguments| {
            for name in ["product_id", "inventory_count", "change"] {
                arguments::integer(arguments, name);
            }
        },
        meta: None,
        personal: &["reason"],
        card: None,
        inner_calls: None,
        run: Run::transaction(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let new_stock: Box<dyn Fn(i64) -> Option<i64>> = match (input.inventory_count, input.change) {
        (Some(count), None) => Box::new(move |_| Some(count)),
        (None, Some(change)) => Box::new(move |before| {
            let after = before.checked_add(change);
            after.filter(|after| *after <= MOST_STOCK)
        }),
        _ => return Err(errors::count_or_change()),
    };
    let id = input.product_id;
    let now = shop.now(context);
    let note = (input.reason.as_deref(), &*context.caller.id, now);
    let changed = store::set_stock(sql, id, new_stock, note)?
        .ok_or_else(|| errors::product_not_found(&format!("id {id}")))?
        .map_err(|before| match input.change {
            Some(1..) => errors::stock_too_large(before, MOST_STOCK),
            _ => errors::stock_below_zero(before),
        })?;
    let available = store::inventory(sql, &[id], now)?.remove(&id).unwrap_or(0);
    let (before, after) = (changed.before, changed.after);
    Ok(Output {
        product_id: id,
        inventory_count: available,
        stock_before: before,
        stock: after,
        message: match context.language {
            Language::English => {
                format!("The stock of product {id} went from {before} to {after}.")
            }
            Language::Japanese => format!("商品{id}の在庫を{before}から{after}に変更しました。"),
        },
    })
}
