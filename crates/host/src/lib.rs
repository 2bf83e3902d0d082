//! The front desk: what happens around a call.
//!
//! Start with `pipeline.rs`, the stations every call passes. `transport/` brings
//! bytes in and out, `wire/` turns them into our words and back (the only place
//! that knows the protocol crate), `stations/` holds the work of the stations.

pub mod approvals;
pub mod audit;
pub mod background;
pub mod console;
pub mod desk;
pub mod events;
pub mod keys;
pub mod ledger;
pub mod log;
pub mod methods;
pub mod metrics;
pub mod pipeline;
pub mod private;
pub mod settings;
pub mod state;
pub mod stations;
pub mod transport;
pub mod wire;

pub use desk::Desk;
pub use settings::Settings;
