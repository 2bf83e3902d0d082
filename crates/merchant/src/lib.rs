//! The merchant counter: products, stock and cart mandates.

pub mod model;
