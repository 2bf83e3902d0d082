//! Drives a counter without any wire. Validation and transports belong to the desk
//! and are tested there.
//!
//! With the feature `testing`, [`Harness`] also holds every call against the
//! tool's schemas. It is meant for the tests of every counter.

#[cfg(feature = "testing")]
mod harness;
mod run;
#[cfg(feature = "testing")]
mod small_disk;

#[cfg(feature = "testing")]
pub use harness::{Harness, details, normalised};
pub use run::call;
#[cfg(feature = "testing")]
pub use small_disk::SmallDisk;
