//! `get_product`: one product, by its id or SKU.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool, text::narrow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{answers::ProductView, empty_shop, errors, state::CounterState, store};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    /// Product id
    product_id: Option<i64>,
    /// SKU, in place of product_id
    sku: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    product: ProductView,
    keywords: Vec<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_product",
            title: "商品詳細 / Get a product",
            description: "One product by product_id or sku, in stock or not.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .normalise(|_, arguments| {
        arguments::integer(arguments, "product_id");
        arguments::text(arguments, "sku");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let id = match (input.product_id, input.sku.as_deref()) {
        (Some(id), _) => id,
        (None, Some(sku)) => match with_sku(sql, sku)? {
            Some(id) => id,
            None => return Err(not_found(sql, &format!("the SKU {sku}"))?),
        },
        (None, None) => return Err(errors::which_product()),
    };
    let mut found = store::products(sql, &[id], state.now(context))?;
    let Some(product) = found.remove(&id) else {
        return Err(not_found(sql, &format!("id {id}"))?);
    };
    let is_same = |sku: &String| *sku == product.sku || narrow(sku) == product.sku;
    if !input.sku.as_ref().is_none_or(is_same) {
        return Err(errors::product_mismatch(&product));
    }
    Ok(Output {
        keywords: product.keywords.clone(),
        product: ProductView::new(product, &state.terms, &[]),
    })
}

fn not_found(sql: &mut dyn Sql, what: &str) -> Result<Error> {
    empty_shop::explain(sql, errors::product_not_found(what))
}

/// The SKU as it is written, or else in half-width letters.
fn with_sku(sql: &mut dyn Sql, sku: &str) -> Result<Option<i64>> {
    let narrow = narrow(sku);
    let mut owners = store::sku_owners(sql, &[sku, &narrow])?;
    Ok(owners.remove(sku).or_else(|| owners.remove(&narrow)))
}
