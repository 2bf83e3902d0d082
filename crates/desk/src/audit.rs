//! The audit trail: a chain of records for each process, called a segment.
//!
//! From the bottom up: `record.rs` is what a record looks like, `entry.rs` what is
//! recorded, `redact.rs` what is kept of arguments, `chain.rs` how one record hangs
//! on the other; `files.rs` and `table.rs` are where segments are kept (`store.rs`
//! is what both can do); `queue.rs` and `writer.rs` are how records get there
//! without calls waiting for each other; `complete.rs` is what is done after a
//! crash, `retain.rs` how old segments go; `verify.rs`, `look.rs` and `erase.rs` are
//! behind the commands, `erasures.rs` is what the trail says was erased.

mod chain;
mod complete;
pub mod entry;
mod erase;
mod erasures;
mod files;
mod location;
mod look;
pub mod queue;
pub mod record;
pub mod redact;
mod retain;
mod runs;
mod selection;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod threads;
mod trail;
mod verify;
mod writer;

pub use complete::{Rows, complete};
pub use erase::{erase, finish_erasures};
pub use location::Place;
pub use look::{Filter, Found, find, find_new};
pub use retain::drop_old;
pub use selection::Which;
pub use store::Shelf;
pub use threads::blocking;
pub use trail::Trail;
pub use verify::{Report, verify};
