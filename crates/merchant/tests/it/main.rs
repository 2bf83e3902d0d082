//! The counter on real databases of both engines, driven without any wire.
//!
//! `shop` sets one up; `seed` compares it with its document; the other modules are
//! named after what people do there.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod carts;
mod changing_carts;
mod console_page;
mod holding;
mod importing;
mod index;
mod meilisearch;
#[cfg(target_arch = "x86_64")]
mod meilisearch_real;
mod meilisearch_server;
mod meilisearch_trouble;
mod meilisearch_wire;
mod searching;
mod seed;
mod shop;
mod stock;
mod wishes;
