//! `check_inventory`: how many of each product can be sold.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments;
use crate::{empty_shop, errors, state::CounterState, store};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Product ids; "1,2" works too. 商品IDリスト
    #[schemars(length(max = 1000))]
    product_ids: Vec<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// What can be sold, by product id; 0 for an unknown one
    inventory: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "check_inventory",
            title: "在庫確認 / Check inventory",
            description: "How many of each product can be sold. 在庫状況を確認",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("在庫確認")
    .rules(&[errors::IDS_TYPE])
    .normalise(|_, arguments| arguments::integers(arguments, "product_ids"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let available = store::inventory(sql, &input.product_ids, state.now(context))?;
    let message = match available.is_empty() && store::is_empty(sql)? {
        true => Some(empty_shop::message(context.language)),
        false => None,
    };
    let count = |id| available.get(id).copied().unwrap_or(0).into();
    let ids = input.product_ids.iter();
    let unknown = ids.clone().filter(|id| !available.contains_key(id));
    let unknown: Vec<i64> = unknown.copied().collect();
    let warnings = match unknown.is_empty() || message.is_some() {
        true => Vec::new(),
        false => vec![errors::not_found_warning(
            &unknown,
            "0 does not mean sold out",
        )],
    };
    Ok(Output {
        inventory: ids.map(|id| (id.to_string(), count(id))).collect(),
        message,
        warnings,
    })
}
