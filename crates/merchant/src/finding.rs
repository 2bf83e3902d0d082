//! Which products a search means: Meilisearch answers when it is configured and
//! reachable, the embedded index otherwise.
//!
//! `finder` asks them; `candidates` is what they answer. `embedded` keeps our own
//! index in step with the database, `meilisearch_feed` does the same for Meilisearch.
//! `remote` sends searches to Meilisearch through the client in `meilisearch`,
//! and `breaker` spares callers a server that is down.

mod breaker;
mod candidates;
mod embedded;
mod finder;
mod index_work;
mod meilisearch;
mod meilisearch_feed;
mod remote;
mod sync_state;

pub use candidates::{Engine, Unavailable};
pub use finder::Finder;
