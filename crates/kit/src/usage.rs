//! Limits how much one caller may have stored.
//!
//! Each caller has one row per hour with a sum, so that a call costs two statements
//! however much is stored. A row stops counting when everything stored in its hour
//! has expired; nothing is ever subtracted.

use crate::{
    error::Result,
    sql::{Migration, Migrations, Param, Sql},
};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "usage",
    steps: &[Migration {
        version: 1,
        name: "usage by hour",
        sql: "CREATE TABLE usage_by_hour (
            subject TEXT NOT NULL,
            caller TEXT NOT NULL,
            hour BIGINT NOT NULL,
            items BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            PRIMARY KEY (subject, caller, hour)
        );
        CREATE INDEX usage_by_expiry ON usage_by_hour (expires_at)",
    }],
};

/// Average size that the bound on bytes allows.
const BYTES_PER_ITEM: i64 = 4096;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// What one caller may have stored of one kind of thing.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// What is counted. Each subject has its own sums.
    pub subject: &'static str,
    /// How long one item is kept, in milliseconds.
    pub kept_ms: i64,
    /// How many items. On average each may take 4 kB.
    pub items: i64,
}

/// The bound is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// When the first items stop counting, in milliseconds since 1970.
    pub free_at: i64,
}

impl Bound {
    /// Counts one more item of this size. If that exceeds the bound, the transaction
    /// must fail.
    ///
    /// Call this late in a transaction: on PostgreSQL it locks the caller's row
    /// until the commit, which is what makes the sum exact.
    pub fn add(
        &self,
        sql: &mut dyn Sql,
        caller: &str,
        bytes: usize,
        now: i64,
    ) -> Result<std::result::Result<(), Exceeded>> {
        let hour = now.div_euclid(HOUR_MS);
        sql.execute(
            "INSERT INTO usage_by_hour (subject, caller, hour, items, bytes, expires_at) \
             VALUES ($1, $2, $3, 1, $4, $5) ON CONFLICT (subject, caller, hour) DO UPDATE \
             SET items = usage_by_hour.items + 1, bytes = usage_by_hour.bytes + excluded.bytes, \
             expires_at = excluded.expires_at",
            &[
                Param::Text(self.subject),
                Param::Text(caller),
                Param::Int(hour),
                Param::Int(i64::try_from(bytes).unwrap_or(i64::MAX)),
                Param::Int((hour + 1) * HOUR_MS + self.kept_ms),
            ],
        )?;
        let sums = sql.query_one(
            "SELECT CAST(SUM(items) AS BIGINT), CAST(SUM(bytes) AS BIGINT), MIN(expires_at) \
             FROM usage_by_hour WHERE subject = $1 AND caller = $2 AND expires_at > $3",
            &[
                Param::Text(self.subject),
                Param::Text(caller),
                Param::Int(now),
            ],
        )?;
        let Some(sums) = sums else {
            return Ok(Ok(()));
        };
        if sums.int(0)? <= self.items && sums.int(1)? <= self.items * BYTES_PER_ITEM {
            return Ok(Ok(()));
        }
        Ok(Err(Exceeded {
            free_at: sums.int(2)?,
        }))
    }
}

/// Deletes expired sums.
pub fn purge(sql: &mut dyn Sql, now: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM usage_by_hour WHERE expires_at <= $1",
        &[Param::Int(now)],
    )?;
    Ok(())
}
