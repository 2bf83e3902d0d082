//! Members: who is in a room, who is online, who enters and leaves.

use jiff::Timestamp;
use kit::{Error, Result, Row, Sql};

use super::{
    agent_in_room::agent_in_room,
    names,
    presence::{LIFE_COLUMNS, Life, life_columns},
    rows::{self, RoomRow},
    tables::{Tables, lock_all, number},
};
use crate::{
    errors,
    model::{
        members::{MAX_PROFILES, Profile, Status},
        message::written,
        names::{RoomName, check_newcomer, not_in_room, similar},
        owners::NameStatus,
    },
    store::{
        call::Call,
        rooms::{Entered, Entrance, Inside, Member},
    },
};

/// How many members and read positions a room keeps. Those of members are always kept.
const REMEMBERED: usize = 2_000;
/// How many agents are remembered; the oldest are forgotten.
const AGENTS: usize = 10_000;

pub struct LifeRow {
    pub room: i64,
    pub name: String,
    pub life: Life,
}

/// The members of one room or of all that were noted as online, without profiles, in the
/// order in which they entered.
pub fn light_members(sql: &mut dyn Sql, room: Option<i64>) -> Result<Vec<LifeRow>> {
    let light = concat!(
        "SELECT ",
        life_columns!(),
        ", m.room, m.agent FROM rooms_members m LEFT JOIN rooms_processes p ON p.id = m.process \
         WHERE m.is_member = 1 AND m.online = 1 AND m.room >= $1 AND m.room <= $2 \
         ORDER BY m.room, m.entered"
    );
    let (from, to) = room.map_or((i64::MIN, i64::MAX), |room| (room, room));
    let rows = sql.query(light, &[from.into(), to.into()])?;
    rows.iter()
        .map(|row| {
            Ok(LifeRow {
                life: Life::read(row, 0)?,
                room: row.int(LIFE_COLUMNS)?,
                name: row.text(LIFE_COLUMNS + 1)?,
            })
        })
        .collect()
}

impl Tables {
    /// The members with their status of this moment, in the order in which they entered.
    pub fn members(&self, sql: &mut dyn Sql, call: &Call, name: &RoomName) -> Result<Vec<Member>> {
        let all = concat!(
            "SELECT ",
            life_columns!(),
            ", m.agent, m.profile, \
             COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = m.agent \
                 AND x.room = m.room ORDER BY x.number DESC LIMIT 1), 0) \
             FROM rooms_rooms r JOIN rooms_members m ON m.room = r.id \
             LEFT JOIN rooms_processes p ON p.id = m.process \
             WHERE r.name = $1 AND m.is_member = 1 ORDER BY m.entered"
        );
        let rows = sql.query(all, &[name.as_str().into()])?;
        if rows.is_empty() {
            rows::room(sql, name)?;
        }
        let now = call.now();
        let member = |row: &Row| {
            let life = Life::read(row, 0)?;
            let status = self.status_of(&life, now);
            let profile = row.opt_text(LIFE_COLUMNS + 1)?;
            Ok(Member {
                name: row.text(LIFE_COLUMNS)?,
                status,
                message_count: u64::try_from(row.int(LIFE_COLUMNS + 2)?).unwrap_or_default(),
                profile: profile.and_then(|json| serde_json::from_str(&json).ok()),
                is_waiting: status == Status::Online && life.activity.is_waiting(now),
                active_at: Some(life.activity.last_active_at),
            })
        };
        rows.iter().map(member).collect()
    }

