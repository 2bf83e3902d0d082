//! Which tables there are.

use std::collections::BTreeMap;

use kit::{Error, Result, Sql};

/// Tables with what is true of one moment alone: leases, counts of the last minute,
/// links that expire. The audit trail and the secret have a form of
/// their own in files.
const NOT_COPIED: [&str; 6] = [
    "leases",
    "desk_slots",
    "desk_links",
    "desk_audit",
    "desk_audit_heads",
    "desk_secrets",
];

/// Prefix of the tables of the engine itself.
const OF_THE_ENGINE: &str = "madoguchi_";

/// Prefix of the tables of a counter that keeps files on the other engine.
const KEPT_IN_FILES: &str = "rooms_";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<String>,
}

impl Table {
    pub fn column_list(&self) -> String {
        self.columns.join(", ")
    }
}

fn is_copied(name: &str) -> bool {
    let is_apart = name.starts_with(OF_THE_ENGINE) || name.starts_with(KEPT_IN_FILES);
    !NOT_COPIED.contains(&name) && !is_apart
}

/// The tables of an embedded database that are copied, oldest first. A table refers only
/// to older ones.
pub fn of_sqlite(sql: &mut dyn Sql) -> Result<Vec<Table>> {
    let names = sql.query(
        "SELECT name FROM sqlite_master
         WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
        &[],
    )?;
    let mut tables = Vec::new();
    for row in names {
        let name = row.text(0)?;
        if !is_copied(&name) {
            continue;
        }
        let columns = sql.query(
            "SELECT name FROM pragma_table_info($1) ORDER BY cid",
            &[(&name).into()],
        )?;
        let columns: Result<_> = columns.iter().map(|row| row.text(0)).collect();
        tables.push(Table {
            name,
            columns: columns?,
        });
    }
    Ok(tables)
}

/// The same of PostgreSQL, by name.
pub fn of_postgres(sql: &mut dyn Sql) -> Result<BTreeMap<String, Vec<String>>> {
    let rows = sql.query(
        "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT)
         FROM information_schema.columns
         WHERE table_schema = 'madoguchi' ORDER BY table_name, ordinal_position",
        &[],
    )?;
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let name = row.text(0)?;
        if is_copied(&name) {
            tables.entry(name).or_default().push(row.text(1)?);
        }
    }
    Ok(tables)
}

/// The tables of a counter that keeps files on the other engine. Two are left out: one
/// has a row from the start, the other says which processes ran lately.
pub fn of_files(sql: &mut dyn Sql) -> Result<Vec<String>> {
    let rows = sql.query(
        "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
         WHERE table_schema = 'madoguchi'",
        &[],
    )?;
    let names: Result<Vec<String>> = rows.iter().map(|row| row.text(0)).collect();
    let mut names = names?;
    let is_of_moment = |name: &str| ["rooms_meta", "rooms_processes"].contains(&name);
    names.retain(|name| name.starts_with(KEPT_IN_FILES) && !is_of_moment(name));
    Ok(names)
}

/// Both engines must have the same tables with the same columns.
pub fn check_equal(sqlite: &[Table], postgres: &BTreeMap<String, Vec<String>>) -> Result<()> {
    let sorted = |columns: &[String]| {
        let mut columns = columns.to_vec();
        columns.sort();
        columns
    };
    let here: BTreeMap<_, _> = sqlite
        .iter()
        .map(|table| (table.name.as_str(), sorted(&table.columns)))
        .collect();
    let there: BTreeMap<_, _> = postgres
        .iter()
        .map(|(name, columns)| (name.as_str(), sorted(columns)))
        .collect();
    let differs = |name: &&&str| here.get(**name) != there.get(**name);
    match here.keys().chain(there.keys()).find(differs) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            "TABLES_DIFFER",
            format!("The table {name} is not the same on both sides. Nothing was moved."),
        )
        .next("Remove tables from the schema `madoguchi` that are not Madoguchi's.")),
    }
}

/// The first of these tables that has a row.
pub fn first_used<'a>(sql: &mut dyn Sql, tables: &'a [String]) -> Result<Option<&'a str>> {
    for table in tables {
        let text = format!("SELECT 1 FROM {table} LIMIT 1");
        if sql.query_one(&text, &[])?.is_some() {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_must_be_the_same_in_any_order() {
        let table = |name: &str, columns: &[&str]| Table {
            name: name.into(),
            columns: columns.iter().map(|&it| it.into()).collect(),
        };
        let here = [table("a", &["x", "y"]), table("b", &["z"])];
        let there = |tables: &[Table]| {
            let pairs = tables.iter().cloned();
            pairs.map(|table| (table.name, table.columns)).collect()
        };
        let same = there(&[table("b", &["z"]), table("a", &["y", "x"])]);
        check_equal(&here, &same).unwrap();
        for other in [
            there(&[table("a", &["x", "y"])]),
            there(&[table("a", &["x"]), table("b", &["z"])]),
            there(&[table("a", &["x", "y"]), table("b", &["z"]), table("c", &[])]),
        ] {
            assert_eq!(
                check_equal(&here, &other).unwrap_err().code,
                "TABLES_DIFFER"
            );
        }
    }
}
