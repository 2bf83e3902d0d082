//! `build_cart_mandates`: a cart, priced by the shop's own records.

mod shapes;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kit::{Context, Definition, Effect, Error, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments;
use crate::{
    empty_shop, errors,
    model::{
        address::Address,
        cart::{Article, Cart, Merchant, PaymentMethod},
        errors::insufficient_stock,
        formats::Format,
        money::Yen,
        plan::CartPlan,
        price_warnings::{PriceWarning, price_warnings},
    },
    open_carts,
    state::CounterState,
    store::{self, NewCart, Product},
};
use shapes::{AddressShape, CartPlanShape, ProductShape};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// カートプラン（optimize_cartの結果）
    #[schemars(with = "CartPlanShape")]
    cart_plan: Value,
    /// 商品情報リスト
    #[schemars(with = "Vec<ProductShape>")]
    products: Vec<Value>,
    /// AP2準拠のContactAddress
    #[serde(default)]
    #[schemars(with = "AddressShape")]
    shipping_address: Value,
    /// ap2-0.1 for the published AP2 type
    #[serde(default)]
    format: Format,
    /// Keep the goods for this cart until it expires
    #[serde(default)]
    reserve: bool,
    /// contents.id of a cart of yours that this one replaces; its goods are released for this one
    replaces: Option<String>,
    /// Any text of your own; reuse it when you retry, and no second cart is made
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    cart_mandate: Map<String, Value>,
    /// Until when the cart can be looked up, and what is reserved is kept.
    expires_at: String,
    reserved: bool,
    /// Where what was passed differs from the shop's records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<PriceWarning>,
}

impl Output {
    pub fn new(
        mandate: Value,
        cart: &Cart,
        reserved: bool,
        warnings: Vec<PriceWarning>,
    ) -> Result<Self> {
        let Value::Object(cart_mandate) = mandate else {
            return Err(Error::internal("a mandate is not an object"));
        };
        Ok(Self {
            cart_mandate,
            expires_at: cart.expires.to_string(),
            reserved,
            warnings,
        })
    }
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "build_cart_mandates",
            title: "CartMandate構築 / Build a cart mandate",
            description: "AP2準拠のCartMandateを構築（未署名）",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .idempotency_key("idempotency_key")
    .rules(&[errors::CART_PLAN_TYPE, errors::ADDRESS_SHAPE])
    .normalise(|_, arguments| {
        for name in ["cart_plan", "products", "shipping_address"] {
            arguments::json(arguments, name);
        }
        shapes::normalise(arguments);
        arguments::truth(arguments, "reserve");
        arguments::trimmed(arguments, "replaces");
    })
    .personal(&["shipping_address"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let plan = CartPlan::parse(&input.cart_plan)?;
    let address = Address::parse(&input.shipping_address)?;
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
    let known = store::products(sql, &plan.product_ids(), now_ms)?;
    let articles: Vec<Article> = known.into_values().map(article).collect::<Result<_>>()?;
    let lines = match plan.lines(&articles) {
        Err(error) if articles.is_empty() => return Err(empty_shop::explain(sql, error)?),
        lines => lines?,
    };
    let warnings = price_warnings(&input.products, &lines);
    let quote = state.terms.quote(&lines)?;
    let lifetime = SignedDuration::from_millis(state.cart_ms());
    let cart = Cart::new(merchant(state), lines, quote, address, now, lifetime);
    if input.reserve {
        open_carts::check_count(state, sql, &context.caller, now_ms)?;
        reserve(sql, &cart, now)?;
    }
    let kept = serde_json::to_string(&cart).map_err(Error::internal)?;
    let format = format_name(input.format);
    store::save_cart(
        sql,
        &NewCart {
            id: &cart.id,
            cart: &kept,
            format: &format,
            is_reserved: input.reserve,
            caller: &context.caller.id,
            created_at: cart.created.as_millisecond(),
            expires_at: cart.expires.as_millisecond(),
        },
    )?;
    if input.reserve {
        open_carts::check_share(state, sql, &context.caller, &cart, now_ms)?;
    }
    open_carts::check_kept(state, sql, &context.caller, kept.len(), now_ms)?;
    let mandate = cart.mandate(input.format, state.signer.as_ref(), now)?;
    Output::new(mandate, &cart, input.reserve, warnings)
}

fn article(product: Product) -> Result<Article> {
    Ok(Article {
        id: product.id,
        price: Yen::new(product.price_yen).map_err(Error::internal)?,
        available: product.stock,
        refund_days: product
            .refund_period_days
            .try_into()
            .map_err(Error::internal)?,
        sku: product.sku,
        name: product.name,
    })
}

fn merchant(state: &CounterState) -> Merchant {
    Merchant {
        id: state.settings.merchant_id.clone(),
        name: state.settings.merchant_name.clone(),
        payment_methods: vec![PaymentMethod::card()],
    }
}

/// Refuses the cart if another one has reserved the goods since the stock was read.
fn reserve(sql: &mut dyn Sql, cart: &Cart, now: Timestamp) -> Result<()> {
    let lines: Vec<(i64, i64)> = cart
        .lines
        .iter()
        .map(|line| (line.product_id, line.quantity))
        .collect();
    let (now, until) = (now.as_millisecond(), cart.expires.as_millisecond());
    let short = store::reserve(sql, &cart.id, &lines, now, until)?;
    if short.is_empty() {
        return Ok(());
    }
    Err(insufficient_stock(&short))
}

/// As the arguments write it.
pub fn format_name(format: Format) -> String {
    match serde_json::to_value(format) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}
