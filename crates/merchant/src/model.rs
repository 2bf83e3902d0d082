//! What a shop knows about money, carts and mandates, without asking anybody.
//!
//! A mandate comes to be in five steps: [`cart::CartPlan::parse`] reads what the
//! agent wants, [`cart::CartPlan::lines`] puts the shop's own names and prices to
//! it, [`terms::Terms::quote`] adds shipping and tax, [`mandate::Cart::new`] makes
//! a cart of it that can be kept, and [`mandate::Cart::mandate`] writes that down
//! in one of the [`formats`], signed or not. [`cart::price_warnings`] says where
//! the prices the agent had in mind are not the shop's.

pub mod address;
pub mod canonical;
pub mod cart;
pub mod errors;
pub mod formats;
pub mod mandate;
pub mod money;
pub mod signing;
pub mod terms;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
