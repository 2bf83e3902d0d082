//! Messages of one room that are written in one transaction, each with its outcome.

use std::collections::{HashMap, HashSet};

use kit::{Error, Param, Result, Sql, minute_limit::MINUTE_MS};

use super::{
    insert::{NewMessage, insert_messages},
    names,
    presence::{LIFE_COLUMNS, Life, life_columns},
    reading::{READING_COLUMNS, Reading, reading_columns},
    rows::{self, RoomRow},
    send::Unsent,
    tables::{Tables, number, places},
};
use crate::{
    errors,
    model::{
        mentions::is_at,
        message::{Draft, MessageLine},
        names::{RoomName, not_in_room},
        owners::{Actor, NameStatus},
    },
    store::messages::{Sent, kept},
};

const MEGABYTE: i64 = 1_000_000;

/// Who sends, as it was before.
struct Sender {
    reading: Reading,
    life: Life,
    /// How many messages of this transaction are the sender's.
    here: i64,
}

/// What the drafts need to know of the room.
struct Known {
    senders: HashMap<String, Sender>,
    /// The names of all members, if a draft may mention one.
    members: Vec<String>,
    /// Earlier messages by sender and clientMessageId.
    before: HashMap<(String, String), MessageLine>,
    /// The ids that are replied to and exist.
    answered: HashSet<String>,
}

impl Tables {
    /// Writes what can be sent. An error concerns all of them.
    pub fn write_messages(
        &self,
        sql: &mut dyn Sql,
        name: &RoomName,
        unsent: &[Unsent],
    ) -> Result<Vec<Result<Sent>>> {
        let refused = self.refused(sql, name, unsent)?;
        let room = rows::lock_room(sql, name)?;
        let mut known = known(sql, &room, unsent)?;
        let mut results: Vec<Result<Sent>> = Vec::with_capacity(unsent.len());
        let mut lines = Vec::new();
        for (unsent, refused) in unsent.iter().zip(refused) {
            let result = match refused {
                Some(error) => Err(error),
                None => self.outcome(sql, &room, &known, unsent)?,
            };
            if let Ok(sent) = &result
                && !sent.repeated
            {
                if let Some(client_id) = &unsent.draft.client_id {
                    let key = (unsent.draft.agent.clone(), client_id.clone());
                    known.before.insert(key, sent.line.clone());
                }
                let nth = known.senders.get_mut(&unsent.draft.agent).map_or(1, |it| {
                    it.here += 1;
                    it.reading.sent + it.here
                });
                let at = room.next + number(lines.len());
                lines.push(NewMessage::new(room.id, at, nth, &sent.line)?);
            }
            results.push(result);
        }
        if !lines.is_empty() {
            insert_messages(sql, &lines)?;
            self.advance(sql, &room, &lines)?;
            self.note_senders(sql, &room, &known, unsent)?;
        }
        let next = room.next + number(lines.len());
        for sent in results.iter_mut().flatten() {
            if let Some(sender) = known.senders.get(&sent.line.agent_name) {
                let mut reading = sender.reading.clone();
                reading.has_sent(sender.here);
                sent.unread = reading.unread(room.first, next);
            }
        }
        Ok(results)
    }

    /// The callers that may not use their names. A free name becomes the caller's.
    fn refused(
        &self,
        sql: &mut dyn Sql,
        room: &RoomName,
        unsent: &[Unsent],
    ) -> Result<Vec<Option<Error>>> {
        let mut refused = Vec::with_capacity(unsent.len());
        for Unsent { call, draft } in unsent {
            if call.actor == Actor::Local {
                refused.push(None);
                continue;
            }
            // Read apart from the claim: a failed statement would end the transaction.
            let allowed = match names::name_status(sql, &call.actor, &draft.agent) {
                Ok(NameStatus::Free) => self.act(sql, call, room, &draft.agent),
                other => other.map(drop),
            };
            refused.push(match allowed {
                Err(error) if error.is_internal() => return Err(error),
                other => other.err(),
            });
        }
        Ok(refused)
    }

