//! The owners of tables, and which versions of them this program knows.

use std::sync::Arc;

use desk::tables::TABLES;
use kit::{Result, Sql, Store, sql::Budget, sql::Migrations};

use crate::counters;

/// The owners of all tables that this program knows.
pub fn known() -> Vec<Migrations> {
    let counters = counters::all().iter().chain(counters::fixture());
    let counters = counters.filter_map(|counter| counter.migrations);
    TABLES.into_iter().chain(counters).collect()
}

/// Whether the tables are the engine's own, or those of a counter that keeps files on the
/// other engine.
pub fn is_of_one_engine(owner: &str) -> bool {
    let mut counters = counters::all().iter();
    let is_files = counters.any(|counter| {
        let moves = counter.on_postgres;
        moves.is_some_and(|moves| moves.migrations.owner == owner)
    });
    is_files || ["announcements", "store"].contains(&owner)
}

/// The owners of the tables in a store.
pub async fn in_store(store: &Arc<dyn Store>) -> Result<Vec<String>> {
    let owners = |sql: &mut dyn Sql| {
        let rows = sql.query("SELECT DISTINCT owner FROM madoguchi_migrations", &[])?;
        rows.iter().map(|row| row.text(0)).collect()
    };
    store.query(Budget::default(), owners).await
}

/// The first owner of tables that this program can't use, because a newer version made or
/// changed them.
pub fn too_new(sql: &mut dyn Sql) -> Result<Option<String>> {
    let rows = sql.query(
        "SELECT m.owner, MAX(m.version), MAX(c.oldest) FROM madoguchi_migrations m
         LEFT JOIN madoguchi_compatibility c ON c.owner = m.owner GROUP BY m.owner",
        &[],
    )?;
    let known = known();
    for row in rows {
        let (owner, newest) = (row.text(0)?, row.int(1)?);
        // Steps that are not known are allowed if they say which step is needed.
        let needed = row.opt_int(2)?.unwrap_or(newest);
        let steps = known.iter().find(|it| it.owner == owner);
        let steps = steps.map(|it| it.steps.iter().map(|step| step.version).max());
        let is_fine = match steps {
            Some(ours) => needed <= ours.unwrap_or(0),
            None => is_of_one_engine(&owner),
        };
        if !is_fine {
            return Ok(Some(owner));
        }
    }
    Ok(None)
}
