//! `build_cart_mandates`: a cart, priced by the shop's own records.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    arguments,
    cart_input::{self, AddressShape, CartPlanShape, ProductShape},
    cart_output::Output,
};
use crate::{
    cart_making, errors,
    model::{
        address::Address, formats::Format, plan::CartPlan, price_warnings::price_warnings, wishes,
    },
    open_carts,
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [example()]))]
pub struct Input {
    /// What to buy. カートプラン
    #[schemars(with = "CartPlanShape")]
    cart_plan: Value,
    /// Only compared with the shop's prices; may be left out. 商品情報リスト
    #[schemars(with = "Vec<ProductShape>")]
    products: Vec<Value>,
    /// AP2準拠のContactAddress; snake_case works too
    #[serde(default)]
    #[schemars(with = "AddressShape")]
    shipping_address: Value,
    /// ap2-0.1: the published AP2 type
    #[serde(default)]
    format: Format,
    /// Keep the goods for this cart until it expires
    #[serde(default)]
    reserve: bool,
    /// A cart_id of yours; its goods are released for this one
    replaces: Option<String>,
    /// Any text; repeat it when you retry, and no second cart is made
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

fn example() -> Value {
    json!({
        "cart_plan": { "items": [{ "product_id": 1, "quantity": 2 }] },
        "products": [],
        "shipping_address": {
            "recipient": "山田太郎", "postalCode": "150-0001", "country": "JP",
            "region": "東京都", "city": "渋谷区", "addressLine": ["神宮前1-2-3"],
        },
    })
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "build_cart_mandates",
            title: "CartMandate構築 / Build a cart mandate",
            description: "Build an unsigned AP2 CartMandate with the shop's prices, shipping and \
                tax; charges nothing, and takes no coupons, wrapping or delivery dates. \
                AP2準拠のCartMandateを構築（未署名）",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("カートマンデートの作成")
    .idempotency_key("idempotency_key")
    .rules(errors::CART_RULES)
    .explain_unknown(|argument| wishes::refusal(argument).map(errors::no_cart_made))
    .normalise(|_, arguments| {
        for name in ["cart_plan", "products", "shipping_address"] {
            arguments::json(arguments, name);
        }
        cart_input::drop_open_wishes(arguments);
        cart_input::normalise_plan(arguments);
        cart_input::normalise_address(arguments);
        arguments::truth(arguments, "reserve");
        arguments::trimmed(arguments, "replaces");
    })
    .personal(&["shipping_address"])
    .implied_tools(|arguments| match arguments.contains_key("replaces") {
        true => &["cancel_cart"],
        false => &[],
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    build(state, context, sql, &input).map_err(errors::no_cart_made)
}

fn build(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<Output> {
    let mut warnings = wishes::check(&input.cart_plan)?;
    let plan = CartPlan::parse(&input.cart_plan)?;
    let address = cart_making::address(&input.shipping_address)?;
    warnings.extend(address.iter().flat_map(Address::warnings));
    let now = context.clock.now();
    let now_ms = now.as_millisecond();
    let replaces = input.replaces.as_deref();
    if input.reserve || replaces.is_some() {
        store::lock_caller(sql, &context.caller.id)?;
    }
    if let Some(old) = replaces {
        // If the new cart is refused, the transaction fails and the old cart stays.
        open_carts::own_cart(sql, &context.caller, old)?;
        store::cancel_cart(sql, old, now_ms)?;
    }
    let cart = cart_making::quote(state, sql, &plan, address, now)?;
    warnings.extend(price_warnings(&input.products, &cart.lines));
    if input.reserve {
        open_carts::check_count(state, sql, &context.caller, now_ms)?;
    }
    cart_making::keep(state, context, sql, &cart, input.format, input.reserve)?;
    let said = match (replaces, context.language) {
        (None, _) => "",
        (Some(_), Language::English) => "The old cart is cancelled, and its goods are released. ",
        (Some(_), Language::Japanese) => "前のカートを取り消し、商品を解放しました。",
    };
    let kind = (input.format, input.reserve);
    Output::new(state, context, &cart, kind, said, warnings)
}