    /// The message that a draft becomes, or why it cannot be sent.
    fn outcome(
        &self,
        sql: &mut dyn Sql,
        room: &RoomRow,
        known: &Known,
        unsent: &Unsent,
    ) -> Result<Result<Sent>> {
        let draft = &unsent.draft;
        let Some(sender) = known.senders.get(&draft.agent) else {
            return Ok(Err(not_in_room(&draft.agent, room.name())));
        };
        if let Some(before) = known.before(draft) {
            return Ok(match draft.became(before) {
                true => Ok(Sent::again(before.clone())),
                false => Err(errors::client_message_id_reused()),
            });
        }
        let most_mb = self.settings.max_archive_mb.get();
        if room.archive_bytes >= i64::from(most_mb) * MEGABYTE {
            let room = room.name().as_str();
            return Ok(Err(errors::archive_is_full(room, most_mb)));
        }
        if let Some(wait) = self.wait(sql, room, sender, unsent)? {
            let most = self.settings.sends_per_minute;
            return Ok(Err(errors::rate_limited(most, wait)));
        }
        if let Some(id) = &draft.reply_to
            && !known.answered.contains(id)
        {
            return Ok(Err(errors::message_not_found(id)));
        }
        let members = known.members.iter().map(String::as_str);
        Ok(Ok(Sent::new(
            room.name(),
            draft,
            &unsent.call.clock,
            members,
        )))
    }

    /// How long the sender has to wait if it has sent too much to this room, through any
    /// desk.
    fn wait(
        &self,
        sql: &mut dyn Sql,
        room: &RoomRow,
        sender: &Sender,
        unsent: &Unsent,
    ) -> Result<Option<i64>> {
        let most = i64::from(self.settings.sends_per_minute);
        if most == 0 || sender.reading.sent + sender.here < most {
            return Ok(None);
        }
        if sender.here >= most {
            return Ok(Some(MINUTE_MS));
        }
        let sent = "SELECT sent_at FROM rooms_messages WHERE agent = $2 AND room = $1
             ORDER BY number DESC LIMIT 1 OFFSET $3";
        let back = most - sender.here - 1;
        let row = sql.query_one(
            sent,
            &[room.id.into(), (&unsent.draft.agent).into(), back.into()],
        )?;
        let sent = row.map_or(Ok(None), |row| row.opt_int(0))?;
        let now = unsent.call.now().as_millisecond();
        // Times in the future were written before a clock was corrected.
        let recent = sent.filter(|time| (0..MINUTE_MS).contains(&(now - time)));
        Ok(recent.map(|time| time + MINUTE_MS - now))
    }

    /// Numbers and figures of the room after these messages. The oldest move to the
    /// archive when there are more than `max_messages`.
    fn advance(&self, sql: &mut dyn Sql, room: &RoomRow, lines: &[NewMessage]) -> Result<()> {
        let next = room.next + number(lines.len());
        let bytes: i64 = lines.iter().map(|line| line.bytes).sum();
        let max_messages = self.settings.max_messages.get();
        let (most, keep) = (i64::from(max_messages), number(kept(max_messages as usize)));
        let (mut log, mut archived) = (room.log, 0);
        if next - log > most {
            log = next - keep;
            let moved = "SELECT CAST(SUM(bytes) AS BIGINT) FROM rooms_messages
                 WHERE room = $1 AND number >= $2 AND number < $3";
            let moved = sql.query_one(moved, &[room.id.into(), room.log.into(), log.into()])?;
            archived = moved.map_or(Ok(None), |row| row.opt_int(0))?.unwrap_or(0);
        }
        sql.execute(
            "UPDATE rooms_rooms SET next_number = $2, log_number = $3, bytes = bytes + $4,
                 archive_bytes = archive_bytes + $5 WHERE id = $1",
            &[
                room.id.into(),
                next.into(),
                log.into(),
                bytes.into(),
                archived.into(),
            ],
        )?;
        Ok(())
    }

    /// Notes that the senders act through this process, and that they are online.
    fn note_senders(
        &self,
        sql: &mut dyn Sql,
        room: &RoomRow,
        known: &Known,
        unsent: &[Unsent],
    ) -> Result<()> {
        let Some(now) = unsent.first().map(|unsent| unsent.call.now()) else {
            return Ok(());
        };
        let senders = known.senders.iter().filter(|(_, sender)| sender.here > 0);
        let due = senders.filter(|(_, sender)| self.is_life_due(&sender.life, now));
        let mut due: Vec<&String> = due.map(|(agent, _)| agent).collect();
        if due.is_empty() {
            return Ok(());
        }
        due.sort();
        let note = format!(
            "UPDATE rooms_members SET online = 1, active_at = $2, process = $3 \
             WHERE room = $1 AND is_member = 1 AND agent IN ({})",
            places(4, due.len())
        );
        let mut params: Vec<Param<'_>> = vec![
            room.id.into(),
            now.as_millisecond().into(),
            (&self.process).into(),
        ];
        params.extend(due.into_iter().map(Param::from));
        sql.execute(&note, &params)?;
        Ok(())
    }
}

