//! The counter on real directories, driven without any wire.
//!
//! `desk` sets one up; `seed` holds it against its document; `processes` and
//! `crash` start this very binary again as other processes on the same
//! directory (`worker`), `original` as the server that was there before; the
//! other modules mirror what people do there. `on_sql` runs those again on a database.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod bounds;
mod console_page;
mod copying;
mod crash;
mod damage;
mod database;
mod desk;
mod faults;
mod files;
mod foreign_locks;
mod guidance;
mod hostile;
mod members;
mod messages;
mod on_sql;
mod original;
mod owners;
mod paging;
mod processes;
mod resources;
mod seed;
mod waiting;
mod worker;
