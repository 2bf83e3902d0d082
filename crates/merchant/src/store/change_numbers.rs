//! The numbers of changes to the catalogue.
//!
//! Every change that a search engine must know takes a number. The row that counts
//! them stays locked until the change is committed, so numbers become visible in
//! order: a reader that has seen n never misses a smaller one.

use kit::{Error, Param, Result, Sql};

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

/// Identifies this catalogue: an index of another one must not be used. `None` before
/// the first product.
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
