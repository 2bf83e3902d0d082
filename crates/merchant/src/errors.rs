//! The errors of the counter; those of carts are in `model::errors`.

use jiff::Timestamp;
use kit::{
    Error, Rule, Warning,
    text::{fold, similarity},
};
use serde_json::{Value, json};

use crate::{
    model::errors::{
        EMPTY_CART, INVALID_ADDRESS, INVALID_CART_PLAN, INVALID_PRODUCT_ID, INVALID_QUANTITY,
        PRODUCT_NOT_FOUND, TOO_MANY_ITEMS, invalid_address, list,
    },
    store::{HeldProduct, OpenCart, Product},
};

pub use crate::model::errors::product_not_found;

/// An empty address in place of another.
pub fn empty_address() -> Error {
    invalid_address(None, "is empty")
}

/// How many carts or products an error names.
const MOST_NAMED: usize = 5;

pub const IDS_TYPE: Rule = Rule {
    field: "product_ids",
    keyword: "type",
    code: INVALID_PRODUCT_ID,
    message: "Product ids are integers. Give them as a list, such as [1, 2, 3].",
};

/// What is wrong with a cart plan, the items of a cart or an address.
pub const CART_RULES: &[Rule] = &[
    Rule {
        field: "cart_plan",
        keyword: "minimum",
        code: INVALID_QUANTITY,
        message: QUANTITY,
    },
    Rule {
        field: "cart_plan",
        keyword: "maxItems",
        code: TOO_MANY_ITEMS,
        message: "A cart has at most 1000 items. Make several carts.",
    },
    Rule {
        field: "cart_plan",
        keyword: "type",
        code: INVALID_CART_PLAN,
        message: "cart_plan is an object with a list of items, such as \
            {\"items\": [{\"product_id\": 1, \"quantity\": 2}]}.",
    },
    Rule {
        field: "items",
        keyword: "required",
        code: EMPTY_CART,
        message: "The cart has no items. Put at least one product in cart_plan.items.",
    },
    Rule {
        field: "items",
        keyword: "minimum",
        code: INVALID_QUANTITY,
        message: "A quantity is a whole number; 0 removes the product.",
    },
    Rule {
        field: "product_id",
        keyword: "required",
        code: INVALID_PRODUCT_ID,
        message: "Each item needs the product_id that search_products returned, a positive integer.",
    },
    Rule {
        field: "quantity",
        keyword: "required",
        code: INVALID_QUANTITY,
        message: QUANTITY,
    },
    Rule {
        field: "shipping_address",
        keyword: "*",
        code: INVALID_ADDRESS,
        message: "The fields of shipping_address are texts, and addressLine a list of texts.",
    },
];

/// The refusal of a new cart.
pub fn no_cart_made(error: Error) -> Error {
    with_outcome(error, "No cart was made.")
}

/// The refusal of a change.
pub fn cart_unchanged(error: Error) -> Error {
    with_outcome(error, "The cart is unchanged.")
}

/// Says what became of the cart, before what to do next. A failure has its own words.
fn with_outcome(error: Error, outcome: &str) -> Error {
    match &error.next {
        Some(next) if error.cause.is_none() => {
            let next = format!("{outcome} {next}");
            error.next(next)
        }
        _ => error,
    }
}

const QUANTITY: &str = "Each item needs a quantity, a whole number of 1 or more.";

/// `details`: `{sku, candidates, more}`, the nearest first.
pub fn sku_not_found(sku: &str, similar: &[String]) -> Error {
    let wanted = fold(sku);
    let mut similar: Vec<&String> = similar.iter().collect();
    similar.sort_by(|a, b| {
        let [a, b] = [a, b].map(|other| similarity(&wanted, &fold(other)));
        b.total_cmp(&a)
    });
    let candidates = kit::shortlist(similar);
    let next = match candidates.shown.first() {
        None => "Find products with search_products.".to_owned(),
        Some(nearest) => format!("Did you mean {nearest}? search_products finds others."),
    };
    let sku = kit::text::cut(sku, 100).0;
    Error::new(
        PRODUCT_NOT_FOUND,
        format!("The shop has no product with the SKU {sku}."),
    )
    .next(next)
    .details(json!({ "sku": sku, "candidates": candidates.shown, "more": candidates.more }))
}

