//! The counter's tools, one file each: input, output, description, handler.

mod arguments;
pub mod build_cart_mandates;
pub mod cancel_cart;
mod cart_input;
mod cart_output;
pub mod check_inventory;
pub mod get_cart_mandate;
pub mod get_product;
pub mod search_products;
pub mod update_cart;
pub mod update_inventory;
