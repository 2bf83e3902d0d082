//! Money, carts and mandates, without any I/O.
//!
//! A mandate is made in five steps: [`plan::CartPlan::parse`] reads what the agent
//! wants, [`plan::CartPlan::lines`] adds the shop's own names and prices,
//! [`terms::Terms::quote`] adds shipping and tax, [`cart::Cart::new`] makes a cart
//! that can be stored, and [`cart::Cart::mandate`] writes it in one of the
//! [`formats`], signed or not. [`price_warnings`] reports where the agent's prices
//! differ from the shop's.

pub mod address;
pub mod canonical;
pub mod cart;
pub mod decimal;
pub mod errors;
pub mod formats;
pub mod limits;
pub mod mandate;
pub mod money;
pub mod plan;
pub mod price_warnings;
pub mod signing;
pub mod synonyms;
pub mod terms;
pub mod wishes;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod testing;
