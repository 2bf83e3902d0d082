//! Which products changed, in order, so that a search engine can be kept in
//! step from wherever it stopped.
//!
//! Every change that search must know takes a number. The counter's row stays
//! locked until the change is committed, so numbers become visible in order and
//! a reader that has seen n never misses a smaller one.

use kit::{Error, Param, Result, Sql};

use super::products::{self, Product};

/// Takes `count` numbers and returns the first.
pub fn number_changes(sql: &mut dyn Sql, count: usize) -> Result<i64> {
    let count = i64::try_from(count).map_err(Error::internal)?;
    catalogue_row(sql)?;
    let row = sql
        .query_one(
            "UPDATE merchant_catalogue SET changes = changes + $1 WHERE only_row = 1 \
             RETURNING changes",
            &[Param::Int(count)],
        )?
        .ok_or_else(|| Error::internal("the catalogue has no row"))?;
    Ok(row.int(0)? - count + 1)
}

fn catalogue_row(sql: &mut dyn Sql) -> Result<()> {
    let id = kit::ids::random("", 16);
    sql.execute(
        "INSERT INTO merchant_catalogue (only_row, id, changes) VALUES (1, $1, 0) \
         ON CONFLICT (only_row) DO NOTHING",
        &[Param::Text(&id)],
    )?;
    Ok(())
}

/// Names this catalogue among all others: an index of another one is of no use.
/// `None` before the first product came in.
pub fn catalogue_id(sql: &mut dyn Sql) -> Result<Option<String>> {
    sql.query_one("SELECT id FROM merchant_catalogue WHERE only_row = 1", &[])?
        .map(|row| row.text(0))
        .transpose()
}

pub fn newest_change(sql: &mut dyn Sql) -> Result<i64> {
    sql.query_one(
        "SELECT changes FROM merchant_catalogue WHERE only_row = 1",
        &[],
    )?
    .map_or(Ok(0), |row| row.int(0))
}

pub enum Changed {
    Put(Product),
    Removed(i64),
}

/// The next changes after `position`, at most `limit`, with their numbers.
pub fn changes_after(sql: &mut dyn Sql, position: i64, limit: i64) -> Result<Vec<(i64, Changed)>> {
    let mut changes: Vec<(i64, Changed)> = products::changed_after(sql, position, limit)?
        .into_iter()
        .map(|(number, product)| (number, Changed::Put(product)))
        .collect();
    for row in sql.query(
        "SELECT change_number, id FROM merchant_removed_products WHERE change_number > $1 \
         ORDER BY change_number LIMIT $2",
        &[Param::Int(position), Param::Int(limit)],
    )? {
        changes.push((row.int(0)?, Changed::Removed(row.int(1)?)));
    }
    changes.sort_by_key(|(number, _)| *number);
    changes.truncate(usize::try_from(limit).map_err(Error::internal)?);
    Ok(changes)
}

/// How far another engine has been told.
pub fn sync_position(sql: &mut dyn Sql, target: &str) -> Result<i64> {
    sql.query_one(
        "SELECT position FROM merchant_sync WHERE target = $1",
        &[Param::Text(target)],
    )?
    .map_or(Ok(0), |row| row.int(0))
}

pub fn save_sync_position(sql: &mut dyn Sql, target: &str, position: i64) -> Result<()> {
    sql.execute(
        "INSERT INTO merchant_sync (target, position) VALUES ($1, $2) \
         ON CONFLICT (target) DO UPDATE SET position = excluded.position",
        &[Param::Text(target), Param::Int(position)],
    )?;
    Ok(())
}
