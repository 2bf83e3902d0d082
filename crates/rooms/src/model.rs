//! The types and rules of the counter, without I/O.

pub mod agents;
pub mod answer_size;
pub mod forgiving;
pub mod members;
pub mod mentions;
pub mod message;
pub mod names;
pub mod owners;
pub mod query;
pub mod reads;
pub mod registry;
pub mod remember;
pub mod uris;
