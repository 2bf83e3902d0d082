//! The counter on real databases of both engines, driven without any wire.
//!
//! `assistant` sets one up; `seed` holds it against its document; the other
//! modules mirror what people do there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod assistant;
mod bounds;
mod calendar;
mod contacts;
mod messages;
mod reminders;
mod resources;
mod seed;
