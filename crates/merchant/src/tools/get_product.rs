//! `get_product`: one product, by its id or SKU.

use std::sync::Arc;

use kit::{Context, Effect, Error, Result, Run, Sql, Tool, text::narrow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, arguments};
use crate::{answers::ProductView, errors, shop::Shop, store};

#[derive(Deserialize)]
pub struct Input {
    product_id: Option<i64>,
    sku: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "product_id": { "type": "integer", "description": "Product id" },
            "sku": { "type": "string", "description": "SKU, in place of product_id" }
        },
        "required": []
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    product: ProductView,
    keywords: Vec<String>,
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "get_product",
        aliases: &[],
        title: "商品詳細 / Get a product",
        description: "One product by product_id or sku, in stock or not.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::integer(arguments, "product_id");
            arguments::text(arguments, "sku");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let id = match (input.product_id, input.sku.as_deref()) {
        (Some(id), _) => id,
        (None, Some(sku)) => match with_sku(sql, sku)? {
            Some(id) => id,
            None => return Err(not_found(sql, &format!("the SKU {sku}"))?),
        },
        (None, None) => return Err(errors::which_product()),
    };
    let mut found = store::products(sql, &[id], shop.now(context))?;
    let Some(product) = found.remove(&id) else {
        return Err(not_found(sql, &format!("id {id}"))?);
    };
    let is_same = |sku: &String| *sku == product.sku || narrow(sku) == product.sku;
    if !input.sku.as_ref().is_none_or(is_same) {
        return Err(errors::product_mismatch(&product));
    }
    Ok(Output {
        keywords: product.keywords.clone(),
        product: ProductView::new(product, &shop.terms, &[]),
    })
}

fn not_found(sql: &mut dyn Sql, what: &str) -> Result<Error> {
    let error = errors::product_not_found(what);
    Ok(match store::is_empty(sql)? {
        true => error.next(errors::NO_PRODUCTS),
        false => error,
    })
}

/// As it is written, or else in the letters that most are written in.
fn with_sku(sql: &mut dyn Sql, sku: &str) -> Result<Option<i64>> {
    let narrow = narrow(sku);
    let mut owners = store::sku_owners(sql, &[sku, &narrow])?;
    Ok(owners.remove(sku).or_else(|| owners.remove(&narrow)))
}
