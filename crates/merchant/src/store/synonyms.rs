//! Words that mean the same, for searches.

use kit::{Param, Result, Sql, sql::values};

use super::{change_numbers::number_changes, sql_text::ROWS_PER_INSERT};

/// Replaces all synonyms. Search engines notice it by the new version.
pub fn replace_synonyms(sql: &mut dyn Sql, groups: &[Vec<String>]) -> Result<()> {
    sql.execute("DELETE FROM merchant_synonyms", &[])?;
    let rows: Vec<(i64, i64, &str)> = (0..)
        .zip(groups)
        .flat_map(|(group, words)| (0..).zip(words).map(move |(at, word)| (group, at, &**word)))
        .collect();
    for chunk in rows.chunks(ROWS_PER_INSERT) {
        let params: Vec<Param<'_>> = chunk
            .iter()
            .flat_map(|(group, at, word)| [Param::Int(*group), Param::Int(*at), Param::Text(word)])
            .collect();
        let insert = format!(
            "INSERT INTO merchant_synonyms (group_number, position, word) VALUES {}",
            values(chunk.len(), 3)
        );
        sql.execute(&insert, &params)?;
    }
    let number = number_changes(sql, 1)?;
    sql.execute(
        "UPDATE merchant_catalogue SET synonyms_changed = $1 WHERE only_row = 1",
        &[Param::Int(number)],
    )?;
    Ok(())
}

/// The groups of words with one meaning.
pub fn synonyms(sql: &mut dyn Sql) -> Result<Vec<Vec<String>>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut last = None;
    for row in sql.query(
        "SELECT group_number, word FROM merchant_synonyms ORDER BY group_number, position",
        &[],
    )? {
        let number = row.int(0)?;
        if last.replace(number) != Some(number) {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.last_mut() {
            group.push(row.text(1)?);
        }
    }
    Ok(groups)
}

/// Changes whenever the synonyms do; 0 before the first import.
pub fn synonyms_version(sql: &mut dyn Sql) -> Result<i64> {
    sql.query_one(
        "SELECT synonyms_changed FROM merchant_catalogue WHERE only_row = 1",
        &[],
    )?
    .map_or(Ok(0), |row| row.int(0))
}
