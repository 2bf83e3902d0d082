//! How rooms are kept. [`RoomStore`] says what the tools ask for, each in one call.
//!
//! - `files` keeps rooms in the seed's files, shared by the processes of one machine.
//! - `sql` keeps them in the tables of a database, shared by desks on any number of
//!   machines.
//!
//! The other modules are what both speak of: `call` who asks, `rooms` what is answered
//! about rooms and members, `messages`, `searching` and `waiting` the same for messages.

mod call;
mod files;
mod messages;
mod room_store;
mod rooms;
mod searching;
mod sql;
mod transfer;
mod waiting;

use std::sync::Arc;

use kit::{Result, Store};

pub use call::Call;
pub use files::copy::{FrozenRooms, RoomFile, RoomFileContent, exists, is_served};
pub use messages::{MessageRef, Page, Pick, Start, UnknownMention};
pub use room_store::RoomStore;
pub use rooms::{Entrance, Inside, Listed, Member, NewRoom, RoomSummary};
pub use searching::{Search, SearchCursor, SearchHits};
pub use sql::MIGRATIONS;
pub use transfer::{MovedRooms, copy_to_database, copy_to_files, rooms_in_database};
pub use waiting::{AllWaiting, LookedUpTo, News, WaitFilter, Wakeups};

use crate::{Settings, errors};

/// The store of the rooms: the database, or the files if there is none. Nothing is
/// opened before it is used.
pub fn open(settings: &Settings, database: Option<Arc<dyn Store>>) -> Arc<dyn RoomStore> {
    match database {
        Some(database) => Arc::new(sql::SqlRooms::new(settings.clone(), database)),
        None => Arc::new(files::FileRooms::new(settings.clone())),
    }
}

/// An error if the files hold rooms and the database holds none: somebody would look for
/// them in vain.
pub async fn refuse_left_files(settings: &Settings, database: Arc<dyn Store>) -> Result<()> {
    let files = files::FileRooms::new(settings.clone());
    // Files that can't be read may hold rooms as well.
    let left = files.rooms(kit::sql::Budget::default()).await;
    if left.is_ok_and(|rooms| rooms.is_empty()) {
        return Ok(());
    }
    let tables = sql::SqlRooms::new(settings.clone(), database);
    match tables.rooms(kit::sql::Budget::default()).await?.is_empty() {
        true => Err(errors::rooms_left_in_files(&settings.data_dir)),
        false => Ok(()),
    }
}
