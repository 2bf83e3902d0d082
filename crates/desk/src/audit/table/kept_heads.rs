//! The heads of unsealed segments, as rows apart from the records. A head is written in
//! the transaction of its records, so it never names a record that was lost.

use kit::{
    Result, Sql,
    sql::{Migration, Migrations},
};

use crate::audit::record::{Head, RecordLine};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "audit",
    steps: &[Migration {
        version: 1,
        name: "heads",
        sql: "CREATE TABLE desk_audit_heads (
            segment TEXT PRIMARY KEY,
            seq BIGINT NOT NULL,
            hash TEXT NOT NULL
        )",
    }],
};

pub fn set(sql: &mut dyn Sql, segment: &str, last: &RecordLine) -> Result<()> {
    sql.execute(
        "INSERT INTO desk_audit_heads (segment, seq, hash) VALUES ($1, $2, $3)
         ON CONFLICT (segment) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        &[segment.into(), number(last.seq).into(), last.hash().into()],
    )?;
    Ok(())
}

/// Renews the lease of a segment and sets its head, in one statement. Returns whether
/// the lease is still held.
pub fn renew_and_set(
    sql: &mut dyn Sql,
    segment: &str,
    last: &RecordLine,
    (lease, holder, expires_at): (&str, &str, i64),
) -> Result<bool> {
    let changed = sql.execute(
        "WITH renewed AS (
             UPDATE leases SET expires_at = $1 WHERE name = $2 AND holder = $3 RETURNING name
         )
         INSERT INTO desk_audit_heads (segment, seq, hash)
         SELECT CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT) FROM renewed
         ON CONFLICT (segment) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        &[
            expires_at.into(),
            lease.into(),
            holder.into(),
            segment.into(),
            number(last.seq).into(),
            last.hash().into(),
        ],
    )?;
    Ok(changed == 1)
}

pub fn remove(sql: &mut dyn Sql, segment: &str) -> Result<()> {
    sql.execute(
        "DELETE FROM desk_audit_heads WHERE segment = $1",
        &[segment.into()],
    )?;
    Ok(())
}

pub fn all(sql: &mut dyn Sql) -> Result<Vec<Head>> {
    sql.query(
        "SELECT segment, seq, hash FROM desk_audit_heads ORDER BY segment",
        &[],
    )?
    .iter()
    .map(|row| {
        Ok(Head {
            segment: row.text(0)?,
            seq: u64::try_from(row.int(1)?).unwrap_or_default(),
            hash: row.text(2)?,
        })
    })
    .collect()
}

pub fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
