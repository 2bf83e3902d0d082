//! `get_cart_mandate`: a cart that build_cart_mandates made.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, cart_output::Output};
use crate::{
    errors,
    model::{cart::Cart, formats::Format},
    open_carts,
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// contents.id of the mandate
    cart_id: String,
    /// Default: the one it was built in
    format: Option<Format>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_cart_mandate",
            title: "CartMandate取得 / Get a cart mandate",
            description: "A cart mandate that build_cart_mandates made, until it expires. \
                構築済みのCartMandateを取得",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("カートマンデートの取得")
    .normalise(|_, arguments| arguments::trimmed(arguments, "cart_id"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let stored = store::cart(sql, &input.cart_id)?.ok_or_else(errors::cart_not_found)?;
    open_carts::check_open(&stored, state.now(context))?;
    let cart: Cart = serde_json::from_str(&stored.cart).map_err(Error::internal)?;
    let format = match input.format {
        Some(format) => format,
        None => serde_json::from_value(stored.format.into()).map_err(Error::internal)?,
    };
    let kind = (format, stored.is_reserved);
    Output::new(state, context, &cart, kind, "", Vec::new())
}
