//! `update_cart`: another quantity, another address, or a reservation for a cart that
//! exists.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Error, Handler, Hints, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    arguments,
    cart_input::{self, NewQuantityShape},
    cart_output::Output,
};
use crate::{
    cart_making, errors,
    model::{
        address::Address,
        cart::Cart,
        plan::{CartPlan, NewQuantities},
        price_warnings::price_changes,
        wishes,
    },
    open_carts,
    state::CounterState,
    store::{self, StoredCart},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [example()]))]
pub struct Input {
    /// contents.id of a cart of yours
    cart_id: String,
    /// New quantities; 0 removes, products not named stay
    #[serde(default)]
    #[schemars(with = "Vec<NewQuantityShape>")]
    items: Vec<Value>,
    /// Replaces the address; fields as in build_cart_mandates
    #[schemars(with = "Option<Map<String, Value>>")]
    shipping_address: Option<Value>,
    /// true keeps the goods until the cart expires, false releases them
    reserve: Option<bool>,
}

fn example() -> Value {
    json!({ "cart_id": "cart_abc123", "items": [{ "product_id": 1, "quantity": 3 }] })
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_cart",
            title: "カート変更 / Update a cart",
            description: "Change quantities, address or reservation of a cart of yours; it keeps \
                its id and is priced anew. カートの数量・住所・取り置きを変更",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("カート変更")
    .rules(errors::CART_RULES)
    .explain_unknown(|argument| wishes::refusal(argument).map(errors::cart_unchanged))
    .normalise(|_, arguments| {
        for name in ["items", "shipping_address"] {
            arguments::json(arguments, name);
        }
        cart_input::drop_open_wishes(arguments);
        cart_input::normalise_items(arguments.get_mut("items"));
        cart_input::normalise_address(arguments);
        arguments::truth(arguments, "reserve");
        arguments::trimmed(arguments, "cart_id");
    })
    .personal(&["shipping_address"])
    .implied_tools(|_| &["build_cart_mandates"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let now = context.clock.now().as_millisecond();
    store::lock_caller(sql, &context.caller.id)?;
    let stored = open_carts::own_cart(sql, &context.caller, &input.cart_id)?;
    open_carts::check_open(&stored, now)?;
    change(state, context, sql, &input, stored).map_err(errors::cart_unchanged)
}

fn change(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
    stored: StoredCart,
) -> Result<Output> {
    let mut warnings = wishes::check_items(&input.items)?;
    let quantities = NewQuantities::parse(&input.items)?;
    let now = context.clock.now();
    let old: Cart = serde_json::from_str(&stored.cart).map_err(Error::internal)?;
    let format = serde_json::from_value(stored.format.into()).map_err(Error::internal)?;
    let address = match &input.shipping_address {
        // Not silently no address any more.
        Some(given) => match cart_making::address(given)? {
            None => return Err(errors::empty_address()),
            address => address,
        },
        None => old.address.clone(),
    };
    warnings.extend(address.iter().flat_map(Address::warnings));
    let reserve = input.reserve.unwrap_or(stored.is_reserved);
    let plan = CartPlan::changed(&old.lines, &quantities)?;
    let is_same = plan.is_of(&old.lines) && address == old.address && reserve == stored.is_reserved;
    if is_same {
        let said = match context.language {
            Language::English => "Nothing changed: the cart is already like this. ",
            Language::Japanese => "変更はありません。カートはすでにこの内容です。",
        };
        return Output::new(state, context, &old, (format, reserve), said, warnings);
    }
    // The new lines may have what the old ones held.
    store::release(sql, &old.id)?;
    if reserve && !stored.is_reserved {
        open_carts::check_count(state, sql, &context.caller, now.as_millisecond())?;
    }
    let mut cart = cart_making::quote(state, sql, &plan, address, now)?;
    cart.id.clone_from(&old.id);
    warnings.extend(price_changes(&old.lines, &cart.lines));
    cart_making::keep(state, context, sql, &cart, format, reserve)?;
    let said = match context.language {
        Language::English => "The cart is changed. ",
        Language::Japanese => "カートを変更しました。",
    };
    Output::new(state, context, &cart, (format, reserve), said, warnings)
}
