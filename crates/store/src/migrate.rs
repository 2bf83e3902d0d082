//! Creates and changes tables.
//!
//! Every start compares the steps that a counter knows with those on record. If there
//! is nothing to do, this is one read ([`verify`]). Otherwise [`apply`] runs in one
//! transaction, under a lock that the engine takes first.

use std::time::{SystemTime, UNIX_EPOCH};

use kit::{Error, Result, Sql, counter::Migrations, sql::Migration};
use sha2::{Digest as _, Sha256};

use crate::{failure::storage, job::Script};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS madoguchi_migrations (
    owner TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (owner, version)
)";

/// `Ok` when every known step is on record, and no other.
pub(crate) fn verify(sql: &mut dyn Sql, migrations: Migrations) -> Result<()> {
    match missing(sql, migrations)?.first() {
        None => Ok(()),
        Some(step) => Err(Error::internal(format!(
            "step {} of `{}` is yet to be applied",
            step.version, migrations.owner
        ))),
    }
}

/// Applies the missing steps. The caller holds the lock.
pub(crate) fn apply(sql: &mut dyn Script, migrations: Migrations) -> Result<()> {
    sql.script(TABLE)?;
    for step in missing(sql, migrations)? {
        sql.script(step.sql)
            .map_err(|error| not_applied(error, migrations.owner, step))?;
        sql.execute(
            "INSERT INTO madoguchi_migrations (owner, version, name, checksum, applied_at)
             VALUES ($1, $2, $3, $4, $5)",
            &[
                migrations.owner.into(),
                step.version.into(),
                step.name.into(),
                checksum(step.sql).as_str().into(),
                now().into(),
            ],
        )?;
    }
    Ok(())
}

/// The steps not on record yet, in the order of their versions.
fn missing(sql: &mut dyn Sql, migrations: Migrations) -> Result<Vec<Migration>> {
    let rows = sql.query(
        "SELECT version, checksum FROM madoguchi_migrations WHERE owner = $1 ORDER BY version",
        &[migrations.owner.into()],
    )?;
    let mut steps = migrations.steps.to_vec();
    steps.sort_by_key(|step| step.version);
    for row in rows {
        let version = row.int(0)?;
        let Some(at) = steps.iter().position(|step| step.version == version) else {
            return Err(newer(migrations.owner, version));
        };
        let step = steps.remove(at);
        if row.text(1)? != checksum(step.sql) {
            return Err(edited(migrations.owner, step));
        }
    }
    Ok(steps)
}

/// Line ends don't count: a checkout on Windows may change them.
fn checksum(text: &str) -> String {
    kit::text::hex(Sha256::digest(text.replace("\r\n", "\n")))
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|passed| i64::try_from(passed.as_millis()).ok())
        .unwrap_or_default()
}

fn newer(owner: &str, version: i64) -> Error {
    storage(
        format!("This data of `{owner}` was written by a newer version of Madoguchi."),
        "Start that version or a later one, restore a backup from before the change, or begin with \
         other data: madoguchi serve --data DIR",
        format!("step {version} of `{owner}` is on record, but unknown"),
    )
}

fn edited(owner: &str, step: Migration) -> Error {
    storage(
        format!("The tables of `{owner}` were made by another version of Madoguchi."),
        "Start the version that made them, restore a backup that fits this one, or begin with other \
         data: madoguchi serve --data DIR",
        format!(
            "step {} ({}) of `{owner}` has another checksum than the one on record",
            step.version, step.name
        ),
    )
}

/// Adds the step to the error of a broken statement. A full disk or a lost server
/// needs no such detail.
fn not_applied(error: Error, owner: &str, step: Migration) -> Error {
    if !error.is_internal() {
        return error;
    }
    Error::new(
        crate::STORAGE_ERROR,
        format!(
            "Step {} ({}) of the tables of `{owner}` could not be applied.",
            step.version, step.name
        ),
    )
    .next("Nothing was changed; the log says what the database answered.")
    .cause(error)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn line_ends_do_not_change_a_checksum() {
        assert_eq!(checksum("a;\r\nb;\r\n"), checksum("a;\nb;\n"));
        assert_ne!(checksum("a;"), checksum("b;"));
        assert_eq!(checksum("").len(), 64);
    }
}
