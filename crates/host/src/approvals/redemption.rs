//! An approval is used once: whoever inserts its row first has used it.
//!
//! The row stands in the store the work is done in, in the same transaction, so
//! the approval is used exactly when the work is done. The reply is kept with
//! it, for a caller who went away before it came.

use kit::{Error, Reply, Result, Sql};

/// Uses the approval for this call; `false` when a call before has used it.
pub fn redeem(sql: &mut dyn Sql, approval: &str, call: &str, now: i64) -> Result<bool> {
    let used = sql.execute(
        "INSERT INTO desk_redemptions (approval, call_id, at_ms) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING",
        &[approval.into(), call.into(), now.into()],
    )?;
    Ok(used == 1)
}

/// The reply of the call that used it, if it came that far; `None` when none has.
pub fn find(sql: &mut dyn Sql, approval: &str) -> Result<Option<Option<String>>> {
    let row = sql.query_one(
        "SELECT reply FROM desk_redemptions WHERE approval = $1",
        &[approval.into()],
    )?;
    row.map(|row| row.opt_text(0)).transpose()
}

/// Keeps the reply with the approval that led to it.
pub fn keep(sql: &mut dyn Sql, approval: &str, reply: &Reply) -> Result<()> {
    let reply = match reply {
        Reply::Structured(json) => json.clone(),
        Reply::Content(blocks) => serde_json::to_string(blocks).map_err(Error::internal)?,
        Reply::InputRequired { .. } => return Ok(()),
    };
    sql.execute(
        "UPDATE desk_redemptions SET reply = $1 WHERE approval = $2",
        &[(&reply).into(), approval.into()],
    )?;
    Ok(())
}

/// A kept reply, as it was.
pub fn reply(text: String) -> Reply {
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Array(blocks)) => Reply::Content(blocks),
        _ => Reply::Structured(text),
    }
}
