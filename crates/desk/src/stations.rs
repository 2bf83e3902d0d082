//! The stations of the pipeline. `pipeline.rs` shows their order.

pub mod approve;
pub(crate) mod audit;
pub mod authorize;
pub mod identify;
pub(crate) mod inner_calls;
pub(crate) mod limit;
pub(crate) mod run;
pub(crate) mod unknown_arguments;
pub(crate) mod validate;