/// The same as a warning, if other products were found.
pub fn not_found_warning(ids: &[i64], then: &str) -> Warning {
    let message = format!("The shop has no product with id {}; {then}.", list(ids));
    let ids: Vec<i64> = ids.iter().copied().take(MOST_NAMED).collect();
    Warning::new(PRODUCT_NOT_FOUND, message).detail("product_ids", ids)
}

pub fn which_product() -> Error {
    Error::new(kit::error::INVALID_ARGUMENT, "Which product?")
        .next("Give product_id, sku or product_ids.")
}

pub fn product_mismatch(product: &Product) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!(
            "Product {} has the SKU {}, not the one given.",
            product.id, product.sku
        ),
    )
    .next("Give either product_id or sku.")
}

pub fn count_or_change() -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        "Give the new stock as a count or as a change, not both.",
    )
    .next("Give either inventory_count or change.")
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
        .next("Use contents.id of the mandate; carts are deleted a day after they expire.")
}

pub fn cart_expired() -> Error {
    Error::new("CART_EXPIRED", "This cart has expired.")
        .next("Make a new one with build_cart_mandates.")
}

pub fn cart_cancelled() -> Error {
    Error::new("CART_CANCELLED", "This cart was cancelled or replaced.")
        .next("Make a new one with build_cart_mandates.")
}

pub fn not_your_cart() -> Error {
    Error::new("NOT_YOUR_CART", "Another caller made this cart.").next(
        "Only the caller that made a cart can change, cancel or replace it; it expires by itself.",
    )
}

/// `open`: the caller's carts that hold goods, by expiry. `details`: `{open, most,
/// free_at, carts: [{cart_id, expires_at}]}`; `carts` is null when the caller must
/// not know them.
pub fn too_many_carts(most: usize, open: &[OpenCart], may_name: bool) -> Error {
    let named = open
        .iter()
        .take(MOST_NAMED)
        .map(|cart| json!({ "cart_id": cart.id, "expires_at": time(cart.expires_at) }));
    let named: Option<Vec<Value>> = may_name.then(|| named.collect());
    let free_at = open.first().map(|cart| time(cart.expires_at));
    let details = json!({ "open": open.len(), "most": most, "free_at": free_at, "carts": named });
    Error::new(
        "TOO_MANY_CARTS",
        format!(
            "{} of your carts hold goods; the limit is {most}.",
            open.len()
        ),
    )
    .next(format!(
        "Release one with cancel_cart, or with replaces of build_cart_mandates, or wait until {}.",
        free_at.unwrap_or_default()
    ))
    .details(details)
}

/// `details`: `{lines, most}`.
pub fn too_many_reserved_lines(lines: i64, most: i64) -> Error {
    Error::new(
        "TOO_MUCH_RESERVED",
        format!("Your carts would hold {lines} lines of goods; the limit is {most}."),
    )
    .next(RESERVE_LESS)
    .details(json!({ "lines": lines, "most": most }))
}

/// `scarce`: the products in the new cart of which the caller would hold most.
/// `details`: `{products: [{product_id, held, stock}], mostly_held, most}`.
pub fn too_much_reserved(scarce: &[&HeldProduct], mostly_held: usize, most: usize) -> Error {
    let products: Vec<Value> = scarce
        .iter()
        .map(|held| {
            json!({ "product_id": held.product_id, "held": held.quantity, "stock": held.stock })
        })
        .collect();
    Error::new(
        "TOO_MUCH_RESERVED",
        format!(
            "Your carts would hold more than half of the stock of \
             {mostly_held} products; the limit is {most}."
        ),
    )
    .next(RESERVE_LESS)
    .details(json!({ "products": products, "mostly_held": mostly_held, "most": most }))
}

const RESERVE_LESS: &str =
    "Reserve less, release a cart with cancel_cart, or set reserve to false.";

/// `details`: `{most, free_at}`.
pub fn too_many_kept_carts(most: i64, free_at: i64) -> Error {
    let free_at = time(free_at);
    Error::new(
        "TOO_MANY_CARTS",
        format!(
            "The limit of {most} kept carts (4 kB each on average) is reached; \
             each is kept for a day after it ends."
        ),
    )
    .next(format!(
        "Wait until {free_at}, or ask the shop to raise max_kept_carts."
    ))
    .details(json!({ "most": most, "free_at": free_at }))
}

fn time(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms).map_or_else(|_| String::new(), |at| at.to_string())
}

pub fn swapped_prices(min: i64, max: i64) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!("min_price {min} is above max_price {max}."),
    )
    .next("Swap them, or leave one out.")
    .details(json!({ "field": "min_price" }))
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
