//! The tables.

use kit::sql::{Migration, Migrations};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "rooms",
    steps: &[Migration {
        version: 1,
        name: "rooms, messages, members, names",
        sql: include_str!("../../../migrations/0001.sql"),
    }],
};
