//! How far an agent has read, and what it has not.

use kit::{Result, Row};

use super::tables::count;

/// Columns of `rooms_members m`, for [`Reading`].
macro_rules! reading_columns {
    () => {
        "m.read_number, m.mention_number, m.delivered, m.version, \
         COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = m.agent AND x.room = m.room \
             ORDER BY x.number DESC LIMIT 1), 0), \
         COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = m.agent AND x.room = m.room \
             AND x.number <= m.read_number ORDER BY x.number DESC LIMIT 1), 0), \
         COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = 'system' \
             AND m.agent <> 'system' AND x.room = m.room ORDER BY x.number DESC LIMIT 1), 0) \
         - COALESCE((SELECT x.nth FROM rooms_messages x WHERE x.agent = 'system' \
             AND m.agent <> 'system' AND x.room = m.room AND x.number <= m.read_number \
             ORDER BY x.number DESC LIMIT 1), 0), \
         (SELECT COUNT(*) FROM rooms_mentions t WHERE t.room = m.room AND t.agent = m.agent \
             AND t.by_other = 1 AND t.number > m.read_number AND t.number <= m.mention_number)"
    };
}
pub(super) use reading_columns;

/// How many columns those are.
pub const READING_COLUMNS: usize = 8;

/// How many delivered messages beyond the read position are remembered. Older ones are
/// delivered again.
const MOST_DELIVERED: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// All messages up to this one are read,
    pub read: i64,
    /// and so are all mentions up to this one,
    pub mention: i64,
    /// and these, each with whether it mentions the agent.
    pub delivered: Vec<(i64, bool)>,
    pub version: i64,
    /// How many messages the agent has sent,
    pub sent: i64,
    /// and how many of them it has read.
    sent_and_read: i64,
    /// Unread messages of the program itself, which nobody has to read.
    system: i64,
    /// Mentions between `read` and `mention`.
    mentions_read: i64,
}

impl Reading {
    /// Reads [`reading_columns`] that begin at the column `from`.
    pub fn read(row: &Row, from: usize) -> Result<Self> {
        Ok(Self {
            read: row.int(from)?,
            mention: row.int(from + 1)?,
            delivered: serde_json::from_str(&row.text(from + 2)?).unwrap_or_default(),
            version: row.int(from + 3)?,
            sent: row.int(from + 4)?,
            sent_and_read: row.int(from + 5)?,
            system: row.int(from + 6)?,
            mentions_read: row.int(from + 7)?,
        })
    }

    /// How many messages of others are unread, in a room with messages from `first` to
    /// before `next`.
    pub fn unread(&self, first: i64, next: i64) -> usize {
        let from = first.max(self.read + 1);
        let delivered = self.delivered.iter().filter(|(number, mentions)| {
            *number >= from && !(*mentions && *number <= self.mention)
        });
        let read = self.mentions_read + i64::try_from(delivered.count()).unwrap_or_default();
        let own = self.sent - self.sent_and_read;
        count(next - from - own - self.system - read)
    }

    /// The agent has sent so many more.
    pub fn has_sent(&mut self, more: i64) {
        self.sent += more;
    }

    pub fn is_delivered(&self, number: i64) -> bool {
        self.delivered.iter().any(|(known, _)| *known == number)
    }

    /// Everything up to a message is read.
    pub fn read_up_to(&mut self, number: i64) {
        self.read = self.read.max(number);
        self.delivered.retain(|(known, _)| *known > number);
    }

    /// These were delivered, whatever is unread before them.
    pub fn deliver(&mut self, messages: impl Iterator<Item = (i64, bool)>) {
        self.delivered.extend(messages);
        self.delivered.sort_unstable();
        self.delivered.dedup();
        let over = self.delivered.len().saturating_sub(MOST_DELIVERED);
        self.delivered.drain(..over);
    }

    /// `delivered` as the database has it.
    pub fn delivered_text(&self) -> String {
        serde_json::to_string(&self.delivered).unwrap_or_else(|_| "[]".into())
    }
}
