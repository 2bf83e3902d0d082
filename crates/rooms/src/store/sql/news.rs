//! What is new for an agent that waits, and how far it has read then.

use kit::{Param, Result, Sql};

use super::{
    agent_in_room::{AgentInRoom, agent_in_room},
    members::{LifeRow, light_members},
    names, pages,
    reading::Reading,
    tables::{Tables, count, number},
};
use crate::{
    model::{
        members::Status,
        message::{MessageLine, written},
        names::{RoomName, SYSTEM},
    },
    store::{
        call::Call,
        messages::FilledPage,
        rooms::{Marked, Member},
        waiting::{AllWaiting, LookedUpTo, News, Reached, RowPosition, WaitFilter},
    },
};

/// How many messages are read at a time.
const AT_ONCE: usize = 64;

/// An agent that waits in a room.
#[derive(Clone, Copy)]
pub struct Waiter<'a> {
    pub room: &'a RoomName,
    pub agent: &'a str,
    pub wanted: &'a WaitFilter,
}

impl Tables {
    /// The oldest of the unread messages that are wanted. `looked`: of an earlier look that
    /// found none.
    pub fn news(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        waiter: Waiter<'_>,
        looked: Option<LookedUpTo>,
    ) -> Result<News> {
        let Waiter {
            room,
            agent,
            wanted,
        } = waiter;
        let found = agent_in_room(sql, room, agent)?;
        let mut reading = found.require(room, agent)?.reading.clone();
        names::may_use(sql, &call.actor, agent)?;
        let generation = u64::try_from(found.room).unwrap_or_default();
        let looked = looked.filter(|looked| looked.generation == generation);
        let unread = found.first.max(reading.read + 1);
        let first = match (&wanted.reply_to, looked) {
            (_, Some(looked)) => unread.max(number(looked.count)),
            (None, None) => unread,
            (Some(id), None) => unread.max(pages::require(sql, found.room, id)? + 1),
        };
        let filling = match first < found.next && found.unread() > 0 {
            true => read(sql, &found, (agent, &reading), (wanted, first))?,
            false => FilledPage::new(wanted.limit),
        };
        reached(&mut reading, agent, wanted, &filling);
        Ok(News {
            has_more: filling.has_more,
            // Each of them was unread.
            left: found.unread().saturating_sub(filling.messages.len()),
            total: found.messages(),
            looked: LookedUpTo {
                generation,
                count: count(found.next),
            },
            reached: Reached::InRow(RowPosition {
                room: found.room,
                version: reading.version,
                read: reading.read,
                mention: reading.mention,
                delivered: reading.delivered_text(),
            }),
            messages: filling.messages.into_iter().map(|(_, line)| line).collect(),
            everybody: None,
        })
    }

    /// Everybody who is online, if there are several and all of them wait.
    pub fn who_waits(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        generation: u64,
    ) -> Result<Option<AllWaiting>> {
        let room = i64::try_from(generation).unwrap_or(i64::MAX);
        let now = call.now();
        // Most of the time somebody does not wait, and nobody else has to be read.
        let busy = "SELECT 1 FROM rooms_members m LEFT JOIN rooms_processes p ON p.id = m.process
             WHERE m.room = $1 AND m.is_member = 1 AND m.online = 1 AND m.active_at > $2
                 AND (m.waiting_until IS NULL OR m.waiting_until <= $3)
                 AND (m.process = '' OR m.process = $4 OR p.seen_at > $5) LIMIT 1";
        let now_ms = now.as_millisecond();
        let busy = sql.query_one(
            busy,
            &[
                room.into(),
                (now_ms - self.settings.idle_ms()).into(),
                now_ms.into(),
                (&self.process).into(),
                self.alive_since().into(),
            ],
        )?;
        if busy.is_some() {
            return Ok(None);
        }
        let member = |LifeRow { name, life, .. }: LifeRow| Member {
            name,
            status: self.status_of(&life, now),
            message_count: 0,
            profile: None,
            is_waiting: life.activity.is_waiting(now),
            active_at: Some(life.activity.last_active_at),
        };
        let members = light_members(sql, Some(room))?;
        let members: Vec<Member> = members.into_iter().map(member).collect();
        let online = members.iter().filter(|m| m.status == Status::Online);
        match online.count() > 1 {
            true => Ok(AllWaiting::among(&members)),
            false => Ok(None),
        }
    }

