//! The counter on real directories, driven without any wire.
//!
//! `project` sets up a project; `defects` covers faults of the program that
//! this one replaces; `seed` compares the tools with their document; the other
//! modules mirror what people and agents do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod adrs;
mod answers;
mod changes;
mod console_page;
mod contexts;
mod crash;
mod defects;
mod files;
mod index_page;
mod links;
mod numbers;

mod processes;
mod project;
mod refusals;
mod resources;
mod search;
mod seed;
mod tasks;
mod undo;
mod watching;
