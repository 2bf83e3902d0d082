//! `get_cart_mandate`: a cart that was built before.

use std::sync::Arc;

use kit::{Context, Effect, Error, Result, Run, Sql, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LOOKS, arguments, build_cart_mandates::Output};
use crate::{
    errors,
    model::{formats::Format, mandate::Cart},
    shop::Shop,
    store,
};

#[derive(Deserialize)]
pub struct Input {
    cart_id: String,
    format: Option<Format>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "cart_id": { "type": "string", "description": "contents.id of the mandate" },
            "format": {
                "type": "string",
                "enum": ["flat", "ap2-0.1"],
                "description": "Default: the one it was built in"
            }
        },
        "required": ["cart_id"]
    })
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "get_cart_mandate",
        aliases: &[],
        title: "CartMandate取得 / Get a cart mandate",
        description: "A cart mandate that build_cart_mandates made, until it expires.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::trimmed(arguments, "cart_id");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let stored = store::cart(sql, &input.cart_id)?.ok_or_else(errors::cart_not_found)?;
    let now = context.clock.now();
    if stored.expires_at <= now.as_millisecond() {
        return Err(errors::cart_expired());
    }
    if stored.is_cancelled {
        return Err(errors::cart_cancelled());
    }
    let cart: Cart = serde_json::from_str(&stored.cart).map_err(Error::internal)?;
    let format = match input.format {
        Some(format) => format,
        None => serde_json::from_value(stored.format.into()).map_err(Error::internal)?,
    };
    let mandate = cart.mandate(format, shop.signer.as_ref(), now)?;
    Output::new(mandate, &cart, stored.is_reserved, Vec::new())
}
