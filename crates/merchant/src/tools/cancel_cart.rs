//! `cancel_cart`: a caller releases what one of its carts has reserved.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{model::cart::Cart, open_carts, state::CounterState, store};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// contents.id of the mandate
    cart_id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    cart_id: String,
    /// cancelled, or expired by itself before
    status: &'static str,
    /// For sale again
    released: Vec<Released>,
    message: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Released {
    product_id: i64,
    quantity: i64,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "cancel_cart",
            title: "カート取消 / Cancel a cart",
            description: "End a cart of yours and release what it reserved; a second call changes \
                nothing. カートを取り消す",
            hints: Hints::REMOVES,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("カート取消")
    .normalise(|_, arguments| arguments::trimmed(arguments, "cart_id"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let now = state.now(context);
    store::lock_caller(sql, &context.caller.id)?;
    let stored = open_carts::own_cart(sql, &context.caller, &input.cart_id)?;
    let has_expired = stored.expires_at <= now && !stored.is_cancelled;
    let mut released = Vec::new();
    if !has_expired {
        store::cancel_cart(sql, &input.cart_id, now)?;
        context.changed(Change::Page);
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
            "The cart had already expired; it holds nothing.",
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
