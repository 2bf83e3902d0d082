//! The rows: one SQL text for both engines. `products` is the catalogue,
//! `stock` what may still be sold, `carts` what was quoted, `held` what one caller
//! has reserved, `changes` what a search engine has yet to learn.

mod carts;
mod changes;
mod held;
mod products;
mod stock;

pub use carts::{NewCart, REMEMBERED_MS, StoredCart, cancel_cart, cart, drop_expired, save_cart};
pub use changes::{
    Changed, catalogue_id, changes_after, newest_change, save_sync_position, sync_position,
};
pub use held::{Held, OpenCart, held_products, lock_caller, reserving_carts};
pub use products::{
    Filter, Order, Product, Save, count, is_empty, list, products, remove_demo, save, sku_owners,
};
pub use stock::{MOST_STOCK, inventory, reserve, set_stock};

/// Rows of one multi-row `INSERT`: far below what either engine allows.
pub const CHUNK: usize = 200;

/// `$first, $first+1, …` for a list of `count` values.
fn placeholders(first: usize, count: usize) -> String {
    let numbers: Vec<String> = (first..first + count).map(|n| format!("${n}")).collect();
    numbers.join(", ")
}
