//! Who waits for seats of a full screening, in the order in which they came.

use kit::{Error, Param, Result, Row, Sql};

/// Parties that can wait for one screening, whatever the operator says: all of them are
/// looked at when seats become free.
pub const MOST_WAITING: u32 = 1_000;

const COLUMNS: &str = "id, show_id, party_size, wishes, status, caller, turn, hold_id";

pub struct NewWaiting<'a> {
    pub id: &'a str,
    pub show_id: &'a str,
    pub party_size: usize,
    /// The wishes as JSON.
    pub wishes: &'a str,
    pub caller: &'a str,
    pub now: i64,
}

#[derive(Debug)]
pub struct WaitingParty {
    pub id: String,
    pub show_id: String,
    pub party_size: usize,
    pub wishes: String,
    /// `waiting`, `offered` or `left`.
    pub status: String,
    pub caller: String,
    turn: i64,
    /// The hold with the seats that were offered.
    pub hold_id: Option<String>,
}

/// Adds a party at the end. The screening is locked by the caller.
pub fn join_waiting(sql: &mut dyn Sql, new: &NewWaiting<'_>) -> Result<()> {
    let size = i64::try_from(new.party_size).map_err(Error::internal)?;
    sql.execute(
        "INSERT INTO cinema_waiting \
         (id, show_id, party_size, wishes, status, caller, joined_at, turn) \
         SELECT $1, $2, $3, $4, 'waiting', $5, $6, COALESCE(MAX(turn), 0) + 1 \
         FROM cinema_waiting WHERE show_id = $2 AND status = 'waiting'",
        &[
            Param::Text(new.id),
            Param::Text(new.show_id),
            Param::Int(size),
            Param::Text(new.wishes),
            Param::Text(new.caller),
            Param::Int(new.now),
        ],
    )?;
    count_waiting(sql, new.show_id)
}

/// The parties that wait for a screening, the first in line first.
pub fn waiting_parties(sql: &mut dyn Sql, show_id: &str) -> Result<Vec<WaitingParty>> {
    sql.query(
        &format!(
            "SELECT {COLUMNS} FROM cinema_waiting WHERE show_id = $1 AND status = 'waiting' \
             ORDER BY turn LIMIT $2"
        ),
        &[Param::Text(show_id), Param::Int(i64::from(MOST_WAITING))],
    )?
    .iter()
    .map(party)
    .collect()
}

pub fn waiting_party(sql: &mut dyn Sql, id: &str) -> Result<Option<WaitingParty>> {
    let found = sql.query_one(
        &format!("SELECT {COLUMNS} FROM cinema_waiting WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    found.as_ref().map(party).transpose()
}

/// How many parties are before this one, itself included.
pub fn position(sql: &mut dyn Sql, party: &WaitingParty) -> Result<i64> {
    let count = sql.query_one(
        "SELECT COUNT(*) FROM cinema_waiting \
         WHERE show_id = $1 AND status = 'waiting' AND turn <= $2",
        &[Param::Text(&party.show_id), Param::Int(party.turn)],
    )?;
    count.map_or(Ok(0), |row| row.int(0))
}

/// Notes that seats are held for a party.
pub fn offered(sql: &mut dyn Sql, id: &str, hold_id: &str) -> Result<()> {
    sql.execute(
        "UPDATE cinema_waiting SET status = 'offered', hold_id = $2 WHERE id = $1",
        &[Param::Text(id), Param::Text(hold_id)],
    )?;
    Ok(())
}

/// Takes a party off the list. `false` if it no longer waits.
pub fn leave_waiting(sql: &mut dyn Sql, id: &str) -> Result<bool> {
    let left = sql.execute(
        "UPDATE cinema_waiting SET status = 'left' WHERE id = $1 AND status = 'waiting'",
        &[Param::Text(id)],
    )?;
    Ok(left > 0)
}

/// Writes the number of waiting parties to the screening, where every call that reads
/// the screening sees it.
pub fn count_waiting(sql: &mut dyn Sql, show_id: &str) -> Result<()> {
    sql.execute(
        "UPDATE cinema_shows SET waiting = (SELECT COUNT(*) FROM cinema_waiting \
         WHERE show_id = $1 AND status = 'waiting') WHERE id = $1",
        &[Param::Text(show_id)],
    )?;
    Ok(())
}

/// Deletes the parties of screenings that began before an instant. There are never many
/// parties, so each is looked at, however long no desk ran.
pub fn delete_waiting(sql: &mut dyn Sql, before: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM cinema_waiting WHERE EXISTS (SELECT 1 FROM cinema_shows s \
         WHERE s.id = cinema_waiting.show_id AND s.starts_at < $1)",
        &[Param::Int(before)],
    )?;
    sql.execute(
        "UPDATE cinema_shows SET waiting = 0 WHERE waiting > 0 AND starts_at < $1",
        &[Param::Int(before)],
    )?;
    Ok(())
}

fn party(row: &Row) -> Result<WaitingParty> {
    Ok(WaitingParty {
        id: row.text(0)?,
        show_id: row.text(1)?,
        party_size: row.int(2)?.try_into().map_err(Error::internal)?,
        wishes: row.text(3)?,
        status: row.text(4)?,
        caller: row.text(5)?,
        turn: row.int(6)?,
        hold_id: row.opt_text(7)?,
    })
}
