//! The files of rooms, for `backup` and `move`.

use kit::Result;
use rooms::{FrozenRooms, RoomFile, RoomFileContent, Settings};

use super::registration::{FolderFiles, FrozenFolder, typed};
use crate::archive::{Content, Part};

pub const FILES: FolderFiles = FolderFiles {
    freeze,
    is_served: |settings| Ok(rooms::is_served(&typed("rooms", settings)?)),
    to_database: |settings, store, replaces_old_copy| {
        Box::pin(async move {
            let settings = typed("rooms", settings)?;
            let moved = rooms::copy_to_database(&settings, store, replaces_old_copy).await?;
            Ok([moved.rooms, moved.messages])
        })
    },
    to_files: |settings, store| {
        Box::pin(async move {
            let moved = rooms::copy_to_files(store, &typed("rooms", settings)?).await?;
            Ok([moved.rooms, moved.messages])
        })
    },
    is_database_empty: |store| {
        Box::pin(async move { Ok(rooms::rooms_in_database(&store).await? == 0) })
    },
};

fn freeze(settings: toml::Table) -> Result<Option<FrozenFolder>> {
    let settings: Settings = typed("rooms", settings)?;
    let Some(frozen) = FrozenRooms::new(&settings)? else {
        return Ok(None);
    };
    let parts = frozen.files()?.into_iter().map(part).collect();
    Ok(Some(FrozenFolder {
        parts,
        lock: Box::new(frozen),
    }))
}

fn part(file: RoomFile) -> Part {
    let name = format!("rooms/{}", file.name);
    match file.content {
        RoomFileContent::Bytes(bytes) => Part::bytes(name, bytes),
        RoomFileContent::Log(file, length) => Part::new(name, length, Content::File(file)),
    }
}
