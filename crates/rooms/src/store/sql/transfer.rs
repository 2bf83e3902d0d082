//! Reads rooms out of the tables, and writes them into empty ones.

use std::collections::HashMap;

use jiff::Timestamp;
use kit::{Error, Param, Result, Row, Sql};
use serde_json::{Map, Value};

use super::{
    insert::{NewMessage, insert_messages},
    names, pages, rows,
    tables::{count, lock_all, number},
};
use crate::{
    errors,
    model::{
        members::{Status, User},
        message::MessageLine,
        reads::ReadStatus,
    },
    store::{
        files::{NewFiles, RoomFiles},
        transfer::moved::{MovedMember, MovedRoom, MovedRooms, Shared},
    },
};

/// How many messages are copied at a time.
const AT_ONCE: usize = 1_000;

fn json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

fn map(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Whether there are no rooms, and no names that keys hold.
fn is_empty(sql: &mut dyn Sql) -> Result<bool> {
    let any = "SELECT 1 FROM rooms_rooms UNION ALL SELECT 1 FROM rooms_names LIMIT 1";
    Ok(sql.query_one(any, &[])?.is_none())
}

/// Removes all rooms and everything that belongs to them.
pub fn clear(sql: &mut dyn Sql) -> Result<()> {
    lock_all(sql)?;
    for table in [
        "messages", "mentions", "members", "names", "agents", "rooms",
    ] {
        sql.execute(&format!("DELETE FROM rooms_{table}"), &[])?;
    }
    Ok(())
}

/// How many rooms there are.
pub fn count_rooms(sql: &mut dyn Sql) -> Result<usize> {
    let row = sql.query_one("SELECT COUNT(*) FROM rooms_rooms", &[])?;
    row.map_or(Ok(0), |row| row.int(0).map(count))
}

/// Copies all rooms of files into the tables, which must have none.
pub fn import(sql: &mut dyn Sql, files: &RoomFiles) -> Result<MovedRooms> {
    lock_all(sql)?;
    if !is_empty(sql)? {
        let message = "There are rooms in the database already, or names that keys hold.";
        return Err(Error::new("TARGET_NOT_EMPTY", message).next("Name an empty database."));
    }
    let shared = files.shared()?;
    let other = json(&shared.other)?;
    let meta = "UPDATE rooms_meta SET other = $1 WHERE id = 1";
    sql.execute(meta, &[(&other).into()])?;
    for (seen, (agent, first_seen_at)) in shared.agents.iter().enumerate() {
        sql.execute(
            "INSERT INTO rooms_agents (agent, first_seen_at, seen) VALUES ($1, $2, $3)
             ON CONFLICT (agent) DO NOTHING",
            &[agent.into(), first_seen_at.into(), number(seen).into()],
        )?;
    }
    for holder in &shared.names {
        names::insert(sql, holder)?;
    }
    let mut moved = MovedRooms {
        names: shared.names.len(),
        ..MovedRooms::default()
    };
    for name in files.rooms()? {
        let room = files.room(&name)?;
        import_room(sql, files, &room)?;
        moved.add(&room);
    }
    Ok(moved)
}

fn import_room(sql: &mut dyn Sql, files: &RoomFiles, room: &MovedRoom) -> Result<()> {
    let id = lock_all(sql)?;
    let creator = room.creator.as_ref().map(json).transpose()?;
    let (other, presence_other) = (json(&room.other)?, json(&room.presence_other)?);
    sql.execute(
        "INSERT INTO rooms_rooms (id, name, description, created_at, creator, first_number,
             log_number, next_number, bytes, archive_bytes, next_entry, other, presence_other)
         VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, $6, $7, $8)",
        &[
            id.into(),
            room.listed.name.as_str().into(),
            room.listed.description.as_deref().into(),
            (&room.listed.created_at).into(),
            creator.as_deref().into(),
            number(room.members.len()).into(),
            (&other).into(),
            (&presence_other).into(),
        ],
    )?;
    let (mut next, mut bytes, mut archive_bytes) = (0, 0, 0);
    let mut sent: HashMap<String, i64> = HashMap::new();
    while next < room.messages {
        let lines = files.lines(&room.listed.name, next, AT_ONCE)?;
        let mut messages = Vec::with_capacity(lines.len());
        for text in lines {
            let line = MessageLine::parse(text.as_bytes())
                .ok_or_else(|| Error::internal("a message can't be read again"))?;
            let mut message = NewMessage::of_text(id, (number(next), 0), &line, text);
            let nth = sent.entry(message.agent.clone()).or_default();
            *nth += 1;
            message.nth = *nth;
            bytes += message.bytes;
            if next < room.archived {
                archive_bytes += message.bytes;
            }
            next += 1;
            messages.push(message);
        }
        if messages.is_empty() {
            return Err(Error::internal("a room has fewer messages than it should"));
        }
        insert_messages(sql, &messages)?;
    }
    sql.execute(
        "UPDATE rooms_rooms SET next_number = $2, log_number = $3, bytes = $4,
             archive_bytes = $5 WHERE id = $1",
        &[
            id.into(),
            number(next).into(),
            number(room.archived).into(),
            bytes.into(),
            archive_bytes.into(),
        ],
    )?;
    for (entered, member) in room.members.iter().enumerate() {
        import_member(sql, id, number(entered), (member, files.idle_ms()))?;
    }
    Ok(())
}

