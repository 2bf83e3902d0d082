//! `build_cart_mandates`: what is wanted, priced by the shop's own records.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kit::{Context, Effect, Error, Hints, Result, Run, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::arguments;
use crate::{
    model::{
        address::Address,
        cart::{Article, CartPlan, Warning, price_warnings},
        errors,
        formats::Format,
        mandate::{Cart, Merchant, PaymentMethod},
        money::Yen,
    },
    open_carts,
    shop::Shop,
    store::{self, NewCart, Product},
};

#[derive(Deserialize)]
pub struct Input {
    cart_plan: Value,
    products: Vec<Value>,
    #[serde(default)]
    shipping_address: Value,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    reserve: bool,
    replaces: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "cart_plan": {
                "type": "object",
                "description": "カートプラン（optimize_cartの結果）"
            },
            "products": {
                "type": "array",
                "items": { "type": "object" },
                "description": "商品情報リスト"
            },
            "shipping_address": {
                "type": "object",
                "description": "AP2準拠のContactAddress"
            },
            "format": {
                "type": "string",
                "enum": ["flat", "ap2-0.1"],
                "description": "ap2-0.1 for the published AP2 type",
                "default": "flat"
            },
            "reserve": {
                "type": "boolean",
                "description": "Keep the goods for this cart until it expires",
                "default": false
            },
            "replaces": {
                "type": "string",
                "description": "contents.id of a cart of yours that this one replaces; its goods are released for this one"
            },
            "idempotency_key": {
                "type": "string",
                "description": "Any text of your own; reuse it when you retry, and no second cart is made"
            }
        },
        "required": ["cart_plan", "products"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    cart_mandate: Map<String, Value>,
    /// Until when the cart can be looked up, and what is reserved is kept.
    expires_at: String,
    reserved: bool,
    /// Where what was passed differs from the shop's records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

impl Output {
    pub fn new(
        mandate: Value,
        cart: &Cart,
        reserved: bool,
        warnings: Vec<Warning>,
    ) -> Result<Self> {
        let Value::Object(cart_mandate) = mandate else {
            return Err(Error::internal("a mandate is no object"));
        };
        Ok(Self {
            cart_mandate,
            expires_at: cart.expires.to_string(),
            reserved,
            warnings,
        })
    }
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "build_cart_mandates",
        aliases: &[],
        title: "CartMandate構築 / Build a cart mandate",
        description: "AP2準拠のCartMandateを構築（未署名）",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: Hints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: Some("idempotency_key"),
        rules: &[],
        normalise: |_, arguments| {
            for name in ["cart_plan", "products", "shipping_address"] {
                arguments::json(arguments, name);
            }
            arguments::truth(arguments, "reserve");
            arguments::trimmed(arguments, "replaces");
        },
        meta: None,
        personal: &["shipping_address"],
        card: None,
        inner_calls: None,
        run: Run::transaction(shop, handle),
    }
}

fn handle(shop: &Shop, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let plan = CartPlan::parse(&input.cart_plan)?;
    let address = Address::parse(&input.shipping_address)?;
    let now = context.clock.now();
    // Models send "" for what they do not mean.
    let replaces = input.replaces.as_deref().filter(|id| !id.is_empty());
    if input.reserve || replaces.is_some() {
        store::lock_caller(sql, &context.caller.id)?;
    }
    if let Some(old) = replaces {
        // When the new cart fails, so does the transaction, and the old one stays.
        open_carts::own_cart(sql, &context.caller, old)?;
        store::cancel_cart(sql, old, now.as_millisecond())?;
    }
    let known = store::products(sql, &plan.product_ids(), now.as_millisecond())?;
    let articles: Vec<Article> = known.into_values().map(article).collect::<Result<_>>()?;
    let lines = plan.lines(&articles)?;
    let warnings = price_warnings(&input.products, &lines);
    let quote = shop.terms.quote(&lines)?;
    let lifetime = SignedDuration::from_millis(shop.cart_ms());
    let cart = Cart::new(merchant(shop), lines, quote, address, now, lifetime);
    if input.reserve {
        open_carts::check_count(shop, sql, &context.caller, now.as_millisecond())?;
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
    let now_ms = now.as_millisecond();
    if input.reserve {
        open_carts::check_share(shop, sql, &context.caller, &cart, now_ms)?;
    }
    open_carts::check_kept(shop, sql, &context.caller, kept.len(), now_ms)?;
    let mandate = cart.mandate(input.format, shop.signer.as_ref(), now)?;
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

fn merchant(shop: &Shop) -> Merchant {
    Merchant {
        id: shop.settings.merchant_id.clone(),
        name: shop.settings.merchant_name.clone(),
        payment_methods: vec![PaymentMethod::card()],
    }
}

/// Between looking at the stock and here another cart may have been quicker.
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
    Err(errors::insufficient_stock(&short))
}

/// As the arguments write it.
pub fn format_name(format: Format) -> String {
    match serde_json::to_value(format) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}
