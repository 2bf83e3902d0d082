//! From PostgreSQL into a data directory.

use std::{path::Path, sync::Arc};

use desk::{
    audit::{self, AuditLocation, AuditStore},
    state::DeskState,
};
use kit::{
    Error, Result, Sql, Store,
    hold::{self, Hold},
    sql::Budget,
    time::Clock,
};
use store::{Database, Options, url::DatabaseUrl};
use tokio::runtime::Handle;

use super::{folder::Folder, outcome::MovedData, rows, same_tables, tables};
use crate::{
    marks::{self, MOVED_FILES, Marked},
    new_installation::{NewInstallation, Places},
    own_state::SECRET,
    progress::Progress,
};

/// `state` is that of the source, and no desk runs on it.
pub async fn to_directory(
    state: &Arc<DeskState>,
    to: &Path,
    folder: &Folder,
    progress: &Arc<Progress>,
) -> Result<MovedData> {
    let source = Arc::clone(&state.get().await?.store);
    let to = std::path::absolute(to).map_err(Error::internal)?;
    let trail = AuditLocation::Table(Arc::clone(state)).open()?;
    refuse_live(&trail).await?;
    if !folder.stays {
        marks::check_tables(&source).await?;
    }
    let incoming = NewInstallation::begin(Places::in_directory(&to), true)?;
    let path = incoming.path("madoguchi.db");
    let target = Database::open(&DatabaseUrl::Sqlite(path), Options::default()).await?;
    let store: Arc<dyn Store> = Arc::new(target.clone());
    let copied = copy(&source, &store, progress).await;
    target.close().await?;
    let (tables, rows, secret) = copied?;
    if let Some(secret) = secret {
        incoming.write(SECRET, &mut format!("{secret}\n").as_bytes())?;
    }
    let audit = incoming.path("audit");
    let audit_records = audit::blocking(&trail, move |trail, _| {
        audit::into_files(trail, &audit, audit::UNWATCHED)
    });
    let mut moved = MovedData {
        to: to.display().to_string(),
        tables,
        rows,
        audit_records: audit_records.await?,
        ..MovedData::default()
    };
    if !folder.stays {
        let directory = incoming.path("rooms/rooms.json");
        let directory = directory.parent().unwrap_or(Path::new("."));
        folder.copy_to_files(&source, directory, &mut moved).await?;
    }
    refuse_live(&trail).await?;
    let placed = incoming.place()?;
    let hold = Hold {
        since: Clock::system().now().as_millisecond(),
        reason: moved.to.clone(),
    };
    let mark = move |sql: &mut dyn Sql| hold::set(sql, hold::MOVED, &hold);
    source.transaction(Budget::default(), mark).await?;
    placed.finish()?;
    Ok(moved)
}

/// Refuses a trail that another process writes to.
async fn refuse_live(trail: &Arc<dyn AuditStore>) -> Result<()> {
    let live = audit::blocking(trail, |trail, _| {
        for segment in trail.unsealed()? {
            if trail.is_live(&segment)? {
                return Ok(true);
            }
        }
        Ok(false)
    });
    match live.await? {
        false => Ok(()),
        true => Err(Error::new(
            "DATA_IN_USE",
            "Another program uses this database, or used it within the last 15 seconds.",
        )
        .next("Stop all desks and clients, wait a moment, and try again. Nothing was moved.")),
    }
}

/// Lets a move begin anew that was interrupted at its very end: the source is marked, and
/// nobody could use the directory yet.
pub async fn unmark_interrupted(source: &DatabaseUrl, options: Options, to: &Path) -> Result<()> {
    let to = std::path::absolute(to).map_err(Error::internal)?;
    if !Marked::Database(&Places::in_directory(&to).database)
        .restoring()
        .exists()
    {
        return Ok(());
    }
    let database = Database::open(source, options).await?;
    let store: Arc<dyn Store> = Arc::new(database.clone());
    store.migrate(hold::MIGRATIONS).await?;
    let place = to.display().to_string();
    let release = move |sql: &mut dyn Sql| {
        let moved = hold::find(sql, hold::MOVED)?;
        match moved.is_some_and(|moved| moved.reason == place) {
            true => hold::release(sql, hold::MOVED).map(drop),
            false => Ok(()),
        }
    };
    let released = store.transaction(Budget::default(), release).await;
    database.close().await?;
    released
}

/// Returns how many tables and rows there are, and the secret.
async fn copy(
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    progress: &Arc<Progress>,
) -> Result<(usize, u64, Option<String>)> {
    same_tables::migrate(source, target).await?;
    let listed = target.query(Budget::default(), tables::of_sqlite).await?;
    let there = source.query(Budget::default(), tables::of_postgres).await?;
    tables::check_equal(&listed, &there)?;
    let secret = |sql: &mut dyn Sql| {
        let row = sql.query_one("SELECT value FROM desk_secrets WHERE name = 'desk'", &[])?;
        row.map(|row| row.text(0)).transpose()
    };
    let secret = source.query(Budget::default(), secret).await?;
    let listed = Arc::new(listed);
    let (runtime, from, progress) = (Handle::current(), Arc::clone(source), Arc::clone(progress));
    let tables = Arc::clone(&listed);
    let fill = move |sql: &mut dyn Sql| {
        let rows = rows::copy(sql, &from, &tables, &runtime, &progress)?;
        // It speaks of tables that files replace.
        hold::release(sql, MOVED_FILES)?;
        Ok(rows)
    };
    let rows = target.transaction(Budget::default(), fill).await?;
    Ok((listed.len(), rows, secret))
}