fn import_member(
    sql: &mut dyn Sql,
    room: i64,
    entered: i64,
    (member, idle_ms): (&MovedMember, i64),
) -> Result<()> {
    let agent = member.agent.as_str();
    let position = Position::of(sql, room, agent, member.reads.as_ref())?;
    let user = member.user.as_ref();
    let now = Timestamp::now();
    // Nobody is served by a process that has ended.
    let is_online = user.is_some_and(|user| {
        let status = user.status(member.activity.as_ref(), now, idle_ms, &mut |_: &str| false);
        status == Status::Online
    });
    let joined_at = user.map_or("", |user| user.joined_at.as_str());
    let active_at = match &member.activity {
        Some(activity) => activity.last_active_at,
        None => joined_at.parse().unwrap_or_default(),
    };
    let profile = user.and_then(|user| user.profile.as_ref());
    let profile = profile.map(json).transpose()?;
    let other = user.map_or_else(|| Ok("{}".into()), |user| json(&user.other))?;
    sql.execute(
        "INSERT INTO rooms_members (room, agent, is_member, entered, online, joined_at, profile,
             profile_bytes, active_at, process, waiting_until, read_number, mention_number,
             delivered, version, read_at, other, read_other)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', NULL, $10, $11, $12, 0, $13, $14, $15)",
        &[
            room.into(),
            agent.into(),
            i64::from(user.is_some()).into(),
            entered.into(),
            i64::from(is_online).into(),
            joined_at.into(),
            profile.as_deref().into(),
            number(profile.as_ref().map_or(0, String::len)).into(),
            active_at.as_millisecond().into(),
            position.read.into(),
            position.mention.into(),
            (&position.delivered).into(),
            position.read_at.as_deref().into(),
            (&other).into(),
            (&position.other).into(),
        ],
    )?;
    Ok(())
}

/// A read position by the numbers of messages.
struct Position {
    read: i64,
    mention: i64,
    delivered: String,
    read_at: Option<String>,
    other: String,
}

