//! The index from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod quality;
