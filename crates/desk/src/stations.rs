//! The stations of the pipeline. `pipeline.rs` shows their order.

pub mod approve;
pub mod audit;
pub mod authorize;
pub mod identify;
pub mod inner_calls;
pub mod limit;
pub mod run;
pub mod unknown_arguments;
pub mod validate;