    /// Makes an agent a member of a room, or brings it back online.
    pub fn enter(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        (name, agent): (&RoomName, &str),
        profile: Option<&Profile>,
    ) -> Result<Entered> {
        let is_free = {
            rows::room(sql, name)?;
            names::name_status(sql, &call.actor, agent)? == NameStatus::Free
        };
        let claims = is_free && call.actor.has_key();
        if claims {
            lock_all(sql)?;
        }
        let room = rows::lock_room(sql, name)?;
        // Another key may have got the name meanwhile.
        names::may_use(sql, &call.actor, agent)?;
        let there = self.those_inside(sql, &room, agent, call.now())?;
        let entrance = match there.status {
            Some(Status::Online) => Entrance::AlreadyIn,
            Some(Status::Offline) => Entrance::Back,
            None => Entrance::New,
        };
        if entrance != Entrance::AlreadyIn {
            if entrance == Entrance::New {
                check_newcomer(agent)?;
                let most = self.settings.max_members.get();
                if there.count >= most as usize {
                    return Err(errors::room_is_full(name.as_str(), most));
                }
            }
            if claims {
                self.claim(sql, &call.actor, agent, call.now())?;
            }
            self.write_member(
                sql,
                &room,
                agent,
                (entrance, profile, there.profile_bytes),
                call,
            )?;
            note_agent(sql, agent, call.now())?;
        }
        let found = agent_in_room(sql, name, agent)?;
        let mut online = there.online;
        if entrance != Entrance::AlreadyIn {
            online.push(agent.to_owned());
        }
        Ok(Entered {
            entrance,
            inside: Inside {
                description: room.listed.description.clone(),
                user_count: there.count + usize::from(entrance == Entrance::New),
                online,
                unread: found.unread(),
            },
            similar: there.similar,
        })
    }

    /// Writes the row of somebody who enters.
    fn write_member(
        &self,
        sql: &mut dyn Sql,
        room: &RoomRow,
        agent: &str,
        (entrance, profile, others_bytes): (Entrance, Option<&Profile>, i64),
        call: &Call,
    ) -> Result<()> {
        let profile = profile.map(serde_json::to_string).transpose();
        let profile = profile.map_err(Error::internal)?;
        let bytes = profile.as_ref().map_or(0, |json| number(json.len()));
        if bytes > 0 && others_bytes + bytes > number(MAX_PROFILES) {
            let room = room.name().as_str();
            return Err(errors::profiles_too_large(room, MAX_PROFILES));
        }
        let now = call.now();
        if entrance == Entrance::Back {
            sql.execute(
                "UPDATE rooms_members SET online = 1, active_at = $3, process = $4,
                     waiting_until = NULL, profile = COALESCE($5, profile),
                     profile_bytes = CASE WHEN $6 > 0 THEN $6 ELSE profile_bytes END
                 WHERE room = $1 AND agent = $2",
                &[
                    room.id.into(),
                    agent.into(),
                    now.as_millisecond().into(),
                    (&self.process).into(),
                    profile.as_deref().into(),
                    bytes.into(),
                ],
            )?;
            return Ok(());
        }
        sql.execute(
            "INSERT INTO rooms_members (room, agent, is_member, entered, online, joined_at,
                 profile, profile_bytes, active_at, process, waiting_until, read_number,
                 mention_number, delivered, version, read_at, other, read_other)
             VALUES ($1, $2, 1, $3, 1, $4, $5, $6, $7, $8, NULL, -1, -1, '[]', 0, NULL, '{}', '{}')
             ON CONFLICT (room, agent) DO UPDATE SET is_member = 1, entered = excluded.entered,
                 online = 1, joined_at = excluded.joined_at, profile = excluded.profile,
                 profile_bytes = excluded.profile_bytes, active_at = excluded.active_at,
                 process = excluded.process, waiting_until = NULL, other = '{}'",
            &[
                room.id.into(),
                agent.into(),
                room.next_entry.into(),
                (&written(now)).into(),
                profile.as_deref().into(),
                bytes.into(),
                now.as_millisecond().into(),
                (&self.process).into(),
            ],
        )?;
        let entered = "UPDATE rooms_rooms SET next_entry = next_entry + 1 WHERE id = $1";
        sql.execute(entered, &[room.id.into()])?;
        forget_positions(sql, room.id)
    }

    pub fn leave(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        name: &RoomName,
        agent: &str,
    ) -> Result<()> {
        let room = rows::room(sql, name)?;
        let acts = self.act(sql, call, name, agent);
        acts.map_err(errors::nothing_to_leave)?;
        let leave = "UPDATE rooms_members SET is_member = 0, online = 0, waiting_until = NULL,
                 profile = NULL, profile_bytes = 0
             WHERE room = $1 AND agent = $2 AND is_member = 1";
        match sql.execute(leave, &[room.id.into(), agent.into()])? {
            0 => Err(errors::nothing_to_leave(not_in_room(agent, name))),
            _ => Ok(()),
        }
    }

    /// Who is in a room that `agent` enters.
    fn those_inside(
        &self,
        sql: &mut dyn Sql,
        room: &RoomRow,
        agent: &str,
        now: Timestamp,
    ) -> Result<ThoseInside> {
        let all = concat!(
            "SELECT ",
            life_columns!(),
            ", m.agent, m.profile_bytes FROM rooms_members m \
             LEFT JOIN rooms_processes p ON p.id = m.process \
             WHERE m.room = $1 AND m.is_member = 1 ORDER BY m.entered"
        );
        let rows = sql.query(all, &[room.id.into()])?;
        let mut there = ThoseInside {
            count: rows.len(),
            ..ThoseInside::default()
        };
        let mut known = Vec::with_capacity(rows.len());
        for row in &rows {
            let (life, name) = (Life::read(row, 0)?, row.text(LIFE_COLUMNS)?);
            let status = self.status_of(&life, now);
            if name == agent {
                there.status = Some(status);
            } else {
                there.profile_bytes += row.int(LIFE_COLUMNS + 1)?;
            }
            if status == Status::Online {
                there.online.push(name.clone());
            }
            known.push(name);
        }
        let similar = similar(agent, known.iter().map(String::as_str));
        there.similar = similar.map(str::to_owned);
        Ok(there)
    }
}

