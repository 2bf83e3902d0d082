//! The front desk: what happens to a call, whichever way it came.
//!
//! Start with `pipeline.rs`, the stations that every call passes, in order;
//! `stations/` holds the work of each. Nothing here knows HTTP, a protocol
//! revision or a connection: that is the crate `server`.

pub mod approvals;
pub mod audit;
pub mod background;
mod desk;
pub mod digest;
pub mod events;
pub mod keys;
pub mod language;
pub mod ledger;
pub mod log;
pub mod methods;
pub mod metrics;
mod panics;
pub mod pipeline;
pub mod private;
pub mod settings;
pub mod state;
pub mod stations;
mod watch;
pub mod window;

pub use desk::Desk;
pub use settings::Settings;
pub use window::{Found, PreparedTool, Window};
