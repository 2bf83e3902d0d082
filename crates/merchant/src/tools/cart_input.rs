//! The arguments of a cart that are objects: their published shapes, and what models
//! send in their place.
//!
//! The shapes only describe. The handlers read the JSON itself, because it keeps what
//! else an agent wrote down, and the mandate repeats the address as it was given.

#![expect(dead_code, reason = "only their schemas are used")]

use schemars::JsonSchema;
use serde_json::Value;

use super::arguments::{Arguments, drop_blanks};
use crate::model::{decimal::Decimal, limits::MAX_ITEMS, wishes};

#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct CartPlanShape {
    #[schemars(length(max = MAX_ITEMS))]
    items: Vec<ItemShape>,
}

#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct ItemShape {
    product_id: i64,
    #[schemars(range(min = 1))]
    quantity: i64,
}

#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct NewQuantityShape {
    product_id: i64,
    #[schemars(range(min = 0))]
    quantity: i64,
}

#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct ProductShape {}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
pub struct AddressShape {
    recipient: Option<String>,
    postal_code: Option<String>,
    country: Option<String>,
    region: Option<String>,
    city: Option<String>,
    dependent_locality: Option<String>,
    address_line: Option<Vec<String>>,
    organization: Option<String>,
    phone_number: Option<String>,
    sorting_code: Option<String>,
}

/// Drops wishes that ask for nothing. Others are refused as arguments that the tool
/// does not have.
pub fn drop_open_wishes(arguments: &mut Arguments) {
    arguments.retain(|name, value| !wishes::is_open_wish(name, value));
}

/// Adds what the document requires and nobody needs.
pub fn normalise_plan(arguments: &mut Arguments) {
    arguments
        .entry("products")
        .or_insert_with(|| Value::Array(Vec::new()));
    let plan = arguments.get_mut("cart_plan");
    if let Some(plan) = plan.and_then(Value::as_object_mut) {
        plan.retain(|name, value| name != "items" || !value.is_null());
        normalise_items(plan.get_mut("items"));
    }
}

/// Whole numbers in text become numbers. What is no whole number is removed: an item
/// without its product or quantity is then refused with its own code.
pub fn normalise_items(items: Option<&mut Value>) {
    let items = items.and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
        for name in ["product_id", "quantity"] {
            let Some(value) = item.get(name) else {
                continue;
            };
            match Decimal::from_json(value).and_then(Decimal::whole) {
                Ok(whole) => item.insert(name.to_owned(), whole.into()),
                Err(_) => item.remove(name),
            };
        }
    }
}

/// Blank fields count as not given, and one line is a list of one.
pub fn normalise_address(arguments: &mut Arguments) {
    let Some(address) = arguments.get_mut("shipping_address") else {
        return;
    };
    drop_blanks(address);
    if let Some(line) = address.get_mut("addressLine")
        && line.is_string()
    {
        *line = Value::Array(vec![line.take()]);
    }
}
