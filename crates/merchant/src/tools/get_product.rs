//! `get_product`: one product by its id or SKU, or several by their ids.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool, Warning, text::narrow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments;
use crate::{
    answers::ProductView, empty_shop, errors, page_contents::PageContents, state::CounterState,
    store,
};

/// How many products one call answers with.
const MOST_PRODUCTS: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    product_id: Option<i64>,
    /// In place of product_id
    sku: Option<String>,
    /// Several at once, in place of product_id
    #[serde(default)]
    #[schemars(length(max = MOST_PRODUCTS))]
    product_ids: Vec<i64>,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct Output {
    /// Fields as in search_products
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    product: Option<ProductView>,
    /// Of `product`
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<String>>,
    /// Answers product_ids
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    products: Option<Vec<ProductView>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_product",
            title: "商品詳細 / Get a product",
            description: "A product by product_id or sku, or several by product_ids, in stock or \
                not. 商品の詳細",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("商品詳細")
    .rules(&[errors::IDS_TYPE])
    .normalise(|_, arguments| {
        arguments::integer(arguments, "product_id");
        arguments::integers(arguments, "product_ids");
        arguments::text(arguments, "sku");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let now = state.now(context);
    let id = match (input.product_id, input.sku.as_deref()) {
        (Some(id), _) => id,
        (None, Some(sku)) => match with_sku(sql, sku)? {
            Some(id) => id,
            None => {
                let similar = store::similar_skus(sql, &narrow(sku))?;
                return Err(not_found(sql, errors::sku_not_found(sku, &similar))?);
            }
        },
        (None, None) if input.product_ids.is_empty() => return Err(errors::which_product()),
        (None, None) => return several(state, sql, &input.product_ids, now),
    };
    let mut found = store::products(sql, &[id], now)?;
    let Some(product) = found.remove(&id) else {
        return Err(not_found(sql, errors::product_not_found(&[id]))?);
    };
    let is_same = |sku: &String| *sku == product.sku || narrow(sku) == product.sku;
    if !input.sku.as_ref().is_none_or(is_same) {
        return Err(errors::product_mismatch(&product));
    }
    let mut output = match input.product_ids.as_slice() {
        [] => Output::default(),
        ids => several(state, sql, ids, now)?,
    };
    output.keywords = Some(product.keywords.clone());
    output.product = Some(ProductView::new(product, &state.terms, &[]));
    Ok(output)
}

/// The products in the order of their ids, as many as one answer may hold.
fn several(state: &CounterState, sql: &mut dyn Sql, ids: &[i64], now: i64) -> Result<Output> {
    let mut found = store::products(sql, ids, now)?;
    if found.is_empty() {
        return Err(not_found(sql, errors::product_not_found(ids))?);
    }
    let mut unknown = Vec::new();
    let mut left_out = Vec::new();
    let mut contents = PageContents::new(&state.terms, &[], MOST_PRODUCTS);
    for (at, id) in ids.iter().enumerate() {
        if ids.iter().take(at).any(|earlier| earlier == id) {
            continue;
        }
        let Some(product) = found.remove(id) else {
            unknown.push(*id);
            continue;
        };
        if !contents.add(product)? {
            left_out.push(*id);
        }
    }
    let mut warnings = Vec::new();
    if !unknown.is_empty() {
        warnings.push(errors::not_found_warning(&unknown, "it is left out"));
    }
    if !left_out.is_empty() {
        let message = "The answer would be too large; ask for product_ids in another call.";
        warnings.push(Warning::new("PAGE_CUT", message).detail("product_ids", left_out));
    }
    Ok(Output {
        products: Some(contents.products),
        warnings,
        ..Output::default()
    })
}

fn not_found(sql: &mut dyn Sql, error: Error) -> Result<Error> {
    empty_shop::explain(sql, error)
}

/// The SKU as it is written, or else in half-width letters.
fn with_sku(sql: &mut dyn Sql, sku: &str) -> Result<Option<i64>> {
    let narrow = narrow(sku);
    let mut owners = store::sku_owners(sql, &[sku, &narrow])?;
    Ok(owners.remove(sku).or_else(|| owners.remove(&narrow)))
}