impl Position {
    fn of(sql: &mut dyn Sql, room: i64, agent: &str, status: Option<&ReadStatus>) -> Result<Self> {
        let Some(status) = status else {
            return Ok(Self {
                read: -1,
                mention: -1,
                delivered: "[]".into(),
                read_at: None,
                other: "{}".into(),
            });
        };
        // If the message is gone, everything that is there came later.
        let read = pages::find(sql, room, &status.last_read_message_id)?.unwrap_or(-1);
        let mention = match &status.last_mention_message_id {
            Some(id) => pages::find(sql, room, id)?.unwrap_or(-1),
            None => -1,
        };
        let mut delivered: Vec<(i64, bool)> = Vec::new();
        for id in &status.delivered_message_ids {
            if let Some(number) = pages::find(sql, room, id)? {
                let mentions = "SELECT 1 FROM rooms_mentions
                     WHERE room = $1 AND agent = $2 AND number = $3";
                let params: [Param<'_>; 3] = [room.into(), agent.into(), number.into()];
                delivered.push((number, sql.query_one(mentions, &params)?.is_some()));
            }
        }
        delivered.sort_unstable();
        Ok(Self {
            read,
            mention,
            delivered: json(&delivered)?,
            read_at: Some(status.last_read_timestamp.clone()),
            other: json(&status.other)?,
        })
    }
}

/// Copies all rooms into new files.
pub fn export(sql: &mut dyn Sql, files: &NewFiles) -> Result<MovedRooms> {
    let other = sql.query_one("SELECT other FROM rooms_meta WHERE id = 1", &[])?;
    let agents = sql.query(
        "SELECT agent, first_seen_at FROM rooms_agents ORDER BY seen, agent",
        &[],
    )?;
    let shared = Shared {
        other: other.map_or(Ok(Map::new()), |row| row.text(0).map(|text| map(&text)))?,
        agents: agents
            .iter()
            .map(|row| Ok((row.text(0)?, row.text(1)?)))
            .collect::<Result<_>>()?,
        names: names::held(sql)?,
    };
    let mut moved = MovedRooms {
        names: shared.names.len(),
        ..MovedRooms::default()
    };
    let mut rooms = Vec::new();
    for row in rows::rooms(sql)? {
        let room = moved_room(sql, row.id, &row)?;
        let (id, first) = (row.id, row.first);
        files.write_room(&room, |file, from, most| {
            let lines = "SELECT line FROM rooms_messages WHERE room = $1 AND number >= $2
                 ORDER BY number LIMIT $3";
            let most = number(most.min(AT_ONCE));
            let from = first + number(from);
            let rows = sql.query(lines, &[id.into(), from.into(), most.into()])?;
            for row in &rows {
                writeln!(file, "{}", row.text(0)?).map_err(errors::storage)?;
            }
            Ok(rows.len())
        })?;
        moved.add(&room);
        rooms.push(room);
    }
    files.write_shared(&shared, &rooms)?;
    Ok(moved)
}

fn moved_room(sql: &mut dyn Sql, id: i64, row: &rows::RoomRow) -> Result<MovedRoom> {
    let others = "SELECT other, presence_other FROM rooms_rooms WHERE id = $1";
    let others = sql.query_one(others, &[id.into()])?;
    let other = |column: usize| match &others {
        Some(row) => row.text(column).map(|text| map(&text)),
        None => Ok(Map::new()),
    };
    let members = sql.query(
        "SELECT m.agent, m.is_member, m.online, m.process, m.joined_at, m.profile, m.other,
             m.read_at, m.read_other, m.delivered,
             (SELECT id FROM rooms_messages x WHERE x.room = m.room AND x.number = m.read_number),
             (SELECT id FROM rooms_messages x
              WHERE x.room = m.room AND x.number = m.mention_number),
             COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = m.agent
                 AND x.room = m.room ORDER BY x.number DESC LIMIT 1), 0)
         FROM rooms_members m WHERE m.room = $1 ORDER BY m.entered",
        &[id.into()],
    )?;
    let mut moved = Vec::with_capacity(members.len());
    for member in &members {
        moved.push(moved_member(sql, id, member)?);
    }
    Ok(MovedRoom {
        listed: row.listed.clone(),
        other: other(0)?,
        creator: row.creator.clone(),
        presence_other: other(1)?,
        members: moved,
        messages: row.messages(),
        archived: count(row.log - row.first),
    })
}

fn moved_member(sql: &mut dyn Sql, room: i64, row: &Row) -> Result<MovedMember> {
    let agent = row.text(0)?;
    let profile = row.opt_text(5)?;
    let user = (row.int(1)? == 1).then(|| -> Result<User> {
        let profile = profile.and_then(|json| serde_json::from_str(&json).ok());
        let mut user = User::new(&row.text(4)?, profile);
        user.message_count = u64::try_from(row.int(12)?).unwrap_or_default();
        user.other = map(&row.text(6)?);
        // Nobody is served by a process that has ended.
        if row.int(2)? == 0 || !row.text(3)?.is_empty() {
            user.status = Status::Offline;
        }
        Ok(user)
    });
    let mut delivered_message_ids = Vec::new();
    let delivered: Vec<(i64, bool)> = serde_json::from_str(&row.text(9)?).unwrap_or_default();
    for (number, _) in delivered {
        let id = "SELECT id FROM rooms_messages WHERE room = $1 AND number = $2";
        if let Some(row) = sql.query_one(id, &[room.into(), number.into()])? {
            delivered_message_ids.push(row.text(0)?);
        }
    }
    let read_at = row.opt_text(7)?;
    let reads = read_at.map(|last_read_timestamp| -> Result<ReadStatus> {
        Ok(ReadStatus {
            agent_name: agent.clone(),
            last_read_message_id: row.opt_text(10)?.unwrap_or_default(),
            last_read_timestamp,
            last_mention_message_id: row.opt_text(11)?,
            delivered_message_ids,
            other: map(&row.text(8)?),
        })
    });
    Ok(MovedMember {
        user: user.transpose()?,
        activity: None,
        reads: reads.transpose()?,
        agent,
    })
}
