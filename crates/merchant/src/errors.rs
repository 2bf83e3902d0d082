//! How the counter says no, beside what `model::errors` says about carts.

use kit::{Error, Rule};
use serde_json::json;

use crate::{model::errors::INVALID_PRODUCT_ID, store::Product};

pub const IDS_TYPE: Rule = Rule {
    field: "product_ids",
    keyword: "type",
    code: INVALID_PRODUCT_ID,
    message: "Product ids are integers. Give them as a list, such as [1, 2, 3].",
};

pub fn product_not_found(what: &str) -> Error {
    Error::new(
        "PRODUCT_NOT_FOUND",
        format!("The shop has no product with {what}."),
    )
    .next("Find products with search_products.")
}

pub fn which_product() -> Error {
    Error::new(kit::error::INVALID_ARGUMENT, "Which product?").next("Give product_id or sku.")
}

pub fn product_mismatch(product: &Product) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!(
            "Product {} has the SKU {}, not the one given.",
            product.id, product.sku
        ),
    )
    .next("Give one of product_id and sku alone.")
}

pub fn count_or_change() -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        "The new stock is either counted or changed by a number.",
    )
    .next("Give one of inventory_count and change.")
}

pub fn stock_below_zero(stock: i64) -> Error {
    Error::new(
        "STOCK_BELOW_ZERO",
        format!("The stock is {stock}; it can't fall below zero."),
    )
    .next("Nothing was changed. Count again, or give inventory_count.")
    .details(json!({ "stock": stock }))
}

pub fn stock_too_large(stock: i64, most: i64) -> Error {
    Error::new(
        "STOCK_TOO_LARGE",
        format!("The stock is {stock}; it can't rise above {most}."),
    )
    .next("Nothing was changed. Count again, or give inventory_count.")
    .details(json!({ "stock": stock, "most": most }))
}

pub fn cart_not_found() -> Error {
    Error::new("CART_NOT_FOUND", "There is no such cart.")
        .next("Check the id that build_cart_mandates answered with; carts are forgotten after they expire.")
}

pub fn cart_expired() -> Error {
    Error::new("CART_EXPIRED", "This cart has expired.")
        .next("Make a new one with build_cart_mandates.")
}

pub fn cursor_of_another_search() -> Error {
    Error::new("INVALID_CURSOR", "This cursor belongs to another search.")
        .next("Repeat the search it came from, or start without a cursor.")
}

pub fn cursor_lapsed() -> Error {
    Error::new(
        "INVALID_CURSOR",
        "The search engine that gave this cursor does not answer now.",
    )
    .next("Start again without a cursor.")
}
