//! The front desk: what happens to a call, on every transport.
//!
//! Start with `pipeline.rs`, which shows the stations that every call passes, in
//! order. `stations/` has the work of each. HTTP, protocol revisions and connections
//! belong to the crate `server`.

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
mod nearest_tool;
mod panics;
pub mod pipeline;
pub mod private_files;
mod requests;
pub mod settings;
pub mod state;
pub mod stations;
pub mod trace;
pub mod watch;
pub mod window;

pub use desk::Desk;
pub use settings::Settings;
pub use window::{FoundTool, PreparedTool, Window};
