//! What a shop knows about money and carts, without asking anybody.
//!
//! A cart comes to be in four steps: [`cart::CartPlan::parse`] reads what the
//! agent wants, [`cart::CartPlan::lines`] puts the shop's own names and prices
//! to it, [`terms::Terms::quote`] adds shipping and tax, and the result is
//! rendered as a mandate. [`cart::price_warnings`] says where the prices the
//! agent had in mind are not the shop's.

pub mod cart;
pub mod errors;
pub mod money;
pub mod terms;
