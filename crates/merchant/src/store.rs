//! The rows: one SQL text for both engines. `products` is the catalogue, `stock` what
//! may still be sold, `carts` what was quoted, `caller_reservations` what one caller has
//! reserved, `changes` what a search engine has yet to learn, `synonyms` which words mean
//! the same.

mod caller_reservations;
mod carts;
mod change_numbers;
mod changes;
mod products;
mod sql_text;
mod stock;
mod synonyms;

pub use caller_reservations::{HeldProduct, OpenCart, held_products, lock_caller, reserving_carts};
pub use carts::{
    ListedCart, NewCart, REMEMBERED_MS, StoredCart, cancel_cart, cart, drop_expired, listed_carts,
    release, save_cart,
};
pub use change_numbers::{catalogue_id, newest_change};
pub use changes::{Changed, changes_after, save_sync_position, sync_position};
pub use products::{
    Filter, Order, Owner, Product, count, count_demo, is_empty, list, products, remove_demo, save,
    similar_skus, sku_owners,
};
pub use stock::{
    LoggedChange, MOST_STOCK, inventory, reserve, set_stock, stock_changes, whole_stock,
};
pub use synonyms::{replace_synonyms, synonyms, synonyms_version};
