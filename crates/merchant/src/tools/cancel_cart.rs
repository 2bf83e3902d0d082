//! `cancel_cart`: a caller gives back what one of its carts reserved.

use std::sync::Arc;

use kit::{Context, Effect, Error, Hints, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arguments;
use crate::{model::mandate::Cart, open_carts, shop::Shop, store};

#[derive(Deserialize)]
pub struct Input {
    cart_id: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "cart_id": { "type": "string", "description": "contents.id of the mandate" }
        },
        "required": ["cart_id"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    cart_id: String,
    /// `cancelled`, or `expired` when the cart had ended by itself.
    status: &'static str,
    /// What the cart had reserved and is for sale again.
    released: Vec<Released>,
    /// One sentence for people.
    message: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Released {
    product_id: i64,
    quantity: i64,
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "cancel_cart",
        aliases: &[],
        title: "カート取消 / Cancel a cart",
        description: "End a cart of your own and release what it reserved. Cancelling it again \
                      changes nothing.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: Hints {
            read_only: false,
            destructive: true,
            idempotent: true,
            open_world: false,
        },
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::trimmed(arguments, "cart_id");
        },
        meta: None,
        personal: &[],
        inner_calls: None,
        card: None,
        run: Run::transaction(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let now = shop.now(context);
    store::lock_caller(sql, &context.caller.id)?;
    let stored = open_carts::own_cart(sql, &context.caller, &input.cart_id)?;
    let has_expired = stored.expires_at <= now && !stored.is_cancelled;
    let mut released = Vec::new();
    if !has_expired {
        store::cancel_cart(sql, &input.cart_id, now)?;
        if stored.is_reserved {
            let cart: Cart = serde_json::from_str(&stored.cart).map_err(Error::internal)?;
            released.extend(cart.lines.iter().map(|line| Released {
                product_id: line.product_id,
                quantity: line.quantity,
            }));
        }
    }
    let (status, english, japanese) = match has_expired {
        true => (
            "expired",
            "The cart had expired before; it holds nothing.",
            "このカートはすでに期限切れで、確保中の商品はありません。",
        ),
        false => (
            "cancelled",
            "The cart is cancelled; it holds nothing.",
            "カートを取り消しました。確保していた商品は解放されています。",
        ),
    };
    Ok(Output {
        cart_id: input.cart_id,
        status,
        released,
        message: match context.language {
            Language::English => english,
            Language::Japanese => japanese,
        },
    })
}
