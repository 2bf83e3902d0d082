//! `read_status.json`: how far each agent has read, in the original server's
//! format. Positions only move forward, so that it does not matter in which
//! order processes write them.

use std::io;

use kit::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Store,
    index::{Files, Index},
    lock,
    room::{Room, remember},
};
use crate::{
    errors,
    model::{members::ByName, message::written},
};

pub type Reads = ByName<ReadStatus>;

/// Of how many agents a room keeps how far they have read, members always among
/// them.
const REMEMBERED: usize = 2_000;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadStatus {
    #[serde(default)]
    agent_name: String,
    #[serde(default)]
    last_read_message_id: String,
    #[serde(default)]
    last_read_timestamp: String,
    /// How far the agent has seen its mentions, where that is further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_mention_message_id: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl ReadStatus {
    /// When the position was written.
    pub fn time(&self) -> Option<jiff::Timestamp> {
        self.last_read_timestamp.parse().ok()
    }
}

/// A message's place in a room: its id, and its number in the index when it was
/// of this generation.
#[derive(Debug, Clone, Default)]
pub struct Place {
    pub id: String,
    pub number: usize,
    pub generation: Option<u64>,
}

/// What an agent has read, and which mentions it has seen beyond that.
#[derive(Debug, Clone, Default)]
pub struct Position {
    pub read: Option<Place>,
    pub mention: Option<Place>,
}

impl Place {
    /// The same place by the index's present numbers; `None` when its message
    /// is gone.
    pub fn found(self, index: &Index, files: &Files) -> io::Result<Option<Self>> {
        if self.generation == Some(index.generation()) {
            return Ok(Some(self));
        }
        let number = if index.is_at(self.number, &self.id, files)? {
            Some(self.number)
        } else {
            index.find(&self.id, files)?
        };
        Ok(number.map(|number| index.place(&self.id, number)))
    }

    /// As a caller is given it, to come back with.
    pub fn to_cursor(&self) -> String {
        format!("{}~{}", self.id, self.number)
    }

    /// Of a cursor; an id by itself is one too.
    pub fn from_cursor(cursor: &str) -> Self {
        let parts = cursor.rsplit_once('~');
        let parts = parts.and_then(|(id, number)| Some((id, number.parse().ok()?)));
        let (id, number) = parts.unwrap_or((cursor, usize::MAX));
        Self {
            id: id.to_owned(),
            number,
            generation: None,
        }
    }
}

/// The numbers of the first unread message and of the first unseen mention.
pub fn position(
    room: &Room,
    agent: &str,
    index: &Index,
    files: &Files,
    reads: &Reads,
) -> io::Result<(usize, usize)> {
    let known = room.local().positions.get(agent).cloned();
    let Position { read, mention } = known.unwrap_or_default();
    // A place whose message is gone is the beginning: what is there now came
    // after it.
    let found = |place: Option<Place>| match place {
        Some(place) => place.found(index, files),
        None => Ok(None),
    };
    let mut known = Position {
        read: found(read)?,
        mention: found(mention)?,
    };
    if let Some(status) = reads.get(agent) {
        let read = Some(status.last_read_message_id.as_str()).filter(|id| !id.is_empty());
        further(&mut known.read, read, index, files)?;
        let mention = status.last_mention_message_id.as_deref();
        further(&mut known.mention, mention, index, files)?;
    }
    let after = |place: &Option<Place>| place.as_ref().map_or(0, |place| place.number + 1);
    let (read, mention) = (after(&known.read), after(&known.mention));
    remember(&mut room.local().positions, agent, known);
    Ok((read, mention.max(read)))
}

fn further(
    known: &mut Option<Place>,
    id: Option<&str>,
    index: &Index,
    files: &Files,
) -> io::Result<()> {
    let Some(id) = id else { return Ok(()) };
    if known.as_ref().is_some_and(|known| known.id == id) {
        return Ok(());
    }
    if let Some(number) = index.find(id, files)?
        && known.as_ref().is_none_or(|known| known.number < number)
    {
        *known = Some(index.place(id, number));
    }
    Ok(())
}

impl Store {
    /// Moves an agent's position in this process's memory, at once and without
    /// failing; [`Store::save_position`] writes it down.
    pub fn advance(&self, room: &Room, agent: &str, to: Position) {
        let mut local = room.local();
        let mut known = local.positions.get(agent).cloned().unwrap_or_default();
        let later = |known: &mut Option<Place>, to: Option<Place>| {
            if let Some(to) = to
                && known.as_ref().is_none_or(|known| known.number < to.number)
            {
                *known = Some(to);
            }
        };
        later(&mut known.read, to.read);
        later(&mut known.mention, to.mention);
        remember(&mut local.positions, agent, known);
    }

    pub fn save_position(&self, room: &Room, agent: &str, now: jiff::Timestamp) -> Result<()> {
        let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
        self.require(&room.name)?;
        let directory = room.directory()?;
        // The original does not name this lock by its file.
        let name = format!("read-status-{}", room.name);
        held.change(self.dir.root(), &name, |lock| {
            let reads = self.with_position(room, agent, now)?;
            let saved = room.reads.save_under(lock, &directory, &reads);
            saved.map_err(errors::storage)
        })
    }

    /// What the file says, with this agent's position as it is known here.
    fn with_position(&self, room: &Room, agent: &str, now: jiff::Timestamp) -> Result<Reads> {
        let reads = room
            .reads
            .load(&room.directory()?)
            .map_err(errors::storage)?;
        // Takes in what other processes wrote meanwhile.
        room.look(|index, files| position(room, agent, index, files, &reads))?;
        let known = room
            .local()
            .positions
            .get(agent)
            .cloned()
            .unwrap_or_default();
        let mut reads = Reads::clone(&reads);
        let mut status = reads.get(agent).cloned().unwrap_or_default();
        status.agent_name = agent.to_owned();
        if let Some(read) = known.read {
            status.last_read_message_id = read.id;
        }
        status.last_read_timestamp = written(now);
        status.last_mention_message_id = known.mention.map(|place| place.id);
        reads.set(agent, status);
        let members = room.members()?;
        reads.keep_last(REMEMBERED, |name| members.users.get(name).is_some());
        Ok(reads)
    }
}
