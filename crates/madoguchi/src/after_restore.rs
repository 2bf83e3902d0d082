//! What happens to the rows of a restored installation before anybody uses it.
//!
//! The rows are of an earlier moment. Messages in them may have been sent since, and
//! whatever a person approved then may have been done since. So everything that goes to
//! the outside is held, and approvals lapse.

use std::{path::Path, sync::Arc};

use desk::{
    approvals,
    keys::{self, StoredKey},
};
use kit::{
    Error, Result, Sql, Store,
    hold::{self, Hold},
    sql::Budget,
    time::Clock,
};
use store::{Database, Options, url::DatabaseUrl};

use crate::{
    open,
    own_state::{Databases, open_store},
    table_owners,
};

#[derive(Debug)]
pub struct Restored {
    /// How many approvals waited, or were given and not used.
    pub lapsed: u64,
    /// The keys that are valid.
    pub keys: Vec<StoredKey>,
}

/// Refuses rows that a newer version wrote. Call it on a copy: it adds the table of holds.
pub async fn check_version(database: &Path) -> Result<()> {
    let url = DatabaseUrl::Sqlite(database.to_owned());
    let opened = Database::open(&url, Options::default()).await?;
    let store: Arc<dyn Store> = Arc::new(opened.clone());
    let checked = async {
        // Makes the tables that are read next, if an older version never did.
        store.migrate(hold::MIGRATIONS).await?;
        store.query(Budget::default(), table_owners::too_new).await
    };
    let too_new = checked.await;
    opened.close().await?;
    match too_new? {
        None => Ok(()),
        Some(owner) => Err(Error::new(
            "BACKUP_TOO_NEW",
            format!(
                "The data of `{owner}` in this backup was written by a newer version of Madoguchi. \
                 Nothing was restored."
            ),
        )
        .next("Restore it with that version or a later one.")),
    }
}

/// `moment` is that of the backup, for people.
pub async fn prepare(database: &Path, moment: &str) -> Result<Restored> {
    let databases = Databases::default();
    let url = DatabaseUrl::Sqlite(database.to_owned());
    let store = open_store(&url, Options::default(), &databases).await?;
    let now = Clock::system().now().as_millisecond();
    let reason = format!("restored from a backup of {moment}");
    let hold = Hold { since: now, reason };
    let work = move |sql: &mut dyn Sql| {
        hold::set(sql, hold::OUTSIDE, &hold)?;
        // Links to the console, and the leases of processes that have ended.
        sql.execute("DELETE FROM desk_links", &[])?;
        sql.execute("DELETE FROM leases", &[])?;
        let mut keys = keys::all(sql)?;
        keys.retain(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now));
        Ok(Restored {
            lapsed: approvals::lapse_all(sql, now)?,
            keys,
        })
    };
    let restored = store.transaction(Budget::default(), work).await;
    drop(store);
    open::close(&databases).await?;
    restored
}
