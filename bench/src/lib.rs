//! What the benchmark programs share.
//!
//! A comparison: [`contestants`] says who takes part, [`server`] starts one and
//! reads what it costs ([`process`]), [`load`] calls it over [`http`] with the
//! requests of [`wire`], and [`figures`] turns measurements into tables.
//! [`session`] speaks to a stdio server; [`project`] and [`room_logs`] write what
//! servers find on their disk.

pub mod connections;
pub mod contestants;
pub mod figures;
pub mod http;
pub mod instructions;
pub mod load;
pub mod options;
pub mod places;
pub mod process;
pub mod project;
pub mod room_logs;
pub mod server;
pub mod session;
pub mod starts;
pub mod stdio;
pub mod wire;
