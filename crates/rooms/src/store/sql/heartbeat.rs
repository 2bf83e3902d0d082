//! Which processes are alive, and which members are online through them.

use jiff::Timestamp;
use kit::{Result, Row, Sql};

use super::tables::{DEAD_MS, Tables};
use crate::model::names::RoomName;

/// After how many of its lifetimes the row of a process that ended is removed.
const KEPT: i64 = 100;

impl Tables {
    /// Notes that a member waits until a time.
    pub fn note_waiting(
        &self,
        sql: &mut dyn Sql,
        (room, agent): (&RoomName, &str),
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        sql.execute(
            "UPDATE rooms_members SET online = 1, active_at = $3, process = $4,
                 waiting_until = $5
             WHERE agent = $2 AND is_member = 1
                 AND room = (SELECT id FROM rooms_rooms WHERE name = $1)",
            &[
                room.as_str().into(),
                agent.into(),
                now.as_millisecond().into(),
                (&self.process).into(),
                until.as_millisecond().into(),
            ],
        )?;
        Ok(())
    }

    /// Notes that a member does not wait any more, unless another of its calls does.
    pub fn end_waiting(
        &self,
        sql: &mut dyn Sql,
        (room, agent): (&RoomName, &str),
        now: Timestamp,
        waits: impl Fn() -> bool,
    ) -> Result<()> {
        let (room, agent) = (room.as_str().into(), agent.into());
        // Locks the row first: the mark of a call that begins to wait from here on is
        // written after this one.
        sql.execute(
            "UPDATE rooms_members SET online = 1, active_at = $3, process = $4
             WHERE agent = $2 AND is_member = 1
                 AND room = (SELECT id FROM rooms_rooms WHERE name = $1)",
            &[
                room,
                agent,
                now.as_millisecond().into(),
                (&self.process).into(),
            ],
        )?;
        if waits() {
            return Ok(());
        }
        sql.execute(
            "UPDATE rooms_members SET waiting_until = NULL WHERE agent = $2
                 AND room = (SELECT id FROM rooms_rooms WHERE name = $1)",
            &[room, agent],
        )?;
        Ok(())
    }

    /// Notes who is offline by now. Returns the rooms where somebody is.
    pub fn sweep(&self, sql: &mut dyn Sql, now: Timestamp) -> Result<Vec<RoomName>> {
        let now = now.as_millisecond();
        let gone = "UPDATE rooms_members SET online = 0, waiting_until = NULL
             WHERE online = 1 AND is_member = 1
                 AND ((active_at <= $1 AND (waiting_until IS NULL OR waiting_until <= $2))
                     OR (process <> '' AND process <> $3 AND process NOT IN
                         (SELECT id FROM rooms_processes WHERE seen_at > $4)))
             RETURNING room";
        let rows = sql.query(
            gone,
            &[
                (now - self.settings.idle_ms()).into(),
                now.into(),
                (&self.process).into(),
                self.alive_since().into(),
            ],
        )?;
        let ended = "DELETE FROM rooms_processes WHERE seen_at < $1";
        sql.execute(ended, &[(self.now_ms() - KEPT * DEAD_MS).into()])?;
        names_of(sql, &rows)
    }

    /// Takes everybody offline whom this process served last. Returns their rooms.
    pub fn retire(&self, sql: &mut dyn Sql) -> Result<Vec<RoomName>> {
        let ours = "UPDATE rooms_members SET online = 0, waiting_until = NULL
             WHERE process = $1 AND online = 1 AND is_member = 1 RETURNING room";
        let rows = sql.query(ours, &[(&self.process).into()])?;
        let ended = "DELETE FROM rooms_processes WHERE id = $1";
        sql.execute(ended, &[(&self.process).into()])?;
        names_of(sql, &rows)
    }
}

/// The names of the rooms in these rows, each once.
fn names_of(sql: &mut dyn Sql, rows: &[Row]) -> Result<Vec<RoomName>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids: Vec<i64> = rows.iter().map(|row| row.int(0)).collect::<Result<_>>()?;
    ids.sort_unstable();
    ids.dedup();
    let all = sql.query("SELECT id, name FROM rooms_rooms", &[])?;
    let mut names = Vec::new();
    for row in &all {
        if ids.contains(&row.int(0)?) {
            names.push(RoomName::parse(&row.text(1)?)?);
        }
    }
    Ok(names)
}
