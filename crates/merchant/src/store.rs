//! The rows: one SQL text for both engines. `products` is the catalogue, `stock`
//! what may still be sold, `carts` what was quoted, `held` what one caller has
//! reserved, `changes` what a search engine has yet to learn, `synonyms` which words
//! mean the same.

mod carts;
mod change_numbers;
mod changes;
mod held;
mod products;
mod sql_text;
mod stock;
mod synonyms;

pub use carts::{
    NewCart, REMEMBERED_MS, StoredCart, cancel_cart, cart, drop_expired, release, save_cart,
};
pub use change_numbers::{catalogue_id, newest_change};
pub use changes::{Changed, changes_after, save_sync_position, sync_position};
pub use held::{HeldProduct, OpenCart, held_products, lock_caller, reserving_carts};
pub use products::{
    Filter, Order, Owner, Product, count, count_demo, is_empty, list, products, remove_demo, save,
    similar_skus, sku_owners,
};
pub use stock::{MOST_STOCK, inventory, reserve, set_stock};
pub use synonyms::{replace_synonyms, synonyms, synonyms_version};
