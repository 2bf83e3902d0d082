//! The audit trail. Each process writes its own chain of records, called a
//! segment.
//!
//! From the bottom up:
//!
//! | file | content |
//! |---|---|
//! | `record.rs` | a record as one line of JSON |
//! | `entry.rs`, `redact.rs` | what is recorded, and how much of the arguments |
//! | `chain.rs` | how each record refers to the one before |
//! | `store.rs` | what a store of segments can do; `files.rs` and `table.rs` are the two stores |
//! | `queue.rs`, `writer.rs` | how records are written without calls waiting for each other |
//! | `trail.rs` | this process's part of the trail |
//! | `recover.rs`, `retain.rs` | completing the trail after a crash; dropping old segments |
//! | `verify.rs`, `search.rs`, `erase.rs` | the work of the `audit` commands |

mod chain;
pub mod entry;
mod erase;
mod erasure_scope;
mod erasures;
mod files;
mod location;
mod progress;
pub mod queue;
mod ranges;
pub mod record;
mod recover;
pub mod redact;
mod retain;
mod search;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod threads;
mod trail;
mod verify;
mod writer;

pub use erase::{erase, finish_erasures};
pub use erasure_scope::ErasureScope;
pub use location::AuditLocation;
pub use progress::{TrailProgress, UNWATCHED, Watch};
pub use recover::{CounterStore, recover};
pub use retain::drop_old;
pub use search::{Filter, FoundRecord, find, find_new};
pub use store::AuditStore;
pub use threads::blocking;
pub use trail::Trail;
pub use verify::{Report, verify};
