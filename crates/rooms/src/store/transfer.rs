//! Copies all rooms from files to a database and back: ids, times, order, archive, members,
//! read positions, and who holds which name. Nobody may use either side meanwhile.

use std::sync::Arc;

use kit::{Error, Result, Store, sql::Budget};

use super::{
    files::{self, RoomFiles},
    sql,
};
use crate::Settings;
pub use moved::MovedRooms;

pub mod moved;

/// Copies the rooms of the files to the database, which must have none, unless they are
/// an old copy that these replace. Either all of them are there then, or none.
pub async fn copy_to_database(
    settings: &Settings,
    database: Arc<dyn Store>,
    replaces_old_copy: bool,
) -> Result<MovedRooms> {
    let settings = settings.clone();
    let copied = database.transaction(Budget::default(), move |sql| {
        if replaces_old_copy {
            sql::clear(sql)?;
        }
        sql::import(sql, &RoomFiles::new(settings.clone()))
    });
    copied.await
}

/// How many rooms the database has.
pub async fn rooms_in_database(database: &Arc<dyn Store>) -> Result<usize> {
    database.query(Budget::default(), sql::count_rooms).await
}

/// Copies the rooms of the database to files, which must not exist yet. They appear at once,
/// when all of them are written.
pub async fn copy_to_files(database: Arc<dyn Store>, settings: &Settings) -> Result<MovedRooms> {
    if files::copy::exists(settings) {
        let message = format!(
            "There are rooms in {} already.",
            settings.data_dir.display()
        );
        return Err(Error::new("TARGET_NOT_EMPTY", message).next("Name an empty directory."));
    }
    let files = RoomFiles::new(settings.clone());
    let copied = database.query(Budget::default(), move |sql| {
        let new = files.begin()?;
        Ok((sql::export(sql, &new)?, new))
    });
    let (moved, new) = copied.await?;
    new.finish()?;
    Ok(moved)
}