impl Known {
    /// The message that an earlier send of this draft became.
    fn before(&self, draft: &Draft) -> Option<&MessageLine> {
        let client_id = draft.client_id.clone()?;
        self.before.get(&(draft.agent.clone(), client_id))
    }
}

fn known(sql: &mut dyn Sql, room: &RoomRow, unsent: &[Unsent]) -> Result<Known> {
    let mut texts = unsent.iter().map(|unsent| &unsent.draft.text);
    let mut members = Vec::new();
    if texts.any(|text| text.contains(is_at)) {
        let all = "SELECT agent FROM rooms_members WHERE room = $1 AND is_member = 1
             ORDER BY entered";
        let rows = sql.query(all, &[room.id.into()])?;
        members = rows.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
    }
    Ok(Known {
        senders: senders(sql, room, unsent)?,
        members,
        before: sent_before(sql, room, unsent)?,
        answered: answered(sql, room, unsent)?,
    })
}

/// Each once, sorted.
fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut texts: Vec<&String> = texts.collect();
    texts.sort();
    texts.dedup();
    texts
}

/// A statement's parameters: the room and these.
fn with_room<'a>(room: &RoomRow, texts: &[&'a String]) -> Vec<Param<'a>> {
    let mut params: Vec<Param<'a>> = vec![room.id.into()];
    params.extend(texts.iter().map(|text| Param::from(*text)));
    params
}

fn senders(
    sql: &mut dyn Sql,
    room: &RoomRow,
    unsent: &[Unsent],
) -> Result<HashMap<String, Sender>> {
    let agents = distinct(unsent.iter().map(|unsent| &unsent.draft.agent));
    let members = format!(
        "SELECT {}, {}, m.agent FROM rooms_members m \
         LEFT JOIN rooms_processes p ON p.id = m.process \
         WHERE m.room = $1 AND m.is_member = 1 AND m.agent IN ({})",
        reading_columns!(),
        life_columns!(),
        places(2, agents.len())
    );
    let rows = sql.query(&members, &with_room(room, &agents))?;
    let sender = |row: &kit::Row| {
        let sender = Sender {
            reading: Reading::read(row, 0)?,
            life: Life::read(row, READING_COLUMNS)?,
            here: 0,
        };
        Ok((row.text(READING_COLUMNS + LIFE_COLUMNS)?, sender))
    };
    rows.iter().map(sender).collect()
}

fn sent_before(
    sql: &mut dyn Sql,
    room: &RoomRow,
    unsent: &[Unsent],
) -> Result<HashMap<(String, String), MessageLine>> {
    let ids = unsent.iter().filter_map(|it| it.draft.client_id.as_ref());
    let ids = distinct(ids);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let before = format!(
        "SELECT agent, client_id, line FROM rooms_messages \
         WHERE room = $1 AND client_id <> '' AND client_id IN ({}) ORDER BY number",
        places(2, ids.len())
    );
    let rows = sql.query(&before, &with_room(room, &ids))?;
    let mut before = HashMap::new();
    for row in &rows {
        if let Some(line) = MessageLine::parse(row.text(2)?.as_bytes()) {
            before.insert((row.text(0)?, row.text(1)?), line);
        }
    }
    Ok(before)
}

fn answered(sql: &mut dyn Sql, room: &RoomRow, unsent: &[Unsent]) -> Result<HashSet<String>> {
    let ids = unsent.iter().filter_map(|it| it.draft.reply_to.as_ref());
    let ids = distinct(ids);
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let there = format!(
        "SELECT id FROM rooms_messages WHERE room = $1 AND id IN ({})",
        places(2, ids.len())
    );
    let rows = sql.query(&there, &with_room(room, &ids))?;
    rows.iter().map(|row| row.text(0)).collect()
}
