//! Inserts of many rows.

use kit::{Param, Result, Sql, sql::values};

/// Rows of one statement: far fewer than either engine allows.
const ROWS_PER_STATEMENT: usize = 200;

/// Inserts `rows` into `table`, which also names the columns:
/// `cinema_seats (theater_id, seat_row)`.
pub fn insert_rows<const COLUMNS: usize>(
    sql: &mut dyn Sql,
    table: &str,
    rows: &[[Param<'_>; COLUMNS]],
) -> Result<()> {
    upsert_rows(sql, table, rows, "")?;
    Ok(())
}

/// The same with an `ON CONFLICT` clause. Returns how many rows were written.
pub fn upsert_rows<const COLUMNS: usize>(
    sql: &mut dyn Sql,
    table: &str,
    rows: &[[Param<'_>; COLUMNS]],
    on_conflict: &str,
) -> Result<u64> {
    let mut written = 0;
    for chunk in rows.chunks(ROWS_PER_STATEMENT) {
        let marks = values(chunk.len(), COLUMNS);
        written += sql.execute(
            &format!("INSERT INTO {table} VALUES {marks} {on_conflict}"),
            chunk.as_flattened(),
        )?;
    }
    Ok(written)
}
