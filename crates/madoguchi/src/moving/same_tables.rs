//! Brings source and target to the same version of the same tables.

use std::sync::Arc;

use kit::{Error, Result, Store};

use crate::{counters, table_owners};

/// Migrates the tables of the source, and makes the same tables in the target.
pub async fn migrate(source: &Arc<dyn Store>, target: &Arc<dyn Store>) -> Result<()> {
    let there = table_owners::in_store(source).await?;
    let known = table_owners::known();
    let is_known = |owner: &&String| known.iter().any(|it| it.owner == **owner);
    let mut others = there.iter().filter(|owner| !is_known(owner));
    if let Some(owner) = others.find(|owner| !table_owners::is_of_one_engine(owner)) {
        return Err(Error::new(
            "UNKNOWN_DATA",
            format!("The database has tables of `{owner}`, which this program does not know."),
        )
        .next("Use the version of Madoguchi that wrote them."));
    }
    for migrations in known {
        // The desk's own tables are always there.
        let is_own = counters::all().iter().all(|it| it.name != migrations.owner);
        if there.iter().any(|owner| owner == migrations.owner) || is_own {
            source.migrate(migrations).await?;
            target.migrate(migrations).await?;
        }
    }
    Ok(())
}
