//! The pages, each in a file of its own.

pub mod agents;
pub mod approval;
pub mod approvals;
pub mod audit;
pub mod connect;
pub mod counter;
pub mod health;
pub mod keys;
pub mod overview;
pub mod policies;
pub mod record;
pub mod settings;
pub mod tools;
