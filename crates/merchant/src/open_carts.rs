//! Open carts: who may end one, and how many goods one caller may hold in them.
//!
//! All callers without a key are one caller. Reservations of one caller change
//! one after the other (`store::lock_caller`), so the bounds are exact however
//! many calls come at once.

use kit::{Caller, Result, Sql, usage};

use crate::{
    errors,
    model::mandate::Cart,
    shop::Shop,
    store::{self, Held, StoredCart},
};

/// How many products the reserving carts of one caller may have on average: 20
/// carts hold at most 200 lines, whatever their number in a single cart.
const LINES_PER_CART: i64 = 10;

/// The cart, if the caller made it.
pub fn own_cart(sql: &mut dyn Sql, caller: &Caller, id: &str) -> Result<StoredCart> {
    let cart = store::cart(sql, id)?.ok_or_else(errors::cart_not_found)?;
    if cart.caller != *caller.id {
        return Err(errors::not_your_cart());
    }
    Ok(cart)
}

/// Refuses one more cart with a reservation when the caller has as many as it may.
pub fn check_count(shop: &Shop, sql: &mut dyn Sql, caller: &Caller, now: i64) -> Result<()> {
    let open = store::reserving_carts(sql, &caller.id, now)?;
    let most = shop.settings.max_reserving_carts.get() as usize;
    if open.len() < most {
        return Ok(());
    }
    // Whoever knows a cart's id sees the address in it, and callers without a
    // key are strangers to each other.
    let may_name = *caller != Caller::anonymous();
    Err(errors::too_many_carts(most, &open, may_name))
}

/// Refuses a cart whose reservation is written when the caller holds too much with it.
pub fn check_share(
    shop: &Shop,
    sql: &mut dyn Sql,
    caller: &Caller,
    cart: &Cart,
    now: i64,
) -> Result<()> {
    let held = store::held_products(sql, &caller.id, now)?;
    let lines: i64 = held.iter().map(|held| held.carts).sum();
    let most = i64::from(shop.settings.max_reserving_carts.get()) * LINES_PER_CART;
    if lines > most {
        return Err(errors::too_many_reserved_lines(lines, most));
    }
    let is_in_cart =
        |held: &&Held| (cart.lines.iter()).any(|line| line.product_id == held.product_id);
    let mostly_held: Vec<&Held> = held
        .iter()
        .filter(|held| held.quantity > held.stock / 2)
        .collect();
    // Those in other carts can have got there because the stock shrank.
    let scarce: Vec<&Held> = mostly_held.iter().copied().filter(is_in_cart).collect();
    let most = shop.settings.max_mostly_reserved_products as usize;
    if scarce.is_empty() || mostly_held.len() <= most {
        return Ok(());
    }
    Err(errors::too_much_reserved(&scarce, mostly_held.len(), most))
}

/// Refuses a cart when as many of the caller's carts as may be are kept already,
/// ended ones included.
pub fn check_kept(
    shop: &Shop,
    sql: &mut dyn Sql,
    caller: &Caller,
    bytes: usize,
    now: i64,
) -> Result<()> {
    let items = i64::from(shop.settings.max_kept_carts.get());
    let bound = usage::Bound {
        subject: "carts",
        kept_ms: shop.cart_ms() + store::REMEMBERED_MS,
        items,
    };
    let Err(exceeded) = bound.add(sql, &caller.id, bytes, now)? else {
        return Ok(());
    };
    Err(errors::too_many_kept_carts(items, exceeded.free_at))
}
