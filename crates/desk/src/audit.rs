//! The audit trail. Each process writes its own chain of records, called a
//! segment.
//!
//! From the bottom up:
//!
//! | file | content |
//! |---|---|
//! | `record.rs`, `json_text.rs` | a record as one line of JSON |
//! | `entry.rs`, `redact.rs` | what is recorded, and how much of the arguments |
//! | `acts.rs` | what people do at the desk itself |
//! | `chain.rs` | how each record refers to the one before |
//! | `store.rs` | what a store of segments can do; `files.rs` and `table.rs` are the two stores |
//! | `queue.rs`, `writer.rs` | how records are written without calls waiting for each other |
//! | `trail.rs` | this process's part of the trail |
//! | `recover.rs`, `retain.rs` | completing the trail after a crash; dropping segments |
//! | `trail_head.rs`, `signed_head.rs` | the head of the whole trail, to be stored elsewhere |
//! | `space.rs` | how long the disk will suffice |
//! | `verify.rs`, `search.rs`, `tool_filter.rs`, `erase.rs` | the work of the `audit` commands |
//! | `copy.rs`, `transfer.rs` | for a backup; from one store into the other |
//! | `pages.rs`, `activity.rs` | a page of records, and the last hour, for the console |

mod activity;
pub mod acts;
mod chain;
mod copy;
pub(crate) mod entry;
mod erase;
mod erasure_scope;
mod erasures;
mod files;
mod json_text;
mod location;
mod pages;
mod position;
mod progress;
pub(crate) mod queue;
mod ranges;
pub(crate) mod record;
mod recover;
pub(crate) mod redact;
mod retain;
mod search;
mod signed_head;
mod space;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod threads;
mod tool_filter;
mod trail;
mod trail_head;
mod transfer;
mod verify;
mod writer;

pub use activity::{Activity, CounterActivity, MINUTES, RecentActivity};
pub use copy::{AuditFile, TrailCopy, copy};
pub use erase::{erase, finish_erasures};
pub use erasure_scope::ErasureScope;
pub use location::AuditLocation;
pub use pages::{TrailPage, page, record};
pub use position::Position;
pub use progress::{TrailProgress, UNWATCHED, Watch};
pub use recover::{CounterStore, recover};
pub use retain::{drop_excess, drop_old};
pub use search::{Filter, FoundRecord, find, find_new};
pub use signed_head::{HeadKey, PublicHeadKey, StoredHead, parse_heads};
pub use space::Space;
pub use store::AuditStore;
pub use table::MIGRATIONS;
pub use threads::blocking;
pub use tool_filter::ToolFilter;
pub use trail::Trail;
pub use trail_head::TrailHead;
pub use transfer::{into_files, into_table};
pub use verify::{Report, verify, verify_against};
