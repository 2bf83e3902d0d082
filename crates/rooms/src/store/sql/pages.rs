//! Pages of messages.

use jiff::Timestamp;
use kit::{Param, Result, Sql};

use super::{
    agent_in_room::agent_in_room,
    names,
    tables::{Tables, count, number},
};
use crate::{
    errors,
    model::{message::MessageLine, names::RoomName},
    store::{
        call::Call,
        messages::{FilledPage, MessageRef, Page, Pick, Start},
    },
};

/// How many messages are read at a time.
const AT_ONCE: usize = 64;

/// What a page shows, and of its reader.
pub struct Shown {
    pub page: Page,
    pub unread: Option<usize>,
    /// The room in which a sign of life of the reader has to be written.
    pub life_due: Option<i64>,
}

impl Tables {
    pub fn page(
        &self,
        sql: &mut dyn Sql,
        call: &Call,
        name: &RoomName,
        reader: Option<&str>,
        pick: &Pick,
    ) -> Result<Shown> {
        if let Some(agent) = reader {
            names::may_use(sql, &call.actor, agent)?;
        }
        let found = agent_in_room(sql, name, reader.unwrap_or_default())?;
        let span = span(sql, found.room, (found.first, found.next), pick)?;
        let filling = read(sql, found.room, &span, pick)?;
        let last = filling.messages.last();
        let page = Page {
            has_more: filling.has_more,
            next: last.map(|(number, line)| MessageRef {
                id: line.id.clone(),
                number: *number,
                generation: None,
            }),
            total: found.messages(),
            messages: filling.messages.into_iter().map(|(_, line)| line).collect(),
        };
        let member = found.member.as_ref();
        let is_due = member.is_some_and(|member| self.is_reader_due(&member.life, call.now()));
        Ok(Shown {
            page,
            unread: member.map(|_| found.unread()),
            life_due: is_due.then_some(found.room),
        })
    }
}

/// Which messages a page is taken from.
struct Span {
    from: i64,
    /// The first one that is too new.
    until: i64,
    /// How many of the newest to skip.
    offset: usize,
    since: Option<i64>,
    before: Option<i64>,
}

fn span(sql: &mut dyn Sql, room: i64, (first, next): (i64, i64), pick: &Pick) -> Result<Span> {
    let mut span = Span {
        from: first,
        until: next,
        offset: 0,
        since: pick.since.map(Timestamp::as_millisecond),
        before: None,
    };
    if let Some(id) = &pick.after {
        span.from = require(sql, room, id)? + 1;
    }
    match &pick.start {
        // Numbers have no gaps.
        Start::Offset(offset) if pick.mentions_of.is_none() => span.until -= number(*offset),
        Start::Offset(offset) => span.offset = *offset,
        Start::Cursor(last) => {
            let found = locate(sql, room, last)?;
            span.until = found.ok_or_else(kit::page::unknown_cursor)?;
        }
        Start::BeforeMessage(id) => span.until = require(sql, room, id)?,
        Start::BeforeTime(time) => span.before = Some(time.as_millisecond()),
    }
    Ok(span)
}

/// The number of the message with this id.
pub fn find(sql: &mut dyn Sql, room: i64, id: &str) -> Result<Option<i64>> {
    let find = "SELECT MAX(number) FROM rooms_messages WHERE room = $1 AND id = $2";
    let row = sql.query_one(find, &[room.into(), id.into()])?;
    row.map_or(Ok(None), |row| row.opt_int(0))
}

/// The same, or an error if there is no such message.
pub fn require(sql: &mut dyn Sql, room: i64, id: &str) -> Result<i64> {
    find(sql, room, id)?.ok_or_else(|| errors::message_not_found(id))
}

/// The number of a message that a cursor names.
pub fn locate(sql: &mut dyn Sql, room: i64, known: &MessageRef) -> Result<Option<i64>> {
    let at = "SELECT 1 FROM rooms_messages WHERE room = $1 AND number = $2 AND id = $3";
    let known_number = number(known.number);
    let there = sql.query_one(at, &[room.into(), known_number.into(), (&known.id).into()])?;
    match there {
        Some(_) => Ok(Some(known_number)),
        None => find(sql, room, &known.id),
    }
}

/// Newest first.
fn read(sql: &mut dyn Sql, room: i64, span: &Span, pick: &Pick) -> Result<FilledPage> {
    let mut filling = FilledPage::new(pick.limit);
    let (mut until, mut offset) = (span.until, span.offset);
    let at_once = AT_ONCE.min(pick.limit + 1);
    let since = span.since.unwrap_or(i64::MIN);
    let before = span.before.unwrap_or(i64::MAX);
    let timed = span.since.is_some() || span.before.is_some();
    loop {
        let mut params: Vec<Param<'_>> = vec![
            room.into(),
            span.from.into(),
            until.into(),
            number(at_once).into(),
        ];
        let mut conditions = String::new();
        if timed {
            conditions.push_str(" AND sent_at >= $5 AND sent_at < $6");
            params.extend([Param::from(since), Param::from(before)]);
        }
        if let Some(agent) = &pick.mentions_of {
            params.push(agent.into());
            let agent = params.len();
            params.push(number(offset).into());
            let offset = params.len();
            conditions.push_str(&format!(
                " AND number IN (SELECT number FROM rooms_mentions WHERE room = $1 \
                 AND agent = ${agent} AND number >= $2 AND number < $3) \
                 ORDER BY number DESC LIMIT $4 OFFSET ${offset}"
            ));
        } else {
            conditions.push_str(" ORDER BY number DESC LIMIT $4");
        }
        let lines = format!(
            "SELECT number, line FROM rooms_messages \
             WHERE room = $1 AND number >= $2 AND number < $3{conditions}"
        );
        let rows = sql.query(&lines, &params)?;
        for row in &rows {
            let (number, text) = (row.int(0)?, row.text(1)?);
            until = number;
            let Some(line) = MessageLine::parse(text.as_bytes()) else {
                continue;
            };
            if !filling.add(count(number), text.as_bytes(), line) {
                return Ok(filling);
            }
        }
        if rows.len() < at_once {
            return Ok(filling);
        }
        offset = 0;
    }
}
