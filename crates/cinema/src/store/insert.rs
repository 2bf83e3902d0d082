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
    for chunk in rows.chunks(ROWS_PER_STATEMENT) {
        let marks = values(chunk.len(), COLUMNS);
        sql.execute(
            &format!("INSERT INTO {table} VALUES {marks}"),
            chunk.as_flattened(),
        )?;
    }
    Ok(())
}
