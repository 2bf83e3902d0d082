//! The shapes of the arguments that are objects, as they are published.
//!
//! They only describe. The handler reads the JSON itself, because it names every
//! item at fault by its index and passes over what else an agent wrote down. So
//! nothing in them is required.

#![expect(dead_code, reason = "only their schemas are used")]

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::{
    model::price_warnings::NumberOrText,
    tools::arguments::{Arguments, drop_blanks},
};

#[derive(JsonSchema)]
pub struct CartPlanShape {
    items: Option<Vec<ItemShape>>,
}

#[derive(JsonSchema)]
struct ItemShape {
    product_id: Option<NumberOrText>,
    /// 1 or more
    quantity: Option<NumberOrText>,
}

#[derive(JsonSchema)]
pub struct ProductShape {
    id: Option<NumberOrText>,
    product_id: Option<NumberOrText>,
    price_jpy: Option<NumberOrText>,
    price_cents: Option<NumberOrText>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct AddressShape {
    recipient: Option<String>,
    postal_code: Option<String>,
    country: Option<String>,
    region: Option<String>,
    city: Option<String>,
    dependent_locality: Option<String>,
    address_line: Option<TextOrTexts>,
    organization: Option<String>,
    phone_number: Option<String>,
    sorting_code: Option<String>,
}

struct TextOrTexts;

impl JsonSchema for TextOrTexts {
    fn schema_name() -> Cow<'static, str> {
        "TextOrTexts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "string" }]
        })
    }
}

/// Takes out what the shapes do not allow and the handler does not need: blank
/// fields of the address, and ids, quantities and prices that are neither numbers
/// nor text. An item without them is then refused by its index.
pub fn normalise(arguments: &mut Arguments) {
    if let Some(address) = arguments.get_mut("shipping_address") {
        drop_blanks(address);
    }
    let items = arguments.get_mut("cart_plan");
    keep_numbers_and_texts(
        items.and_then(|plan| plan.get_mut("items")),
        &["product_id", "quantity"],
    );
    keep_numbers_and_texts(
        arguments.get_mut("products"),
        &["id", "product_id", "price_jpy", "price_cents"],
    );
}

fn keep_numbers_and_texts(list: Option<&mut Value>, names: &[&str]) {
    let items = list.and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
        item.retain(|name, value| {
            !names.contains(&name.as_str()) || value.is_number() || value.is_string()
        });
    }
}
