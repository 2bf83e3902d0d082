//! Which products changed, in order, so that a search engine can go on from
//! wherever it stopped.

use kit::{Error, Param, Result, Sql};

use super::products::{self, Product};

pub enum Changed {
    Put(Box<Product>),
    Removed(i64),
}

/// The next changes after `position`, at most `limit`, with their numbers.
pub fn changes_after(sql: &mut dyn Sql, position: i64, limit: i64) -> Result<Vec<(i64, Changed)>> {
    let mut changes: Vec<(i64, Changed)> = products::changed_after(sql, position, limit)?
        .into_iter()
        .map(|(number, product)| (number, Changed::Put(Box::new(product))))
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

/// The last change that a search engine confirmed.
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