    /// Moves the read position, unless another call has moved it meanwhile. Returns
    /// whether it was moved. `waits`: another call of the agent still waits.
    pub fn deliver(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        agent: &str,
        (to, waits): (&RowPosition, bool),
    ) -> Result<bool> {
        let now = call.now();
        let moved = sql.execute(
            "UPDATE rooms_members SET read_number = $3, mention_number = $4, delivered = $5,
                 version = version + 1, read_at = $6, online = 1, active_at = $7, process = $8,
                 waiting_until = CASE WHEN $9 = 1 THEN waiting_until ELSE NULL END
             WHERE room = $1 AND agent = $2 AND version = $10 AND is_member = 1",
            &[
                to.room.into(),
                agent.into(),
                to.read.into(),
                to.mention.into(),
                (&to.delivered).into(),
                (&written(now)).into(),
                now.as_millisecond().into(),
                (&self.process).into(),
                i64::from(waits).into(),
                to.version.into(),
            ],
        )?;
        Ok(moved == 1)
    }

    pub fn mark_read(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        (name, agent): (&RoomName, &str),
        up_to: Option<&str>,
    ) -> Result<Marked> {
        agent_in_room(sql, name, agent)?.require(name, agent)?;
        self.act(sql, call, name, agent)?;
        let now = call.now();
        // Locks the row, so that no other call moves the position meanwhile.
        let lock = "UPDATE rooms_members SET active_at = $3, process = $4, version = version + 1,
                 read_at = $5
             WHERE agent = $2 AND room = (SELECT id FROM rooms_rooms WHERE name = $1)";
        sql.execute(
            lock,
            &[
                name.as_str().into(),
                agent.into(),
                now.as_millisecond().into(),
                (&self.process).into(),
                (&written(now)).into(),
            ],
        )?;
        let found = agent_in_room(sql, name, agent)?;
        let mut reading = found.require(name, agent)?.reading.clone();
        let before = reading.unread(found.first, found.next);
        let last = match up_to {
            Some(id) => pages::require(sql, found.room, id)?,
            None => found.next - 1,
        };
        reading.read_up_to(last);
        sql.execute(
            "UPDATE rooms_members SET read_number = $3, delivered = $4
             WHERE room = $1 AND agent = $2",
            &[
                found.room.into(),
                agent.into(),
                reading.read.into(),
                (&reading.delivered_text()).into(),
            ],
        )?;
        let after = self::agent_in_room(sql, name, agent)?.unread();
        Ok(Marked { before, after })
    }
}

/// The wanted messages from `first` on, oldest first.
fn read(
    sql: &mut dyn Sql,
    found: &AgentInRoom,
    (agent, reading): (&str, &Reading),
    (wanted, first): (&WaitFilter, i64),
) -> Result<FilledPage> {
    let mut filling = FilledPage::new(wanted.limit);
    let mentioned = "EXISTS (SELECT 1 FROM rooms_mentions t WHERE t.room = x.room \
         AND t.agent = $2 AND t.number = x.number)";
    let mut params: Vec<Param<'_>> = vec![found.room.into(), agent.into(), SYSTEM.into()];
    let mut conditions = String::new();
    let mut from = first;
    if wanted.mentions {
        from = from.max(reading.mention + 1);
        conditions.push_str(&format!(" AND {mentioned}"));
    } else if reading.mention >= first {
        params.push(reading.mention.into());
        conditions.push_str(&format!(" AND (x.number > $4 OR NOT {mentioned})"));
    }
    if let Some(id) = &wanted.reply_to {
        params.push(id.into());
        let id = params.len();
        conditions.push_str(&format!(" AND (x.reply_to = ${id} OR {mentioned})"));
    }
    let (at, limit) = (params.len() + 1, params.len() + 2);
    let lines = format!(
        "SELECT x.number, x.line FROM rooms_messages x WHERE x.room = $1 AND x.agent <> $2 \
         AND x.agent <> $3{conditions} AND x.number >= ${at} ORDER BY x.number LIMIT ${limit}"
    );
    let at_once = AT_ONCE.min(wanted.limit + 1);
    loop {
        let mut params = params.clone();
        params.extend([Param::from(from), Param::from(number(at_once))]);
        let rows = sql.query(&lines, &params)?;
        for row in &rows {
            let (number, text) = (row.int(0)?, row.text(1)?);
            from = number + 1;
            let line =
                MessageLine::parse(text.as_bytes()).filter(|_| !reading.is_delivered(number));
            if let Some(line) = line
                && !filling.add(count(number), text.as_bytes(), line)
            {
                return Ok(filling);
            }
        }
        if rows.len() < at_once {
            return Ok(filling);
        }
    }
}

/// Where the agent stands once it has these messages.
fn reached(reading: &mut Reading, agent: &str, wanted: &WaitFilter, filling: &FilledPage) {
    let messages = filling.messages.iter();
    if wanted.reply_to.is_some() {
        reading.deliver(messages.map(|(at, line)| (number(*at), line.mentions(agent))));
    } else if let Some((last, _)) = filling.messages.last() {
        match wanted.mentions {
            true => reading.mention = reading.mention.max(number(*last)),
            false => reading.read_up_to(number(*last)),
        }
    }
}
