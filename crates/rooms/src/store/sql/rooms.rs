//! Rooms: listing, creating and removing them, and their figures.

use std::collections::HashMap;

use kit::{Error, Result, Sql};

use super::{
    members::{LifeRow, light_members},
    names,
    reading::{READING_COLUMNS, Reading, reading_columns},
    rows::{self, RoomRow},
    tables::{Tables, count, lock_all},
};
use crate::{
    errors,
    model::{
        members::Status,
        message::written,
        names::{RoomName, check_newcomer},
        owners::Actor,
    },
    store::{
        call::Call,
        rooms::{Listed, NewRoom, RoomList, RoomStatus, RoomSummary, StatusReport},
    },
};

pub fn listed(sql: &mut dyn Sql) -> Result<Vec<Listed>> {
    let rooms = rows::rooms(sql)?;
    Ok(rooms.into_iter().map(|room| room.listed).collect())
}

impl Tables {
    pub fn list_rooms(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        agent: Option<&str>,
    ) -> Result<RoomList> {
        if let Some(agent) = agent {
            names::may_use(sql, &call.actor, agent)?;
        }
        let all = rows::rooms(sql)?;
        let members = "SELECT room, COUNT(*) FROM rooms_members WHERE is_member = 1 GROUP BY room";
        let members = sql.query(members, &[])?;
        let pair = |row: &kit::Row| Ok((row.int(0)?, count(row.int(1)?)));
        let users: HashMap<i64, usize> = members.iter().map(pair).collect::<Result<_>>()?;
        let readings = match agent {
            Some(agent) => readings(sql, agent)?,
            None => HashMap::new(),
        };
        let total = all.len();
        let rooms = all.into_iter().filter_map(|room| {
            let unread = readings.get(&room.id);
            if agent.is_some() && unread.is_none() {
                return None;
            }
            Some(RoomSummary {
                users: users.get(&room.id).copied().unwrap_or_default(),
                messages: room.messages(),
                unread: unread.map(|reading| reading.unread(room.first, room.next)),
                listed: room.listed,
            })
        });
        Ok(RoomList {
            rooms: rooms.collect(),
            total,
            warnings: Vec::new(),
        })
    }

    pub fn status(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        only: Option<&RoomName>,
    ) -> Result<StatusReport> {
        let rooms = match only {
            Some(name) => vec![rows::room(sql, name)?],
            None => rows::rooms(sql)?,
        };
        let only = only.and(rooms.first()).map(|room| room.id);
        let mut online: HashMap<i64, Vec<String>> = HashMap::new();
        for LifeRow { room, name, life } in light_members(sql, only)? {
            if self.status_of(&life, call.now()) == Status::Online {
                online.entry(room).or_default().push(name);
            }
        }
        let status = |room: RoomRow| RoomStatus {
            online: online.remove(&room.id).unwrap_or_default(),
            messages: room.messages(),
            bytes: u64::try_from(room.bytes).unwrap_or_default(),
            damage: Vec::new(),
            name: room.listed.name,
        };
        Ok(StatusReport {
            rooms: rooms.into_iter().map(status).collect(),
            damage: Vec::new(),
            unreadable: Vec::new(),
        })
    }

    pub fn create_room(&self, sql: &mut dyn Sql, call: &Call, new: &NewRoom) -> Result<()> {
        if let Some(agent) = &new.agent {
            check_newcomer(agent)?;
            names::may_use(sql, &call.actor, agent)?;
        }
        let id = lock_all(sql)?;
        let name = new.name.as_str();
        let there = "SELECT COUNT(*), COUNT(CASE WHEN name = $1 THEN 1 END) FROM rooms_rooms";
        let there = sql.query_one(there, &[name.into()])?;
        let (all, same) = match &there {
            Some(row) => (count(row.int(0)?), row.int(1)?),
            None => (0, 0),
        };
        if same > 0 {
            return Err(errors::room_already_exists(name));
        }
        let most = self.settings.max_rooms.get();
        if all >= most as usize {
            return Err(errors::room_limit_exceeded(most));
        }
        let creator = match &call.actor {
            Actor::Key(key) => Some(serde_json::to_string(key).map_err(Error::internal)?),
            Actor::Local | Actor::Keyless => None,
        };
        sql.execute(
            "INSERT INTO rooms_rooms (id, name, description, created_at, creator, first_number,
                 log_number, next_number, bytes, archive_bytes, next_entry, other, presence_other)
             VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, 0, '{}', '{}')",
            &[
                id.into(),
                name.into(),
                new.description.as_deref().into(),
                (&written(call.now())).into(),
                creator.as_deref().into(),
            ],
        )?;
        match &new.agent {
            Some(agent) => {
                let newcomer = (&new.name, agent.as_str());
                self.enter(sql, call, newcomer, None).map(drop)
            }
            None => Ok(()),
        }
    }

    /// Removes a room and everything in it; returns how many messages went.
    pub fn delete_room(&self, sql: &mut dyn Sql, call: &Call, name: &RoomName) -> Result<usize> {
        lock_all(sql)?;
        let room = rows::lock_room(sql, name)?;
        may_remove(call, &room)?;
        for remove in [
            "DELETE FROM rooms_mentions WHERE room = $1",
            "DELETE FROM rooms_messages WHERE room = $1",
            "DELETE FROM rooms_members WHERE room = $1",
            "DELETE FROM rooms_rooms WHERE id = $1",
        ] {
            sql.execute(remove, &[room.id.into()])?;
        }
        Ok(room.messages())
    }

    /// Removes all messages of a room; returns how many.
    pub fn clear_room(&self, sql: &mut dyn Sql, call: &Call, name: &RoomName) -> Result<usize> {
        let room = rows::lock_room(sql, name)?;
        may_remove(call, &room)?;
        for remove in [
            "DELETE FROM rooms_mentions WHERE room = $1",
            "DELETE FROM rooms_messages WHERE room = $1",
            "UPDATE rooms_rooms SET first_number = next_number, log_number = next_number,
                 bytes = 0, archive_bytes = 0 WHERE id = $1",
        ] {
            sql.execute(remove, &[room.id.into()])?;
        }
        Ok(room.messages())
    }
}

/// An error unless the caller may delete or clear a room.
fn may_remove(call: &Call, room: &RoomRow) -> Result<()> {
    match call.key_names_tool || call.actor.may_remove(room.creator.as_ref()) {
        true => Ok(()),
        false => Err(errors::room_of_another_key(room.name().as_str())),
    }
}

/// How far an agent has read in each room that it is in.
fn readings(sql: &mut dyn Sql, agent: &str) -> Result<HashMap<i64, Reading>> {
    let readings = concat!(
        "SELECT ",
        reading_columns!(),
        ", m.room FROM rooms_members m WHERE m.agent = $1 AND m.is_member = 1"
    );
    let rows = sql.query(readings, &[agent.into()])?;
    rows.iter()
        .map(|row| Ok((row.int(READING_COLUMNS)?, Reading::read(row, 0)?)))
        .collect()
}

/// Whether `agent` ever entered a room or said something.
pub fn is_known(sql: &mut dyn Sql, agent: &str) -> Result<bool> {
    let known = "SELECT 1 FROM rooms_agents WHERE agent = $1
         UNION ALL SELECT 1 FROM rooms_members WHERE agent = $1
         UNION ALL SELECT 1 FROM rooms_messages WHERE agent = $1 LIMIT 1";
    Ok(sql.query_one(known, &[agent.into()])?.is_some())
}
