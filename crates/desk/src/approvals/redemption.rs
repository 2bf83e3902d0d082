//! Makes sure that an approval is used once: the call that inserts its row first
//! has used it.
//!
//! The row is inserted in the transaction and store of the work, so the approval is
//! used exactly when the work is done. The reply is stored with it, for a caller who
//! disconnected before the answer arrived.

use kit::{Error, Reply, Result, Sql};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Uses the approval for this call; `false` if another call has used it.
pub fn redeem(sql: &mut dyn Sql, approval: &str, call: &str, now: i64) -> Result<bool> {
    let used = sql.execute(
        "INSERT INTO desk_redemptions (approval, call_id, at_ms) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING",
        &[approval.into(), call.into(), now.into()],
    )?;
    Ok(used == 1)
}

/// `None`: no call has used it. `Some(None)`: one has, and its reply is not stored.
pub fn find(sql: &mut dyn Sql, approval: &str) -> Result<Option<Option<String>>> {
    let row = sql.query_one(
        "SELECT reply FROM desk_redemptions WHERE approval = $1",
        &[approval.into()],
    )?;
    row.map(|row| row.opt_text(0)).transpose()
}

/// Stores the call's reply with its approval.
pub fn keep(sql: &mut dyn Sql, approval: &str, text: &str) -> Result<()> {
    sql.execute(
        "UPDATE desk_redemptions SET reply = $1 WHERE approval = $2",
        &[text.into(), approval.into()],
    )?;
    Ok(())
}

/// An answer as stored JSON: an object for a structured reply, a list for content
/// blocks, and a string that contains JSON for an error.
pub fn text(answer: Result<&Reply, &Error>) -> Result<String> {
    let json = |value: &Value| value.to_string();
    Ok(match answer {
        // A replay does without the blocks, which only show what the JSON says.
        Ok(Reply::Structured(json) | Reply::Illustrated { json, .. }) => json.clone(),
        Ok(Reply::Kept(kept)) => kept.json.clone(),
        Ok(Reply::Content(blocks)) => serde_json::to_string(blocks).map_err(Error::internal)?,
        Ok(Reply::InputRequired { .. }) => json(&Value::Null),
        Err(error) => {
            let kept = KeptError {
                code: error.code.to_string(),
                message: error.message.clone(),
                next: error.next.clone(),
                japanese: error.japanese.clone(),
                spoken: error.spoken.clone(),
                details: error.details.clone(),
            };
            let kept = serde_json::to_string(&kept).map_err(Error::internal)?;
            json(&Value::String(kept))
        }
    })
}

/// Parses a stored answer.
pub fn answer(text: String) -> Result<Reply> {
    match serde_json::from_str(&text) {
        Ok(Value::Array(blocks)) => Ok(Reply::Content(blocks)),
        Ok(Value::String(kept)) => {
            let kept: KeptError = serde_json::from_str(&kept).map_err(Error::internal)?;
            let mut error = Error::new(kept.code, kept.message);
            error.next = kept.next;
            error.japanese = kept.japanese;
            error.spoken = kept.spoken;
            error.details = kept.details;
            Err(error)
        }
        _ => Ok(Reply::Structured(text)),
    }
}

/// The parts of an error that a caller sees.
#[derive(Serialize, Deserialize)]
struct KeptError {
    code: String,
    message: String,
    next: Option<String>,
    japanese: Option<String>,
    #[serde(default)]
    spoken: Option<Box<[String; 2]>>,
    details: Option<Value>,
}
