//! Standing grants: a caller may always use a tool for a recipient.

use std::sync::Arc;

use kit::{Caller, Error, Result, Sql, approval::Card};

use super::approval::Approval;

#[derive(Debug, Clone)]
pub struct Grant {
    pub id: String,
    pub counter: String,
    pub tool: String,
    pub caller: Caller,
    /// Empty for a tool without recipients.
    pub recipient: String,
    pub created_at: i64,
    pub granted_by: String,
}

/// The grants in force, newest first.
pub fn list(sql: &mut dyn Sql) -> Result<Vec<Grant>> {
    sql.query(
        "SELECT id, counter, tool, caller, caller_name, recipient, created_at, granted_by
         FROM desk_grants WHERE revoked_at IS NULL ORDER BY created_at DESC, id",
        &[],
    )?
    .iter()
    .map(|row| {
        Ok(Grant {
            id: row.text(0)?,
            counter: row.text(1)?,
            tool: row.text(2)?,
            caller: Caller::new(&row.text(3)?, &row.text(4)?),
            recipient: row.text(5)?,
            created_at: row.int(6)?,
            granted_by: row.text(7)?,
        })
    })
    .collect()
}

pub fn revoke(sql: &mut dyn Sql, id: &str, now: i64) -> Result<()> {
    let revoked = sql.execute(
        "UPDATE desk_grants SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL",
        &[now.into(), id.into()],
    )?;
    if revoked == 0 {
        return Err(Error::new(
            "GRANT_NOT_FOUND",
            "There is no standing grant with this id.",
        )
        .next("List the grants in force with: madoguchi approvals grants"));
    }
    Ok(())
}

/// The caller and tool of a grant.
pub struct GrantScope {
    pub caller: Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
}

impl GrantScope {
    /// The id of the grant in force for the card's recipient. `sql` is the store with
    /// the desk's own rows.
    pub fn find(&self, sql: &mut dyn Sql, card: &Card) -> Result<Option<String>> {
        if !card.allows_standing_grant() {
            return Ok(None);
        }
        let row = sql.query_one(
            "SELECT id FROM desk_grants
             WHERE caller = $1 AND counter = $2 AND tool = $3 AND recipient = $4
               AND revoked_at IS NULL",
            &[
                (&*self.caller).into(),
                self.counter.into(),
                self.tool.into(),
                card.recipient.as_deref().unwrap_or_default().into(),
            ],
        )?;
        row.map(|row| row.text(0)).transpose()
    }
}

pub fn insert(sql: &mut dyn Sql, approval: &Approval, by: &str, now: i64) -> Result<()> {
    let recipient = approval.card.recipient.as_deref().unwrap_or_default();
    sql.execute(
        "INSERT INTO desk_grants
             (id, counter, tool, caller, caller_name, recipient, created_at, granted_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            (&kit::ids::random("gr_", 12)).into(),
            (&approval.counter).into(),
            (&approval.tool).into(),
            (&*approval.caller.id).into(),
            (&*approval.caller.name).into(),
            recipient.into(),
            now.into(),
            by.into(),
        ],
    )?;
    Ok(())
}
