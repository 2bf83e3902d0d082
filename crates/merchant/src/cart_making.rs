//! Prices a cart by the shop's records, and stores it with its reservation.

use jiff::{SignedDuration, Timestamp};
use kit::{Context, Error, Result, Sql, context::Change};
use serde_json::Value;

use crate::{
    empty_shop,
    model::{
        address::Address,
        cart::{Article, Cart, Merchant, PaymentMethod},
        errors::insufficient_stock,
        formats::Format,
        money::Yen,
        plan::CartPlan,
        wishes,
    },
    open_carts,
    state::CounterState,
    store::{self, NewCart, Product},
};

/// Reads the address of a cart; `None` if it is empty.
pub fn address(given: &Value) -> Result<Option<Address>> {
    wishes::check_address(given)?;
    let address = Address::parse(given)?;
    address.iter().try_for_each(Address::check_deliverable)?;
    Ok(address)
}

/// The cart with the names, prices, shipping and tax of now.
pub fn quote(
    state: &CounterState,
    sql: &mut dyn Sql,
    plan: &CartPlan,
    address: Option<Address>,
    now: Timestamp,
) -> Result<Cart> {
    let known = store::products(sql, &plan.product_ids(), now.as_millisecond())?;
    let articles: Vec<Article> = known.into_values().map(article).collect::<Result<_>>()?;
    let lines = match plan.lines(&articles) {
        Err(error) if articles.is_empty() => return Err(empty_shop::explain(sql, error)?),
        lines => lines?,
    };
    let quote = state.terms.quote(&lines)?;
    let lifetime = SignedDuration::from_millis(state.cart_ms());
    let merchant = Merchant {
        id: state.settings.merchant_id.clone(),
        name: state.settings.merchant_name.clone(),
        payment_methods: vec![PaymentMethod::card()],
    };
    Ok(Cart::new(merchant, lines, quote, address, now, lifetime))
}

/// Reserves the goods if wanted and stores the cart, in place of one with the same id.
/// Checks what one caller may hold.
pub fn keep(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    cart: &Cart,
    format: Format,
    reserve: bool,
) -> Result<()> {
    let now = context.clock.now().as_millisecond();
    if reserve {
        let wanted = cart.lines.iter();
        let lines: Vec<(i64, i64)> = wanted
            .map(|line| (line.product_id, line.quantity))
            .collect();
        let until = cart.expires.as_millisecond();
        let short = store::reserve(sql, &cart.id, &lines, now, until)?;
        if !short.is_empty() {
            return Err(insufficient_stock(&short));
        }
    }
    let kept = serde_json::to_string(cart).map_err(Error::internal)?;
    store::save_cart(
        sql,
        &NewCart {
            id: &cart.id,
            cart: &kept,
            format: format.name(),
            is_reserved: reserve,
            caller: &context.caller.id,
            created_at: cart.created.as_millisecond(),
            expires_at: cart.expires.as_millisecond(),
        },
    )?;
    context.changed(Change::Page);
    if reserve {
        open_carts::check_share(state, sql, &context.caller, cart, now)?;
    }
    open_carts::check_kept(state, sql, &context.caller, kept.len(), now)
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
