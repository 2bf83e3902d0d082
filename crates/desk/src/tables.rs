//! The tables that every database has, whatever counters it serves.

use kit::sql::Migrations;

use crate::{audit, ledger};

pub const TABLES: [Migrations; 5] = [
    ledger::MIGRATIONS,
    audit::MIGRATIONS,
    kit::lease::MIGRATIONS,
    kit::usage::MIGRATIONS,
    kit::hold::MIGRATIONS,
];
