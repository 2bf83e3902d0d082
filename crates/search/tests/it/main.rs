//! The public interface, on real directories and with several processes.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod bulk;
mod damage;
mod finding;
mod processes;
mod quality;
mod shop;
mod sorting;
