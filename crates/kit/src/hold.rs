//! Holds: rows that stop a kind of work until a person removes them, in every process
//! on the same store and across restarts.

use std::sync::Arc;

use crate::{
    error::Result,
    sql::{Budget, Migration, Migrations, Sql, Store},
};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "holds",
    steps: &[Migration {
        version: 1,
        name: "holds",
        sql: "CREATE TABLE holds (
            name TEXT PRIMARY KEY,
            since BIGINT NOT NULL,
            reason TEXT NOT NULL
        )",
    }],
};

/// While it exists, nothing is sent to the outside: no messages, no reminders, no
/// changes of calendars on other servers.
pub const OUTSIDE: &str = "outside";

/// The data was moved elsewhere. Nobody may open this copy of it; the reason says where
/// the data is.
pub const MOVED: &str = "moved";

/// Data is being moved into this store, and is not complete yet. Nobody may open it.
pub const ARRIVING: &str = "arriving";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// In milliseconds since 1970.
    pub since: i64,
    /// For people.
    pub reason: String,
}

pub fn find(sql: &mut dyn Sql, name: &str) -> Result<Option<Hold>> {
    let row = sql.query_one(
        "SELECT since, reason FROM holds WHERE name = $1",
        &[name.into()],
    )?;
    row.map(|row| {
        Ok(Hold {
            since: row.int(0)?,
            reason: row.text(1)?,
        })
    })
    .transpose()
}

/// [`find`] in a read of its own.
pub async fn of(store: &Arc<dyn Store>, name: &'static str) -> Result<Option<Hold>> {
    let found = move |sql: &mut dyn Sql| find(sql, name);
    store.query(Budget::default(), found).await
}

/// An older hold of the same name is replaced.
pub fn set(sql: &mut dyn Sql, name: &str, hold: &Hold) -> Result<()> {
    sql.execute(
        "INSERT INTO holds (name, since, reason) VALUES ($1, $2, $3) ON CONFLICT (name)
         DO UPDATE SET since = excluded.since, reason = excluded.reason",
        &[name.into(), hold.since.into(), (&hold.reason).into()],
    )?;
    Ok(())
}

/// Returns whether there was one.
pub fn release(sql: &mut dyn Sql, name: &str) -> Result<bool> {
    let released = sql.execute("DELETE FROM holds WHERE name = $1", &[name.into()])?;
    Ok(released == 1)
}
