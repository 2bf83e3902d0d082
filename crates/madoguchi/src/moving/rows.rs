//! Copies all rows of all tables from one engine to the other, in batches.

use std::sync::{Arc, mpsc::sync_channel};

use kit::{
    Cell, Error, Param, Result, Row, Sql, Store,
    sql::{Budget, values},
};
use tokio::runtime::Handle;

use super::tables::Table;
use crate::{
    locale::pick,
    progress::{Progress, Step},
};

/// Rows that are read at once.
const BATCH: usize = 500;
/// How many parameters a statement may have on both engines.
const PARAMETERS: usize = 30_000;

/// Fills the tables of `target` in its open transaction. It may run again from the
/// start, so it begins to read anew. Returns how many rows there are.
pub fn copy(
    target: &mut dyn Sql,
    source: &Arc<dyn Store>,
    tables: &Arc<Vec<Table>>,
    runtime: &Handle,
    progress: &Progress,
) -> Result<u64> {
    // Some rows of a table, with its number.
    let (send, batches) = sync_channel::<(usize, Vec<Row>)>(4);
    let (from, listed) = (Arc::clone(source), Arc::clone(tables));
    let is_sqlite = source.engine() == "sqlite";
    let reading = runtime.spawn(async move {
        let read = move |sql: &mut dyn Sql| {
            for (number, table) in listed.iter().enumerate() {
                // Fails when the target has given up.
                let pass_on = |rows| send.send((number, rows)).map_err(|_| Error::cancelled());
                match is_sqlite {
                    true => read_sqlite(sql, table, pass_on)?,
                    false => read_postgres(sql, table, pass_on)?,
                }
            }
            Ok(())
        };
        from.query(Budget::default(), read).await
    });
    let mut counts = vec![0; tables.len()];
    let mut total = 0;
    for (number, rows) in batches {
        let (Some(table), Some(count)) = (tables.get(number), counts.get_mut(number)) else {
            continue;
        };
        insert(target, table, &rows)?;
        *count += rows.len() as u64;
        total += rows.len() as u64;
        progress.set(Step {
            count: total,
            noun: pick("rows", "行"),
            ..Step::default()
        });
    }
    runtime.block_on(reading).map_err(Error::internal)??;
    for (table, count) in tables.iter().zip(&counts) {
        let stored = rows_in(target, table)?;
        if stored != *count {
            return Err(Error::internal(format!(
                "{} has {stored} rows instead of {count}",
                table.name
            )));
        }
    }
    Ok(total)
}

fn rows_in(sql: &mut dyn Sql, table: &Table) -> Result<u64> {
    let row = sql.query_one(&format!("SELECT COUNT(*) FROM {}", table.name), &[])?;
    let count = row.map_or(Ok(0), |row| row.int(0))?;
    u64::try_from(count).map_err(Error::internal)
}

/// Every table has the hidden column `rowid`, in the order of which it is stored.
fn read_sqlite(
    sql: &mut dyn Sql,
    table: &Table,
    pass_on: impl Fn(Vec<Row>) -> Result<()>,
) -> Result<()> {
    let text = format!(
        "SELECT rowid, {} FROM {} WHERE rowid > $1 ORDER BY rowid LIMIT {BATCH}",
        table.column_list(),
        table.name
    );
    let mut last = i64::MIN;
    loop {
        let mut rows = sql.query(&text, &[last.into()])?;
        let Some(end) = rows.last() else {
            return Ok(());
        };
        last = end.int(0)?;
        for row in &mut rows {
            row.0.remove(0);
        }
        pass_on(rows)?;
    }
}

/// Each cursor has a name of its own, because a prepared statement remembers the columns.
fn read_postgres(
    sql: &mut dyn Sql,
    table: &Table,
    pass_on: impl Fn(Vec<Row>) -> Result<()>,
) -> Result<()> {
    let (name, columns) = (&table.name, table.column_list());
    let declare =
        format!("DECLARE rows_of_{name} NO SCROLL CURSOR FOR SELECT {columns} FROM {name}");
    sql.execute(&declare, &[])?;
    let fetch = format!("FETCH {BATCH} FROM rows_of_{name}");
    loop {
        let rows = sql.query(&fetch, &[])?;
        if rows.is_empty() {
            sql.execute(&format!("CLOSE rows_of_{name}"), &[])?;
            return Ok(());
        }
        pass_on(rows)?;
    }
}

fn insert(sql: &mut dyn Sql, table: &Table, rows: &[Row]) -> Result<()> {
    let columns = table.columns.len();
    let most = (PARAMETERS / columns.max(1)).max(1);
    for some in rows.chunks(most) {
        let params: Vec<Param<'_>> = some.iter().flat_map(|row| &row.0).map(param).collect();
        let text = format!(
            "INSERT INTO {} ({}) VALUES {}",
            table.name,
            table.column_list(),
            values(some.len(), columns)
        );
        sql.execute(&text, &params)?;
    }
    Ok(())
}

fn param(cell: &Cell) -> Param<'_> {
    match cell {
        Cell::Null => Param::Null,
        Cell::Int(value) => Param::Int(*value),
        Cell::Real(value) => Param::Real(*value),
        Cell::Text(value) => Param::Text(value),
    }
}