#[derive(Default)]
struct ThoseInside {
    count: usize,
    online: Vec<String>,
    /// Of the agent that enters, if it is a member.
    status: Option<Status>,
    similar: Option<String>,
    /// Of the profiles of all others.
    profile_bytes: i64,
}

/// Forgets the oldest read positions of agents that left, if there are too many.
fn forget_positions(sql: &mut dyn Sql, room: i64) -> Result<()> {
    let kept = "SELECT COUNT(*) FROM rooms_members WHERE room = $1";
    let kept = sql.query_one(kept, &[room.into()])?;
    let kept = kept.map_or(Ok(0), |row| row.int(0))?;
    let over = kept - number(REMEMBERED);
    if over <= 0 {
        return Ok(());
    }
    sql.execute(
        "DELETE FROM rooms_members WHERE room = $1 AND is_member = 0 AND agent IN
             (SELECT agent FROM rooms_members WHERE room = $1 AND is_member = 0
              ORDER BY entered LIMIT $2)",
        &[room.into(), over.into()],
    )?;
    Ok(())
}

/// Remembers that an agent entered a room.
fn note_agent(sql: &mut dyn Sql, agent: &str, now: Timestamp) -> Result<()> {
    let note = "INSERT INTO rooms_agents (agent, first_seen_at, seen) VALUES ($1, $2, $3)
         ON CONFLICT (agent) DO NOTHING";
    let seen = now.as_millisecond();
    let noted = sql.execute(note, &[agent.into(), (&written(now)).into(), seen.into()])?;
    if noted == 0 {
        return Ok(());
    }
    let known = sql.query_one("SELECT COUNT(*) FROM rooms_agents", &[])?;
    let over = known.map_or(Ok(0), |row| row.int(0))? - number(AGENTS);
    if over <= 0 {
        return Ok(());
    }
    sql.execute(
        "DELETE FROM rooms_agents WHERE agent IN
             (SELECT agent FROM rooms_agents WHERE agent <> $1 ORDER BY seen, agent LIMIT $2)",
        &[agent.into(), over.into()],
    )?;
    Ok(())
}
