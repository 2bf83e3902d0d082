//! Signs of life, and who is online by them.

use jiff::Timestamp;
use kit::{Result, Row};

use super::tables::Tables;
use crate::model::members::{Activity, Status};

/// A member's signs of life.
pub struct Life {
    /// What was last noted.
    pub online: bool,
    pub activity: Activity,
    /// When the process of the activity was last alive.
    process_seen: Option<i64>,
}

/// Columns of `rooms_members m` and `rooms_processes p`, for [`Life`].
macro_rules! life_columns {
    () => {
        "m.online, m.active_at, m.process, m.waiting_until, p.seen_at"
    };
}
pub(super) use life_columns;

/// How many columns those are.
pub const LIFE_COLUMNS: usize = 5;

impl Life {
    /// Reads [`life_columns`] that begin at the column `from`.
    pub fn read(row: &Row, from: usize) -> Result<Self> {
        let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
        Ok(Self {
            online: row.int(from)? == 1,
            activity: Activity {
                last_active_at: time(row.int(from + 1)?),
                process: row.text(from + 2)?,
                waiting_until: row.opt_int(from + 3)?.map(time),
            },
            process_seen: row.opt_int(from + 4)?,
        })
    }
}

impl Tables {
    /// Whether a member is online now, whatever was last noted.
    pub fn status_of(&self, life: &Life, now: Timestamp) -> Status {
        let alive_since = self.alive_since();
        let mut lives = |process: &str| {
            process == self.process || life.process_seen.is_some_and(|seen| seen > alive_since)
        };
        let is_present = life
            .activity
            .is_present(now, self.settings.idle_ms(), &mut lives);
        match life.online && is_present {
            true => Status::Online,
            false => Status::Offline,
        }
    }
}
