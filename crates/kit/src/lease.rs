//! Leases: work that exactly one process does. It holds a lease in the store and
//! renews it. When it dies, another process takes over once the lease has expired, or
//! at once if the store detects that the holder is gone.

use std::sync::Arc;

use crate::{
    error::Result,
    sql::{Budget, Migration, Migrations, Param, Sql, Store},
};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "leases",
    steps: &[Migration {
        version: 1,
        name: "leases",
        sql: "CREATE TABLE leases (
            name TEXT PRIMARY KEY,
            holder TEXT NOT NULL,
            expires_at BIGINT NOT NULL
        )",
    }],
};

/// Takes or renews the lease until `now + for_ms`; `false` while another holder has
/// it. A lease that ends much later was taken before the clock was set back, and is
/// ignored.
pub fn hold(sql: &mut dyn Sql, name: &str, holder: &str, now: i64, for_ms: i64) -> Result<bool> {
    let changed = sql.execute(
        "INSERT INTO leases (name, holder, expires_at) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE \
         SET holder = excluded.holder, expires_at = excluded.expires_at \
         WHERE leases.holder = excluded.holder OR leases.expires_at <= $4 \
         OR leases.expires_at > $5",
        &[
            Param::Text(name),
            Param::Text(holder),
            Param::Int(now.saturating_add(for_ms)),
            Param::Int(now),
            // The clocks of machines may differ a little.
            Param::Int(now.saturating_add(for_ms.saturating_mul(4))),
        ],
    )?;
    Ok(changed == 1)
}

/// [`hold`], but takes the lease at once from a holder that is gone.
pub async fn take(
    store: &Arc<dyn Store>,
    name: &'static str,
    holder: &str,
    now: i64,
    for_ms: i64,
) -> Result<bool> {
    let own = holder.to_owned();
    let held = move |sql: &mut dyn Sql| {
        if hold(sql, name, &own, now, for_ms)? {
            return Ok(None);
        }
        let found = "SELECT holder FROM leases WHERE name = $1";
        let other = sql.query_one(found, &[Param::Text(name)])?;
        Ok(Some(other.map(|row| row.text(0)).transpose()?))
    };
    let Some(other) = store.transaction(Budget::default(), held).await? else {
        return Ok(true);
    };
    let Some(gone) = other.filter(|other| store.is_gone(other)) else {
        return Ok(false);
    };
    let own = holder.to_owned();
    let taken = move |sql: &mut dyn Sql| {
        release(sql, name, &gone)?;
        hold(sql, name, &own, now, for_ms)
    };
    store.transaction(Budget::default(), taken).await
}

/// The holders of leases whose name begins with `prefix`.
pub fn holders(sql: &mut dyn Sql, prefix: &str, now: i64) -> Result<Vec<String>> {
    let found = sql.query(
        "SELECT holder FROM leases WHERE name LIKE $1 AND expires_at > $2 ORDER BY name",
        &[Param::Text(&format!("{prefix}%")), Param::Int(now)],
    )?;
    found.iter().map(|row| row.text(0)).collect()
}

/// Removes leases whose name begins with `prefix` and that nobody renewed.
pub fn remove_expired(sql: &mut dyn Sql, prefix: &str, now: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM leases WHERE name LIKE $1 AND expires_at <= $2",
        &[Param::Text(&format!("{prefix}%")), Param::Int(now)],
    )?;
    Ok(())
}

/// Releases it, so that nobody has to wait until it expires.
pub fn release(sql: &mut dyn Sql, name: &str, holder: &str) -> Result<()> {
    sql.execute(
        "DELETE FROM leases WHERE name = $1 AND holder = $2",
        &[Param::Text(name), Param::Text(holder)],
    )?;
    Ok(())
}
