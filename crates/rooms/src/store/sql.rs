//! Rooms in the tables of a database, which any number of desks share.
//!
//! - Messages of a room have numbers without gaps. Whoever sends locks the room's row
//!   first, so that a message is visible before any with a higher number is written.
//! - `room_store` implements [`RoomStore`](super::RoomStore): each method is one job on
//!   the database, which `sql_rooms` runs.
//! - `tables` and `rows` are what all work begins with; `rooms`, `members`, `names`,
//!   `pages`, `search` and `news` do what the tools ask for; `batch` writes messages, and
//!   `send` collects them.
//! - `wake` tells waiting calls and other desks what changed. No answer depends on it:
//!   waiting calls also look from time to time.
//!
//! The SQL text is one for both engines; see `kit::sql`.

mod agent_in_room;
mod batch;
mod heartbeat;
mod insert;
mod members;
mod names;
mod news;
mod pages;
mod presence;
mod reading;
mod room_store;
mod rooms;
mod rounds;
mod rows;
mod schema;
mod search;
mod send;
mod sql_rooms;
mod tables;
mod transfer;
mod waiting_calls;
mod wake;

pub use schema::MIGRATIONS;
pub use sql_rooms::SqlRooms;
pub use transfer::{clear, count_rooms, export, import};
