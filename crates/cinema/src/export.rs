//! Writes the cinema to files that the import reads: one JSON document, or a directory
//! with a JSON or CSV file for each kind of rows.

mod tables;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{
    Blocking, BoxFuture, Context, Error, Result, Sql, Store,
    counter::{Export, Exported, Format},
    rows::to_csv,
};
use serde_json::Value;

use crate::{import::in_words, state::CounterState, store};
use tables::{Row, Table, tables};

pub struct CinemaExport {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
    writing: Blocking,
}

impl CinemaExport {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
            writing: Blocking::new(1),
        }
    }
}

impl Export for CinemaExport {
    fn export<'a>(
        &'a self,
        context: &'a Context,
        target: &'a Path,
        format: Format,
        overwrite: bool,
    ) -> BoxFuture<'a, Result<Exported>> {
        Box::pin(async move {
            let zone = self.state.zone.clone();
            let read = move |sql: &mut dyn Sql| {
                // Without data of the operator, the demo shows what the files look like.
                let demo = !store::has_own_films(sql)?;
                Ok((tables(sql, demo, &zone)?, demo))
            };
            let (tables, demo) = self.store.query(context.budget(), read).await?;
            let target = target.to_owned();
            let write = move || write(&tables, &target, format, overwrite, demo);
            self.writing.run(write).await
        })
    }
}

fn write(
    tables: &[Table],
    target: &Path,
    format: Format,
    overwrite: bool,
    demo: bool,
) -> Result<Exported> {
    let is_one_file = target
        .extension()
        .is_some_and(|extension| extension == "json");
    let files: Vec<(PathBuf, Vec<u8>)> = match (format, is_one_file) {
        (Format::Json, true) => vec![(target.to_owned(), document(tables)?)],
        (Format::Csv, true) => {
            let error = Error::new("NOT_A_DIRECTORY", "CSV needs a file for each kind of rows.");
            return Err(error.next("Give a directory, or use --format json."));
        }
        _ => directory(tables, target, format, overwrite)?,
    };
    for (path, bytes) in &files {
        write_file(path, bytes, overwrite)?;
    }
    let counts: Vec<(&str, usize)> = tables
        .iter()
        .map(|table| (table.noun, table.rows.len()))
        .collect();
    let what = if demo { " of the demo" } else { "" };
    Ok(Exported {
        message: format!(
            "Exported {}{what} to {}.",
            in_words(&counts),
            target.display()
        ),
        rows: counts.iter().map(|(_, count)| *count as u64).sum(),
        files: files
            .iter()
            .map(|(path, _)| path.display().to_string())
            .collect(),
    })
}

/// The files of a directory. Files of an earlier export, in either format, would be
/// imported with the new ones: they are refused, or removed with `overwrite`.
fn directory(
    tables: &[Table],
    target: &Path,
    format: Format,
    overwrite: bool,
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    fs::create_dir_all(target).map_err(|error| unwritable(target, &error))?;
    let names = tables.iter().flat_map(|table| {
        ["json", "csv"].map(|extension| target.join(table.name).with_extension(extension))
    });
    for path in names.filter(|path| path.exists()) {
        if !overwrite {
            return Err(exists(&path));
        }
        fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
    }
    let mut files = Vec::new();
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        let (extension, bytes) = match format {
            Format::Json => ("json", list(&table.rows)?.into_bytes()),
            Format::Csv => ("csv", spreadsheet(table)?),
        };
        files.push((target.join(table.name).with_extension(extension), bytes));
    }
    Ok(files)
}

/// `{"films": […], …}`
fn document(tables: &[Table]) -> Result<Vec<u8>> {
    let mut lists = Vec::new();
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        lists.push(format!(
            "\"{}\": {}",
            table.name,
            list(&table.rows)?.trim_end()
        ));
    }
    Ok(format!("{{\n{}\n}}\n", lists.join(",\n")).into_bytes())
}

/// A JSON list with a row on each line, so that a problem's line names its row.
fn list(rows: &[Row]) -> Result<String> {
    let rows: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    Ok(format!(
        "[\n{}\n]\n",
        rows.map_err(Error::internal)?.join(",\n")
    ))
}

fn spreadsheet(table: &Table) -> Result<Vec<u8>> {
    let rows: Vec<Row> = table.rows.iter().flat_map(flat).collect();
    let mut columns: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Row::keys) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let cells = rows.iter().map(|row| {
        let cell = |column: &&str| row.get(*column).map_or(String::new(), cell);
        columns.iter().map(cell).collect()
    });
    to_csv(&columns, cells)
}

/// A hall as a line for each row of seats; any other row as it is.
fn flat(row: &Row) -> Vec<Row> {
    let Some(parts) = row.get("rows").and_then(Value::as_array) else {
        return vec![row.clone()];
    };
    let mut hall = row.clone();
    hall.remove("rows");
    let parts = parts.iter().filter_map(Value::as_object);
    parts
        .map(|part| hall.clone().into_iter().chain(part.clone()).collect())
        .collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Writes a file that only its owner can read: whoever knows a reservation's id can
/// cancel it.
fn write_file(path: &Path, bytes: &[u8], overwrite: bool) -> Result<()> {
    if path.exists() && !overwrite {
        return Err(exists(path));
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let result = options.open(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    });
    result.map_err(|error| {
        let _ = fs::remove_file(&new);
        unwritable(path, &error)
    })
}

fn exists(path: &Path) -> Error {
    Error::new("FILE_EXISTS", format!("{} exists.", path.display()))
        .next("Choose another place, or replace it with --overwrite.")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("{} can't be written: {error}.", path.display());
    Error::new("FILE_WRITE_ERROR", message).next("Check the directory and its permissions.")
}
