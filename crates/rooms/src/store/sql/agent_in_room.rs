//! An agent in a room: whether it is a member, how far it has read, when it was last
//! active. One statement.

use jiff::Timestamp;
use kit::{Result, Sql};

use super::{
    presence::{LIFE_COLUMNS, Life, life_columns},
    reading::{READING_COLUMNS, Reading, reading_columns},
    rows,
    tables::{Tables, count},
};
use crate::model::{
    members::Status,
    names::{RoomName, not_in_room},
};

/// A sign of life is written after this fraction of the idle time, so that busy agents
/// cost next to nothing.
const NOTED_PER_IDLE: i64 = 8;

pub struct AgentInRoom {
    pub room: i64,
    /// The messages of the room are those from `first` to before `next`.
    pub first: i64,
    pub next: i64,
    /// `None`: the agent is not a member.
    pub member: Option<MemberInRoom>,
}

pub struct MemberInRoom {
    pub reading: Reading,
    pub life: Life,
}

/// `agent` in the room, or an error if there is no such room.
pub fn agent_in_room(sql: &mut dyn Sql, name: &RoomName, agent: &str) -> Result<AgentInRoom> {
    let select = concat!(
        "SELECT r.id, r.first_number, r.next_number, m.is_member, ",
        reading_columns!(),
        ", ",
        life_columns!(),
        " FROM rooms_rooms r LEFT JOIN rooms_members m ON m.room = r.id AND m.agent = $2 \
         LEFT JOIN rooms_processes p ON p.id = m.process WHERE r.name = $1"
    );
    let Some(row) = sql.query_one(select, &[name.as_str().into(), agent.into()])? else {
        return Err(rows::not_found(sql, name)?);
    };
    let member = match row.opt_int(3)? {
        Some(1) => Some(MemberInRoom {
            reading: Reading::read(&row, 4)?,
            life: Life::read(&row, 4 + READING_COLUMNS)?,
        }),
        _ => None,
    };
    debug_assert_eq!(row.0.len(), 4 + READING_COLUMNS + LIFE_COLUMNS);
    Ok(AgentInRoom {
        room: row.int(0)?,
        first: row.int(1)?,
        next: row.int(2)?,
        member,
    })
}

impl AgentInRoom {
    /// How many messages of others the agent has not read; 0 for somebody who is not a
    /// member.
    pub fn unread(&self) -> usize {
        let member = self.member.as_ref();
        member.map_or(0, |member| member.reading.unread(self.first, self.next))
    }

    /// How many messages the room has.
    pub fn messages(&self) -> usize {
        count(self.next - self.first)
    }

    /// An error unless the agent is a member.
    pub fn require(&self, name: &RoomName, agent: &str) -> Result<&MemberInRoom> {
        self.member.as_ref().ok_or_else(|| not_in_room(agent, name))
    }
}

impl Tables {
    /// Whether a sign of life of somebody who acts has to be written.
    pub fn is_life_due(&self, life: &Life, now: Timestamp) -> bool {
        let noted = life.activity.last_active_at.as_millisecond();
        let every = self.settings.idle_ms() / NOTED_PER_IDLE;
        !life.online
            || life.activity.process != self.process
            || now.as_millisecond() - noted >= every
    }

    /// The same for somebody who only reads. It keeps agents online and brings nobody back.
    pub fn is_reader_due(&self, life: &Life, now: Timestamp) -> bool {
        self.status_of(life, now) == Status::Online && self.is_life_due(life, now)
    }

    /// Whether [`Self::is_reader_due`] in any of the agent's rooms.
    pub fn is_due_somewhere(&self, sql: &mut dyn Sql, agent: &str, now: Timestamp) -> Result<bool> {
        let lives = concat!(
            "SELECT ",
            life_columns!(),
            " FROM rooms_members m LEFT JOIN rooms_processes p ON p.id = m.process \
             WHERE m.agent = $1 AND m.is_member = 1"
        );
        for row in sql.query(lives, &[agent.into()])? {
            if self.is_reader_due(&Life::read(&row, 0)?, now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes a sign of life of a member that is online, in one room or in all that it is in.
    pub fn note_life(
        &self,
        sql: &mut dyn Sql,
        agent: &str,
        room: Option<i64>,
        now: Timestamp,
    ) -> Result<()> {
        let (from, to) = room.map_or((i64::MIN, i64::MAX), |room| (room, room));
        sql.execute(
            "UPDATE rooms_members SET active_at = $2, process = $3
             WHERE agent = $1 AND is_member = 1 AND online = 1 AND room >= $4 AND room <= $5
                 AND (active_at > $6 OR waiting_until > $2)
                 AND (process = '' OR process = $3 OR process IN
                     (SELECT id FROM rooms_processes WHERE seen_at > $7))",
            &[
                agent.into(),
                now.as_millisecond().into(),
                (&self.process).into(),
                from.into(),
                to.into(),
                (now.as_millisecond() - self.settings.idle_ms()).into(),
                self.alive_since().into(),
            ],
        )?;
        Ok(())
    }
}
