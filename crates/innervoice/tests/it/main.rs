//! The counter on real databases of both engines, driven without any wire.
//!
//! `assistant` sets one up; `seed` compares it with its specification; the other
//! modules follow what people do with it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod assistant;
mod bounds;
mod calendar;
mod console_page;
mod contacts;
mod exceptions;
mod free_slots;
mod messages;
mod reminders;
mod resources;
mod seed;
mod series;
mod spoken_times;
