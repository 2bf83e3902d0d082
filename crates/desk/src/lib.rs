//! The front desk: what happens to a call, on every transport.
//!
//! Start with `pipeline.rs`, which shows the stations that every call passes, in
//! order. `stations/` has the work of each. HTTP, protocol revisions and connections
//! belong to the crate `server`.

mod answer_cache;
pub mod approvals;
pub mod audit;
pub mod background;
pub mod clients;
mod desk;
mod desk_act;
pub mod digest;
pub mod events;
pub mod key_change;
pub mod keys;
pub mod language;
pub mod ledger;
pub mod log;
pub mod methods;
pub mod metrics;
mod nearest_tool;
pub mod notices;
mod panics;
pub mod pipeline;
pub mod policies;
pub mod policy_change;
pub mod private_files;
mod requests;
mod served_counter;
pub mod settings;
pub mod state;
pub mod stations;
pub mod tables;
pub mod trace;
pub mod views;
pub mod watch;

pub use audit::acts::DESK;
pub use desk::Desk;
pub use served_counter::{FoundTool, PreparedTool, ServedCounter};
pub use settings::Settings;
