//! Writes the cinema to files that the import reads: one JSON document, or a directory
//! with a JSON or CSV file for each kind of rows.

mod tables;

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{
    Blocking, BoxFuture, Context, Error, Result, Sql, Store,
    counter::{Export, Exported, Format},
    file_rows::to_csv,
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
    let files: Files = match (format, is_one_file) {
        (Format::Json, true) => vec![(target.to_owned(), document(tables)?)],
        (Format::Csv, true) => {
            let error = Error::new("NOT_A_DIRECTORY", "CSV needs a file for each kind of rows.");
            return Err(error.next("Give a directory, or use --format json."));
        }
        _ => directory(tables, target, format)?,
    };
    let earlier = match is_one_file {
        true => vec![target.to_owned()],
        false => possible_files(tables, target).collect(),
    };
    if let Some(path) = earlier.iter().find(|path| path.exists() && !overwrite) {
        return Err(exists(path));
    }
    replace(&earlier, &files)?;
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

/// Where each file goes, and what it contains.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// The files that an export to a directory may have, in either format.
fn possible_files<'a>(tables: &'a [Table], target: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    tables.iter().flat_map(move |table| {
        ["json", "csv"].map(|extension| target.join(table.name).with_extension(extension))
    })
}

fn directory(tables: &[Table], target: &Path, format: Format) -> Result<Files> {
    kit::durable::create_directory(target, 0o777).map_err(|error| unwritable(target, &error))?;
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

/// Puts the files in the place of those of an earlier export. Nothing of it is touched before
/// all new files are on disk. What they do not replace is removed: it would be imported with
/// them.
fn replace(earlier: &[PathBuf], files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    let written = files.iter().try_for_each(|(path, bytes)| {
        write_beside(path, bytes).map_err(|error| unwritable(path, &error))
    });
    if written.is_err() {
        for (path, _) in files {
            let _ = fs::remove_file(beside(path));
        }
        return written;
    }
    for (path, _) in files {
        let renamed = fs::rename(beside(path), path);
        renamed
            .and_then(|()| kit::durable::sync_name(path))
            .map_err(|error| unwritable(path, &error))?;
    }
    let is_new = |path: &Path| files.iter().any(|(new, _)| new == path);
    for path in earlier.iter().filter(|path| path.exists() && !is_new(path)) {
        fs::remove_file(path).map_err(|error| unwritable(path, &error))?;
    }
    Ok(())
}

/// Writes a file that only its owner can read: whoever knows a reservation's id can
/// cancel it.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path);
    // From an export that was killed.
    if new.exists() {
        fs::remove_file(&new)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Where a file is until it is complete.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

fn exists(path: &Path) -> Error {
    Error::new("FILE_EXISTS", format!("{} exists.", path.display()))
        .next("Choose another place, or replace it with --overwrite.")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("{} can't be written: {error}.", path.display());
    Error::new("FILE_WRITE_ERROR", message).next("Check the directory and its permissions.")
}
