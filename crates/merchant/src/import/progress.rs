//! How far an import came, kept in the same transaction as its rows.

use std::sync::Arc;

use kit::{Param, Result, Sql, Store, sql::Budget};

/// How far a file has been imported.
#[derive(Debug, Clone)]
pub struct ImportProgress {
    pub digest: String,
    pub rows: u64,
    pub imported: u64,
    pub skipped: u64,
    pub is_complete: bool,
}

impl ImportProgress {
    pub async fn find(store: &Arc<dyn Store>, digest: &str) -> Result<Self> {
        let fresh = Self {
            digest: digest.to_owned(),
            rows: 0,
            imported: 0,
            skipped: 0,
            is_complete: false,
        };
        let digest = digest.to_owned();
        let found = store
            .query(Budget::default(), move |sql| {
                sql.query_one(
                    "SELECT rows_done, imported, skipped FROM merchant_imports \
                     WHERE digest = $1 AND is_complete = 0",
                    &[Param::Text(&digest)],
                )
            })
            .await?;
        let Some(row) = found else {
            return Ok(fresh);
        };
        Ok(Self {
            rows: row.int(0)?.unsigned_abs(),
            imported: row.int(1)?.unsigned_abs(),
            skipped: row.int(2)?.unsigned_abs(),
            ..fresh
        })
    }

    pub fn save(&self, sql: &mut dyn Sql, now: i64) -> Result<()> {
        sql.execute(
            "INSERT INTO merchant_imports \
             (digest, rows_done, imported, skipped, is_complete, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (digest) DO UPDATE SET \
             rows_done = excluded.rows_done, imported = excluded.imported, \
             skipped = excluded.skipped, is_complete = excluded.is_complete, \
             updated_at = excluded.updated_at",
            &[
                Param::Text(&self.digest),
                Param::Int(self.rows.cast_signed()),
                Param::Int(self.imported.cast_signed()),
                Param::Int(self.skipped.cast_signed()),
                Param::Int(self.is_complete.into()),
                Param::Int(now),
            ],
        )?;
        // This file may have overwritten what another one began: that one starts anew.
        sql.execute(
            "DELETE FROM merchant_imports WHERE is_complete = 0 AND digest <> $1",
            &[Param::Text(&self.digest)],
        )?;
        Ok(())
    }

    pub async fn write(&self, store: &Arc<dyn Store>, now: i64) -> Result<()> {
        let progress = self.clone();
        store
            .transaction(Budget::default(), move |sql| progress.save(sql, now))
            .await
    }
}
