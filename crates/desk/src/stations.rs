//! The stations of the pipeline. `pipeline.rs` shows their order.

pub mod approve;
pub mod audit;
pub mod authorize;
pub mod identify;
pub mod inner;
pub mod limit;
pub mod run;
pub mod unknown;
pub mod validate;
