//! The counter on real directories, driven without any wire.
//!
//! `yard` sets a project up; `defects` are the faults of the program this one
//! takes the place of; `seed` holds the tools against their document; the other
//! modules mirror what people and agents do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod adrs;
mod changes;
mod contexts;
mod crash;
mod defects;
mod files;
mod links;
mod numbers;
mod page;
mod processes;
mod refusals;
mod resources;
mod search;
mod seed;
mod tasks;
mod watching;
mod yard;
