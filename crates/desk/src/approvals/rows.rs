//! The rows of approvals. Each change of state is one `UPDATE` that names the
//! expected state.

use kit::{Caller, Error, Result, Row, Sql, sql::Param};

use super::approval::{Approval, ApprovalQuestion, LAPSES_MS, Status};
use crate::state;

/// How many expired questions of one caller are kept.
const MOST_EXPIRED: i64 = 100;

const COLUMNS: &str = "id, counter, tool, caller, caller_name, arguments, digest, card, status,
    created_at, expires_at, decided_at, decided_by, reason, delivered_at";

/// Newest first; `None`: of any status.
pub fn list(
    sql: &mut dyn Sql,
    only: Option<Status>,
    limit: i64,
    now: i64,
) -> Result<Vec<Approval>> {
    // Filtered in the query, so that the limit applies to matching rows only.
    let (wanted, by_time) = match only {
        None => ("1 = 1", false),
        Some(Status::Pending) => ("status = 'pending' AND expires_at > $2", true),
        Some(Status::Approved) => ("status = 'approved' AND expires_at > $2", true),
        Some(Status::Denied) => ("status = 'denied'", false),
        Some(Status::Used) => ("status = 'used'", false),
        Some(Status::Expired) => (
            "status IN ('pending', 'approved') AND expires_at <= $2",
            true,
        ),
    };
    let sql_text = format!(
        "SELECT {COLUMNS} FROM desk_approvals WHERE {wanted}
         ORDER BY created_at DESC, id LIMIT $1"
    );
    let parameters = [limit.into(), now.into()];
    let used = if by_time { 2 } else { 1 };
    sql.query(&sql_text, parameters.get(..used).unwrap_or_default())?
        .iter()
        .map(|row| from_row(row, now))
        .collect()
}

pub fn latest(
    sql: &mut dyn Sql,
    question: &ApprovalQuestion,
    now: i64,
) -> Result<Option<Approval>> {
    let row = sql.query_one(
        &format!(
            "SELECT {COLUMNS} FROM desk_approvals
             WHERE digest = $1 AND caller = $2 AND counter = $3 AND tool = $4
             ORDER BY created_at DESC, id DESC LIMIT 1"
        ),
        &[
            (&question.digest).into(),
            (&*question.caller.id).into(),
            question.counter.into(),
            question.tool.into(),
        ],
    )?;
    row.map(|row| from_row(&row, now)).transpose()
}

pub fn one(sql: &mut dyn Sql, id: &str, now: i64) -> Result<Approval> {
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM desk_approvals WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    match row {
        Some(row) => from_row(&row, now),
        None => Err(
            Error::new("APPROVAL_NOT_FOUND", "There is no approval with this id.")
                .next("List approvals with: madoguchi approvals list"),
        ),
    }
}

fn from_row(row: &Row, now: i64) -> Result<Approval> {
    let json = |text: String| serde_json::from_str(&text).map_err(Error::internal);
    let expires_at = row.int(10)?;
    let status = Status::parse(&row.text(8)?)
        .ok_or_else(|| Error::internal("an approval has an unknown status"))?;
    let waits = matches!(status, Status::Pending | Status::Approved);
    Ok(Approval {
        id: row.text(0)?,
        counter: row.text(1)?,
        tool: row.text(2)?,
        caller: Caller::new(&row.text(3)?, &row.text(4)?),
        arguments: json(row.text(5)?)?,
        digest: row.text(6)?,
        card: serde_json::from_str(&row.text(7)?).map_err(Error::internal)?,
        status: if waits && expires_at <= now {
            Status::Expired
        } else {
            status
        },
        created_at: row.int(9)?,
        expires_at,
        decided_at: row.opt_int(11)?,
        decided_by: row.opt_text(12)?,
        reason: row.opt_text(13)?,
        delivered_at: row.opt_int(14)?,
    })
}

/// How many questions wait for an answer.
pub fn count_all_waiting(sql: &mut dyn Sql, now: i64) -> Result<i64> {
    let row = sql.query_one(
        "SELECT COUNT(*) FROM desk_approvals WHERE status = 'pending' AND expires_at > $1",
        &[now.into()],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// How many questions of a caller wait for an answer.
pub fn count_waiting(sql: &mut dyn Sql, caller: &Caller, now: i64) -> Result<i64> {
    let row = sql.query_one(
        "SELECT COUNT(*) FROM desk_approvals
         WHERE caller = $1 AND status = 'pending' AND expires_at > $2",
        &[(&*caller.id).into(), now.into()],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// Adds a question that waits for its answer; returns its id.
pub fn insert(
    sql: &mut dyn Sql,
    question: &ApprovalQuestion,
    arguments: &str,
    card: &str,
    now: i64,
) -> Result<String> {
    let id = kit::ids::random("ap_", 20);
    let recipient = question.card.recipient.as_deref().unwrap_or_default();
    sql.execute(
        "INSERT INTO desk_approvals
             (id, counter, tool, caller, caller_name, arguments, digest, card, recipient,
              status, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $11)",
        &[
            (&id).into(),
            question.counter.into(),
            question.tool.into(),
            (&*question.caller.id).into(),
            (&*question.caller.name).into(),
            arguments.into(),
            (&question.digest).into(),
            card.into(),
            recipient.into(),
            now.into(),
            (now + LAPSES_MS).into(),
        ],
    )?;
    Ok(id)
}

/// Runs in the work's transaction. `false` if it can no longer be used.
pub fn mark_used(sql: &mut dyn Sql, id: &str, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE desk_approvals SET status = 'used', used_at = $1
         WHERE id = $2 AND status = 'approved' AND expires_at > $1",
        &[now.into(), id.into()],
    )?;
    if changed == 1 {
        state::touch(sql, state::APPROVALS)?;
    }
    Ok(changed == 1)
}

/// The tool asked the client for more: the approval waits for the next round.
pub fn give_back(sql: &mut dyn Sql, id: &str) -> Result<()> {
    sql.execute(
        "UPDATE desk_approvals SET status = 'approved', used_at = NULL
         WHERE id = $1 AND status = 'used'",
        &[id.into()],
    )?;
    sql.execute(
        "DELETE FROM desk_redemptions WHERE approval = $1",
        &[id.into()],
    )?;
    state::touch(sql, state::APPROVALS)
}

/// Deletes the oldest expired questions of a caller. An agent can ask at any rate,
/// and nobody reads these.
pub fn delete_expired(sql: &mut dyn Sql, caller: &Caller, now: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM desk_approvals
         WHERE caller = $1 AND status = 'pending' AND expires_at <= $2
           AND id NOT IN (
               SELECT id FROM desk_approvals
               WHERE caller = $1 AND status = 'pending' AND expires_at <= $2
               ORDER BY created_at DESC, id LIMIT $3)",
        &[(&*caller.id).into(), now.into(), MOST_EXPIRED.into()],
    )?;
    Ok(())
}

/// Ends every approval that is not used yet, whatever its answer was. Returns how many
/// there were.
pub fn lapse_all(sql: &mut dyn Sql, now: i64) -> Result<u64> {
    let lapsed = sql.execute(
        "UPDATE desk_approvals SET expires_at = $1
         WHERE status IN ('pending', 'approved') AND expires_at > $1",
        &[now.into()],
    )?;
    state::touch(sql, state::APPROVALS)?;
    Ok(lapsed)
}
