//! Creates and changes tables.
//!
//! Every start compares the steps that a counter knows with those on record. If there
//! is nothing to do, this is one read ([`verify`]). Otherwise [`apply`] runs in one
//! transaction, under a lock that the engine takes first.
//!
//! Programs of several versions may share a database while they are replaced one after
//! the other. `madoguchi_compatibility` says, for each owner, which step a program has to
//! know at least; steps that it does not know are ignored then. How steps are written so
//! that this works: `kit::sql::Migration`.

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

/// Beside the steps, because programs of before it read only those.
const COMPATIBILITY_TABLE: &str = "CREATE TABLE IF NOT EXISTS madoguchi_compatibility (
    owner TEXT PRIMARY KEY,
    oldest BIGINT NOT NULL
)";

/// What programs have to know, for all owners, on PostgreSQL.
pub(crate) const OLDEST_OF_ALL: &str =
    "SELECT owner, oldest FROM madoguchi.madoguchi_compatibility";

/// How a step begins with which older programs can't go on.
const NEEDS: &str = "-- needs step ";

/// `Ok` when every known step is on record, and this program suits the others.
pub(crate) fn verify(sql: &mut dyn Sql, migrations: Migrations) -> Result<()> {
    let owner = migrations.owner;
    if let Some(step) = missing(sql, migrations)?.first() {
        let version = step.version;
        return Err(Error::internal(format!(
            "step {version} of `{owner}` is yet to be applied"
        )));
    }
    match oldest(sql, owner)? {
        Some(oldest) if oldest >= needed(&migrations) => Ok(()),
        _ => Err(Error::internal(format!(
            "it is yet to be recorded what programs need for `{owner}`"
        ))),
    }
}

/// Applies the missing steps. The caller holds the lock.
pub(crate) fn apply(sql: &mut dyn Script, migrations: Migrations) -> Result<()> {
    sql.script(TABLE)?;
    sql.script(COMPATIBILITY_TABLE)?;
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
    // Never lowered: an older program does not know what newer steps need.
    sql.execute(
        "INSERT INTO madoguchi_compatibility (owner, oldest) VALUES ($1, $2)
         ON CONFLICT (owner) DO UPDATE SET oldest = excluded.oldest
         WHERE madoguchi_compatibility.oldest < excluded.oldest",
        &[migrations.owner.into(), needed(&migrations).into()],
    )?;
    Ok(())
}

/// The step that a program has to know at least, if that is on record.
fn oldest(sql: &mut dyn Sql, owner: &str) -> Result<Option<i64>> {
    let row = sql.query_one(
        "SELECT oldest FROM madoguchi_compatibility WHERE owner = $1",
        &[owner.into()],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// The step that a program has to know once all these are applied; 0: none.
fn needed(migrations: &Migrations) -> i64 {
    let needed = migrations.steps.iter().map(|step| needed_step(step.sql));
    needed.max().unwrap_or(0)
}

/// The same for one step.
fn needed_step(text: &str) -> i64 {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let number = line.strip_prefix(NEEDS).map(str::trim);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The newest step that the program knows.
pub(crate) fn newest(migrations: &Migrations) -> i64 {
    let versions = migrations.steps.iter().map(|step| step.version);
    versions.max().unwrap_or(0)
}

/// The steps not on record yet, in the order of their versions.
fn missing(sql: &mut dyn Sql, migrations: Migrations) -> Result<Vec<Migration>> {
    let owner = migrations.owner;
    let rows = sql.query(
        "SELECT version, checksum FROM madoguchi_migrations WHERE owner = $1 ORDER BY version",
        &[owner.into()],
    )?;
    let (oldest, newest) = (oldest(sql, owner)?, newest(&migrations));
    let mut steps = migrations.steps.to_vec();
    steps.sort_by_key(|step| step.version);
    let mut unknown = None;
    for row in rows {
        let version = row.int(0)?;
        let Some(at) = steps.iter().position(|step| step.version == version) else {
            // Numbers are given in order, so an unknown one among known ones is from
            // another history.
            if version < newest || oldest.is_none() {
                return Err(newer(owner, version));
            }
            unknown = Some(version);
            continue;
        };
        let step = steps.remove(at);
        if row.text(1)? != checksum(step.sql) {
            return Err(edited(owner, step));
        }
    }
    if oldest.is_some_and(|oldest| newest < oldest) {
        return Err(too_old(owner, newest, oldest));
    }
    match unknown {
        Some(version) if !steps.is_empty() => Err(newer(owner, version)),
        _ => Ok(steps),
    }
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

/// What to do about a program that is too old.
pub(crate) const REPLACE: &str =
    "Replace this program with the newer version that the other desks on this database run.";

pub(crate) fn too_old_text(owner: &str) -> String {
    format!(
        "This Madoguchi is too old for the tables of `{owner}`: a newer version has changed them."
    )
}

fn too_old(owner: &str, newest: i64, oldest: Option<i64>) -> Error {
    storage(
        too_old_text(owner),
        format!("{REPLACE} Or begin with other data: madoguchi serve --data DIR"),
        format!("this program knows step {newest} of `{owner}` and needs {oldest:?}"),
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
    use super::{checksum, needed_step};

    #[test]
    fn a_step_says_in_its_first_line_what_it_needs() {
        assert_eq!(needed_step("\n-- needs step 7\r\nDROP TABLE a;"), 7);
        assert_eq!(
            needed_step("-- Adds a table.\nCREATE TABLE a (b BIGINT);"),
            0
        );
        assert_eq!(
            needed_step("CREATE TABLE a (b BIGINT);\n-- needs step 7"),
            0
        );
    }

    #[test]
    fn line_ends_do_not_change_a_checksum() {
        assert_eq!(checksum("a;\r\nb;\r\n"), checksum("a;\nb;\n"));
        assert_ne!(checksum("a;"), checksum("b;"));
        assert_eq!(checksum("").len(), 64);
    }
}
