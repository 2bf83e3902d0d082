//! Every error of a cart. Where items are at fault, `details.items` names the first
//! five, and `details.more` counts the others.

use kit::Error;
use serde_json::{Value, json};

use super::limits::MAX_MANDATE_BYTES;

pub const INVALID_CART_PLAN: &str = "INVALID_CART_PLAN";
pub const EMPTY_CART: &str = "EMPTY_CART";
pub const TOO_MANY_ITEMS: &str = "TOO_MANY_ITEMS";
pub const INVALID_PRODUCT_ID: &str = "INVALID_PRODUCT_ID";
pub const INVALID_QUANTITY: &str = "INVALID_QUANTITY";
pub const PRODUCT_NOT_FOUND: &str = "PRODUCT_NOT_FOUND";
pub const INSUFFICIENT_STOCK: &str = "INSUFFICIENT_STOCK";
pub const AMOUNT_TOO_LARGE: &str = "AMOUNT_TOO_LARGE";
pub const INVALID_ADDRESS: &str = "INVALID_ADDRESS";

/// How many of the items at fault an error names.
const MOST_NAMED: usize = 5;

pub fn invalid_cart_plan(what: &str) -> Error {
    Error::new(INVALID_CART_PLAN, format!("{what}."))
        .next("Give cart_plan as {\"items\": [{\"product_id\": 1, \"quantity\": 2}]}.")
}

pub fn empty_cart() -> Error {
    Error::new(EMPTY_CART, "The cart has no items.")
        .next("Put at least one product in cart_plan.items.")
}

/// `details`: `{items, most}`.
pub fn too_many_items(items: usize, most: usize) -> Error {
    Error::new(
        TOO_MANY_ITEMS,
        format!("The cart has {items} items; the limit is {most}."),
    )
    .next("Make several carts.")
    .details(json!({ "items": items, "most": most }))
}

/// `details.items`: `{index, product_id}`.
pub fn invalid_product_id(items: Vec<Value>) -> Error {
    Error::new(
        INVALID_PRODUCT_ID,
        "Some items of the cart have no valid product_id.",
    )
    .next("Give each item the product_id that search_products returned, a positive integer.")
    .details(named(items))
}

/// `details.items`: `{index, product_id, quantity}`.
pub fn invalid_quantity(items: Vec<Value>) -> Error {
    Error::new(
        INVALID_QUANTITY,
        "Some quantities are not whole numbers of at least 1.",
    )
    .next("Give each item a quantity of 1 or more; leave out what is not wanted.")
    .details(named(items))
}

/// `details.items`: `{index, product_id, quantity}`.
pub fn invalid_new_quantity(item: Value) -> Error {
    Error::new(
        INVALID_QUANTITY,
        "A new quantity is not a whole number of 0 or more, or a product is named twice.",
    )
    .next("Name each product once; 0 removes it.")
    .details(named(vec![item]))
}

pub fn nothing_left() -> Error {
    Error::new(EMPTY_CART, "The cart would have no items.")
        .next("End the cart with cancel_cart instead.")
}

/// `details`: `{field, wish}`.
pub fn not_offered(field: &str, wish: &str) -> Error {
    Error::new("NOT_OFFERED", format!("This shop does not offer {wish}."))
        .next(format!("Leave out `{field}`, and tell the customer."))
        .details(json!({ "field": field, "wish": wish }))
}

/// `details`: `{items, bytes, most}`.
pub fn cart_too_large(items: usize, bytes: usize) -> Error {
    Error::new(
        TOO_MANY_ITEMS,
        format!("A mandate of {items} items has {bytes} bytes; the limit is {MAX_MANDATE_BYTES}."),
    )
    .next("Make several smaller carts.")
    .details(json!({ "items": items, "bytes": bytes, "most": MAX_MANDATE_BYTES }))
}

/// `details.items`: `{product_id}`.
pub fn product_not_found(ids: &[i64]) -> Error {
    let items: Vec<Value> = ids.iter().map(|id| json!({ "product_id": id })).collect();
    Error::new(
        PRODUCT_NOT_FOUND,
        format!("The shop has no product with id {}.", list(ids)),
    )
    .next("Find products with search_products and use their ids.")
    .details(named(items))
}

/// A product of which the cart wants more than there is.
pub struct Shortage {
    pub product_id: i64,
    pub requested: i64,
    pub available: i64,
}

/// `details.items`: `{product_id, requested, available}`.
pub fn insufficient_stock(shortages: &[Shortage]) -> Error {
    let words: Vec<String> = shortages
        .iter()
        .take(MOST_NAMED)
        .map(|short| {
            format!(
                "{} of product {} (wanted {})",
                short.available, short.product_id, short.requested
            )
        })
        .collect();
    let items: Vec<Value> = shortages
        .iter()
        .map(|short| {
            json!({
                "product_id": short.product_id,
                "requested": short.requested,
                "available": short.available,
            })
        })
        .collect();
    Error::new(
        INSUFFICIENT_STOCK,
        format!(
            "There are only {}{} in stock.",
            words.join(", "),
            and_others(shortages.len())
        ),
    )
    .next("Lower the quantities or choose other products.")
    .details(named(items))
}

pub fn amount_too_large() -> Error {
    Error::new(AMOUNT_TOO_LARGE, "The cart costs more than can be charged.")
        .next("Lower the quantities.")
}

/// `details`: `{field}`, as the caller wrote it; null when the whole address is at
/// fault.
pub fn invalid_address(field: Option<&str>, what: &str) -> Error {
    let whole = field.map_or_else(
        || "shipping_address".into(),
        |field| format!("shipping_address.{field}"),
    );
    Error::new(INVALID_ADDRESS, format!("{whole} {what}."))
        .next(
            "Give recipient, address_line (a list), city, region, postal_code and country as text, \
             or leave the address out.",
        )
        .details(json!({ "field": field }))
}

fn named(mut items: Vec<Value>) -> Value {
    let more = items.len().saturating_sub(MOST_NAMED);
    items.truncate(MOST_NAMED);
    match more {
        0 => json!({ "items": items }),
        more => json!({ "items": items, "more": more }),
    }
}

pub fn list(ids: &[i64]) -> String {
    let named: Vec<String> = ids.iter().take(MOST_NAMED).map(i64::to_string).collect();
    named.join(", ") + &and_others(ids.len())
}

fn and_others(count: usize) -> String {
    match count.checked_sub(MOST_NAMED) {
        None | Some(0) => String::new(),
        Some(others) => format!(" and {others} others"),
    }
}
