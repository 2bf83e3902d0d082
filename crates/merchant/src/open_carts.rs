//! Open carts: when one has ended, who may cancel it, and how many goods one caller may hold in them.
//!
//! All callers without a key are one caller. `store::lock_caller` serialises the
//! reservations of one caller, so the limits are exact under concurrent calls.

use kit::{Caller, Result, Sql, usage};

use crate::{
    errors,
    model::cart::Cart,
    state::CounterState,
    store::{self, HeldProduct, StoredCart},
};

/// How many lines the reserving carts of one caller may have on average: 20 carts
/// have at most 200 lines together.
const LINES_PER_CART: i64 = 10;

/// The cart, if the caller made it.
pub fn own_cart(sql: &mut dyn Sql, caller: &Caller, id: &str) -> Result<StoredCart> {
    let cart = store::cart(sql, id)?.ok_or_else(errors::cart_not_found)?;
    if cart.caller != *caller.id {
        return Err(errors::not_your_cart());
    }
    Ok(cart)
}

/// An error if the cart has ended.
pub fn check_open(cart: &StoredCart, now: i64) -> Result<()> {
    match cart {
        _ if cart.expires_at <= now => Err(errors::cart_expired()),
        _ if cart.is_cancelled => Err(errors::cart_cancelled()),
        _ => Ok(()),
    }
}

/// Refuses another cart with a reservation if the caller has reached the limit.
pub fn check_count(
    state: &CounterState,
    sql: &mut dyn Sql,
    caller: &Caller,
    now: i64,
) -> Result<()> {
    let open = store::reserving_carts(sql, &caller.id, now)?;
    let most = state.settings.max_reserving_carts.get() as usize;
    if open.len() < most {
        return Ok(());
    }
    // A cart's id opens it, address included, and callers without a key are strangers
    // to each other.
    let may_name = *caller != Caller::anonymous();
    Err(errors::too_many_carts(most, &open, may_name))
}

/// Refuses a cart with which the caller holds too much. Called after its reservation
/// is written.
pub fn check_share(
    state: &CounterState,
    sql: &mut dyn Sql,
    caller: &Caller,
    cart: &Cart,
    now: i64,
) -> Result<()> {
    let held = store::held_products(sql, &caller.id, now)?;
    let lines: i64 = held.iter().map(|held| held.carts).sum();
    let most = i64::from(state.settings.max_reserving_carts.get()) * LINES_PER_CART;
    if lines > most {
        return Err(errors::too_many_reserved_lines(lines, most));
    }
    let is_in_cart =
        |held: &&HeldProduct| (cart.lines.iter()).any(|line| line.product_id == held.product_id);
    let mostly_held: Vec<&HeldProduct> = held
        .iter()
        .filter(|held| held.quantity > held.stock / 2)
        .collect();
    // Products of other carts may only be scarce because the stock has shrunk.
    let scarce: Vec<&HeldProduct> = mostly_held.iter().copied().filter(is_in_cart).collect();
    let most = state.settings.max_mostly_reserved_products as usize;
    if scarce.is_empty() || mostly_held.len() <= most {
        return Ok(());
    }
    Err(errors::too_much_reserved(&scarce, mostly_held.len(), most))
}

/// Refuses a cart if too many of the caller's carts are kept, expired ones included.
pub fn check_kept(
    state: &CounterState,
    sql: &mut dyn Sql,
    caller: &Caller,
    bytes: usize,
    now: i64,
) -> Result<()> {
    let items = i64::from(state.settings.max_kept_carts.get());
    let bound = usage::Bound {
        subject: "carts",
        kept_ms: state.cart_ms() + store::REMEMBERED_MS,
        items,
    };
    let Err(exceeded) = bound.add(sql, &caller.id, bytes, now)? else {
        return Ok(());
    };
    Err(errors::too_many_kept_carts(items, exceeded.free_at))
}
