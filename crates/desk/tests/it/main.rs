//! The desk on a real database, driven without any transport.
//!
//! `office` sets one up and calls it; `counter` is the counter that it serves; `client`
//! is what a client can do during a call. The other modules are named after what
//! happens to a call.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod admitting;
mod approving;
mod arguments;
mod client;
mod counter;
mod deciding;
mod keys;
mod office;
mod prompting;
mod reading;
mod recording;
mod repeating;
mod rights;
mod running;
mod shelves;
mod trail;
mod watching;
