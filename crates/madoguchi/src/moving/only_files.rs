//! Moves nothing but the files of a counter, to a PostgreSQL that has all the rest, and
//! back.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Error, Result, Sql, Store, hold, sql::Budget};

use super::{folder::Folder, outcome::MovedData};
use crate::marks::{self, MOVED_FILES};

/// `to` is the address of the store, without a password.
pub async fn files_to_postgres(
    folder: &Folder,
    store: &Arc<dyn Store>,
    to: String,
) -> Result<MovedData> {
    let Some(_lock) = folder.lock()? else {
        return Err(Error::new(
            "NOTHING_TO_MOVE",
            format!(
                "There are no rooms: {} does not exist.",
                folder.path.display()
            ),
        )
        .next("Name their directory with AGENT_COMM_DATA_DIR, [rooms] data_dir or --data DIR."));
    };
    // They may have come from these tables, which still have an old copy then.
    let came_from = hold::of(store, MOVED_FILES).await?;
    if let Some(moved) = &came_from
        && real(Path::new(&moved.reason)) != real(&folder.path)
    {
        return Err(marks::tables_moved(moved));
    }
    let mut moved = MovedData {
        to,
        ..MovedData::default()
    };
    let copied = folder.copy_to_database(store, came_from.is_some(), &mut moved);
    copied.await?;
    folder.set_moved(&moved.to)?;
    let release = |sql: &mut dyn Sql| hold::release(sql, MOVED_FILES);
    store.transaction(Budget::default(), release).await?;
    Ok(moved)
}

/// No desk runs on the store.
pub async fn postgres_to_files(
    folder: &Folder,
    store: &Arc<dyn Store>,
    to: &Path,
) -> Result<MovedData> {
    marks::check_tables(store).await?;
    if folder.has_no_tables(store).await? {
        return Err(
            Error::new("NOTHING_TO_MOVE", "There are no rooms in the database.").next(
                "They are in files if AGENT_COMM_DATA_DIR or [rooms] data_dir names a \
                     directory.",
            ),
        );
    }
    let to = std::path::absolute(to).map_err(Error::internal)?;
    let mut moved = MovedData {
        to: to.display().to_string(),
        ..MovedData::default()
    };
    folder.copy_to_files(store, &to, &mut moved).await?;
    folder.set_tables_moved(store, &moved.to).await?;
    Ok(moved)
}

/// One path for each directory, whatever links lead to it.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
