//! The counter on real databases of both engines, driven without any wire.
//!
//! `cinema` sets one up; `seed` compares it with its document; the other modules
//! are named after what people do there.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod booking;
mod changing;
mod cinema;
mod concurrency;
mod demo;
mod disk;
mod exporting;
mod finding;
mod holding;
mod holds;
mod importing;
mod prices;
mod programme;
mod resources;
mod searching;
mod seed;
mod tickets;
mod waiting;
