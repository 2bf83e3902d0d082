//! `update_inventory`: the shop's staff correct the stock.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{
    empty_shop, errors,
    state::CounterState,
    store::{self, MOST_STOCK},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    product_id: i64,
    /// The stock as counted
    #[schemars(range(min = 0, max = MOST_STOCK))]
    inventory_count: Option<i64>,
    /// Added to the stock, in place of inventory_count; negative takes away
    #[schemars(range(min = -MOST_STOCK, max = MOST_STOCK))]
    change: Option<i64>,
    /// Kept with the change
    #[schemars(length(max = 200))]
    reason: Option<String>,
    /// Any text; repeat it when you retry, and nothing is counted twice
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    product_id: i64,
    /// The stock less what carts have reserved
    inventory_count: i64,
    stock_before: i64,
    stock: i64,
    message: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_inventory",
            title: "在庫更新 / Update inventory",
            description: "Set a product's stock, or add to it; only for the shop's staff. 在庫を更新",
            hints: Hints {
                idempotent: false,
                ..Hints::REMOVES
            },
            effect: Effect::Manage,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("在庫更新")
    .idempotency_key("idempotency_key")
    .normalise(|_, arguments| {
        for name in ["product_id", "inventory_count", "change"] {
            arguments::integer(arguments, name);
        }
    })
    .personal(&["reason"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let new_stock: Box<dyn Fn(i64) -> Option<i64>> = match (input.inventory_count, input.change) {
        (Some(count), None) => Box::new(move |_| Some(count)),
        (None, Some(change)) => Box::new(move |before| {
            let after = before.checked_add(change);
            after.filter(|after| *after <= MOST_STOCK)
        }),
        _ => return Err(errors::count_or_change()),
    };
    let id = input.product_id;
    let now = state.now(context);
    let note = (input.reason.as_deref(), &*context.caller.id, now);
    let Some(changed) = store::set_stock(sql, id, new_stock, note)? else {
        return Err(empty_shop::explain(sql, errors::product_not_found(&[id]))?);
    };
    let changed = changed.map_err(|before| match input.change {
        Some(1..) => errors::stock_too_large(before, MOST_STOCK),
        _ => errors::stock_below_zero(before),
    })?;
    context.changed(Change::Page);
    let available = store::inventory(sql, &[id], now)?.remove(&id).unwrap_or(0);
    let (before, after) = (changed.before, changed.after);
    Ok(Output {
        product_id: id,
        inventory_count: available,
        stock_before: before,
        stock: after,
        message: match (context.language, before == after) {
            (Language::English, true) => {
                format!("Nothing changed: the stock of product {id} is already {after}.")
            }
            (Language::English, false) => {
                format!("The stock of product {id} went from {before} to {after}.")
            }
            (Language::Japanese, true) => {
                format!("変更はありません。商品{id}の在庫はすでに{after}です。")
            }
            (Language::Japanese, false) => {
                format!("商品{id}の在庫を{before}から{after}に変更しました。")
            }
        },
    })
}
