//! Rows of rooms.

use kit::{Result, Row, Sql, text};

use super::tables::count;
use crate::{
    errors,
    model::{names::RoomName, owners::KeyRef},
    store::rooms::Listed,
};

macro_rules! room_columns {
    () => {
        "id, name, description, created_at, creator, first_number, log_number, next_number, \
         bytes, archive_bytes, next_entry"
    };
}

pub struct RoomRow {
    pub id: i64,
    pub listed: Listed,
    pub creator: Option<KeyRef>,
    /// The number of the oldest message that is there,
    pub first: i64,
    /// of the oldest that is not archived,
    pub log: i64,
    /// and of the next one that is sent.
    pub next: i64,
    pub bytes: i64,
    pub archive_bytes: i64,
    /// Of the member that enters next.
    pub next_entry: i64,
}

impl RoomRow {
    fn read(row: &Row) -> Result<Self> {
        let creator = row.opt_text(4)?;
        Ok(Self {
            id: row.int(0)?,
            listed: Listed {
                name: RoomName::parse(&row.text(1)?)?,
                description: row.opt_text(2)?,
                created_at: row.text(3)?,
            },
            // One that can't be understood is a key that nobody has.
            creator: creator.map(|json| serde_json::from_str(&json).unwrap_or_default()),
            first: row.int(5)?,
            log: row.int(6)?,
            next: row.int(7)?,
            bytes: row.int(8)?,
            archive_bytes: row.int(9)?,
            next_entry: row.int(10)?,
        })
    }

    pub fn name(&self) -> &RoomName {
        &self.listed.name
    }

    /// How many messages it has.
    pub fn messages(&self) -> usize {
        count(self.next - self.first)
    }
}

/// All rooms, oldest first.
pub fn rooms(sql: &mut dyn Sql) -> Result<Vec<RoomRow>> {
    let all = concat!("SELECT ", room_columns!(), " FROM rooms_rooms ORDER BY id");
    let rows = sql.query(all, &[])?;
    rows.iter().map(RoomRow::read).collect()
}

/// One room, or an error if there is no such room.
pub fn room(sql: &mut dyn Sql, name: &RoomName) -> Result<RoomRow> {
    let one = concat!(
        "SELECT ",
        room_columns!(),
        " FROM rooms_rooms WHERE name = $1"
    );
    match sql.query_one(one, &[name.as_str().into()])? {
        Some(row) => RoomRow::read(&row),
        None => Err(not_found(sql, name)?),
    }
}

/// The same, locked until the transaction ends: nobody else sends a message to it, enters
/// it or clears it meanwhile.
pub fn lock_room(sql: &mut dyn Sql, name: &RoomName) -> Result<RoomRow> {
    let lock = concat!(
        "UPDATE rooms_rooms SET next_entry = next_entry WHERE name = $1 RETURNING ",
        room_columns!()
    );
    match sql.query_one(lock, &[name.as_str().into()])? {
        Some(row) => RoomRow::read(&row),
        None => Err(not_found(sql, name)?),
    }
}

pub fn not_found(sql: &mut dyn Sql, name: &RoomName) -> Result<kit::Error> {
    let rows = sql.query("SELECT name FROM rooms_rooms ORDER BY id", &[])?;
    let names: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
    let nearest = text::nearest(name.as_str(), names.iter().map(String::as_str));
    Ok(errors::room_not_found(name.as_str(), nearest))
}
