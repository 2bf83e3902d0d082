//! The key that signs tickets, and who was admitted.

use kit::{Param, Result, Sql};

/// The secret of the cinema's ticket key, if it has one.
pub fn ticket_secret(sql: &mut dyn Sql) -> Result<Option<String>> {
    let found = sql.query_one("SELECT secret FROM cinema_ticket_keys WHERE id = 1", &[])?;
    found.map(|row| row.text(0)).transpose()
}

/// Keeps a secret, unless another process was faster.
pub fn keep_ticket_secret(sql: &mut dyn Sql, secret: &str, now: i64) -> Result<()> {
    sql.execute(
        "INSERT INTO cinema_ticket_keys (id, secret, created_at) VALUES (1, $1, $2) \
         ON CONFLICT (id) DO NOTHING",
        &[Param::Text(secret), Param::Int(now)],
    )?;
    Ok(())
}

/// The reservations of a screening for which a ticket can exist.
pub fn booked_ids(sql: &mut dyn Sql, show_id: &str) -> Result<Vec<String>> {
    sql.query(
        "SELECT id FROM cinema_reservations \
         WHERE show_id = $1 AND status IN ('confirmed', 'cancelled')",
        &[Param::Text(show_id)],
    )?
    .iter()
    .map(|row| row.text(0))
    .collect()
}

/// Marks a booking as admitted. `false` if it was admitted or changed meanwhile.
pub fn admit(sql: &mut dyn Sql, id: &str, version: i64, now: i64) -> Result<bool> {
    let admitted = sql.execute(
        "UPDATE cinema_reservations SET admitted_at = $3 \
         WHERE id = $1 AND version = $2 AND status = 'confirmed' AND admitted_at IS NULL",
        &[Param::Text(id), Param::Int(version), Param::Int(now)],
    )?;
    Ok(admitted == 1)
}
