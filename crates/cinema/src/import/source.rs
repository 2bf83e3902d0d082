//! The rows of a file or of all files in a directory, each with what it describes: a
//! film, a hall, a screening and so on.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Error, Result, counter::Problem, file_rows};
use serde_json::{Map, Value, value::RawValue};

/// A larger file is a mistake.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;
const MOST_ROWS: usize = 200_000;
const MOST_FILES: usize = 100;

/// What a row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    Film,
    Hall,
    Show,
    Price,
    Place,
    Reservation,
    /// The free and the taken seats of a screening, as the earlier box office kept them.
    Availability,
}

/// Names of files and of the lists in a JSON document.
#[rustfmt::skip]
const NAMES: [(RowKind, &[&str]); 7] = [
    (RowKind::Film, &["films", "film", "movies", "movie"]),
    (RowKind::Hall, &["halls", "hall", "theaters", "theatres", "screens", "seats", "seat_plans"]),
    (RowKind::Show, &["shows", "show", "schedules", "schedule", "screenings", "showtimes"]),
    (RowKind::Price, &["prices", "price", "price_list"]),
    (RowKind::Place, &["place", "cinema"]),
    (RowKind::Reservation, &["reservations", "reservation", "bookings"]),
    (RowKind::Availability, &["seat_availability", "availability"]),
];

/// Fields that only a row of this kind has; the first kind that fits counts.
#[rustfmt::skip]
const FIELDS: [(RowKind, &[&str]); 7] = [
    (RowKind::Availability, &["available_seats", "occupied_seats"]),
    (RowKind::Reservation, &["seat_ids", "reservation_id"]),
    (RowKind::Price, &["price_yen", "surcharge_yen"]),
    (RowKind::Show, &["start_time"]),
    (RowKind::Hall, &["rows", "numbers", "seat_number", "seat_plan"]),
    (RowKind::Film, &["title", "duration"]),
    (RowKind::Place, &["address", "directions"]),
];

impl RowKind {
    fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace(['-', ' '], "_");
        let known = NAMES.iter().find(|(_, names)| names.contains(&&*name));
        known.map(|(kind, _)| *kind)
    }

    fn of_fields(fields: &Map<String, Value>) -> Option<Self> {
        let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
        let known = FIELDS.iter().find(|(_, names)| has(names));
        known.map(|(kind, _)| *kind)
    }
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// `None` if a single file is imported.
    file: Option<Arc<str>>,
    line: u64,
}

impl Origin {
    pub fn problem(&self, problem: impl Into<String>) -> Problem {
        Problem {
            file: self.file.as_deref().map(str::to_owned),
            ..Problem::new(self.line, problem)
        }
    }

    /// `line 3` or `movies.json line 3`, for a problem with another row.
    pub fn in_words(&self) -> String {
        match &self.file {
            Some(file) => format!("{file} line {}", self.line),
            None => format!("line {}", self.line),
        }
    }
}

pub struct Row {
    pub kind: RowKind,
    pub origin: Origin,
    pub fields: Map<String, Value>,
}

#[derive(Default)]
pub struct Source {
    pub rows: Vec<Row>,
    pub problems: Vec<Problem>,
    /// Files and lists that are nothing of a cinema's.
    pub ignored: Vec<String>,
}

pub fn read(path: &Path) -> Result<Source> {
    let mut source = Source::default();
    if !path.is_dir() {
        source.read_file(path, None)?;
        return Ok(source);
    }
    let unreadable = |error: &std::io::Error| file_rows::unreadable(path, error);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(&error))? {
        let file = entry.map_err(|error| unreadable(&error))?.path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        let is_data = ["json", "jsonl", "ndjson", "csv"].contains(&extension.unwrap_or(""));
        if is_data && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() || files.len() > MOST_FILES {
        let message = format!("The directory has {} JSON or CSV files.", files.len());
        let error = Error::new("NO_FILES", message);
        return Err(error.next("Give a directory with files such as films.json and shows.csv."));
    }
    for file in &files {
        let name = file.file_name().map(|name| name.to_string_lossy());
        source.read_file(file, Some(name.unwrap_or_default().into()))?;
    }
    Ok(source)
}

impl Source {
    fn read_file(&mut self, path: &Path, name: Option<Arc<str>>) -> Result<()> {
        let text = contents(path)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        let named = stem.as_deref().and_then(RowKind::named);
        let is_object = text.trim_start().starts_with('{');
        let parts: Option<BTreeMap<String, &RawValue>> = match is_object {
            true => serde_json::from_str(&text).ok(),
            false => None,
        };
        let result = match parts {
            Some(parts) if parts.keys().any(|name| is_list(name, &parts)) => {
                self.read_document(path, name.as_ref(), &text, &parts)
            }
            Some(_) => self.read_object(name.as_ref(), named, &text),
            None => self.read_rows(path, name.as_ref(), named, &text, 0),
        };
        result.map_err(|error| match &name {
            Some(file) => Error::new(error.code, format!("{file}: {}", error.message))
                .next(error.next.unwrap_or_default()),
            None => error,
        })
    }

    /// `{"films": […], "halls": […], …}`
    fn read_document(
        &mut self,
        path: &Path,
        name: Option<&Arc<str>>,
        text: &str,
        parts: &BTreeMap<String, &RawValue>,
    ) -> Result<()> {
        for (list, part) in parts {
            let Some(kind) = RowKind::named(list) else {
                self.ignore(list);
                continue;
            };
            let offset = part.get().as_ptr().addr() - text.as_ptr().addr();
            let before = text.get(..offset).unwrap_or_default();
            let lines = before.bytes().filter(|byte| *byte == b'\n').count() as u64;
            match part.get().starts_with('{') {
                true => {
                    let fields = serde_json::from_str(part.get()).map_err(Error::internal)?;
                    self.take(name, Some(kind), lines + 1, Ok(fields))?;
                }
                false => self.read_rows(path, name, Some(kind), part.get(), lines)?,
            }
        }
        Ok(())
    }

    /// A file with one object, such as the place.
    fn read_object(
        &mut self,
        name: Option<&Arc<str>>,
        kind: Option<RowKind>,
        text: &str,
    ) -> Result<()> {
        let fields = serde_json::from_str(text).map_err(Error::internal)?;
        self.take(name, kind, 1, Ok(fields))
    }

    fn read_rows(
        &mut self,
        path: &Path,
        name: Option<&Arc<str>>,
        kind: Option<RowKind>,
        text: &str,
        lines_before: u64,
    ) -> Result<()> {
        let mut result = Ok(());
        let take = |line, fields| {
            result = self.take(name, kind, lines_before + line, fields);
            result.is_ok()
        };
        file_rows::read_from(text.as_bytes(), path, &[], take)?;
        result
    }

    fn take(
        &mut self,
        name: Option<&Arc<str>>,
        kind: Option<RowKind>,
        line: u64,
        fields: file_rows::Fields,
    ) -> Result<()> {
        let origin = Origin {
            file: name.cloned(),
            line,
        };
        if self.rows.len() >= MOST_ROWS {
            let message = format!("There are more than {MOST_ROWS} rows.");
            return Err(Error::new("TOO_MANY_ROWS", message).next("Import them in parts."));
        }
        match fields {
            Ok(fields) => match kind.or_else(|| RowKind::of_fields(&fields)) {
                Some(kind) => self.rows.push(Row {
                    kind,
                    origin,
                    fields,
                }),
                None => match name {
                    Some(file) => self.ignore(file),
                    None => self.problems.push(origin.problem(
                        "neither a film, a hall, a show, a price, a place nor a reservation",
                    )),
                },
            },
            Err(problem) => self.problems.push(origin.problem(problem)),
        }
        Ok(())
    }

    fn ignore(&mut self, name: &str) {
        let name = kit::text::clean(name, 50);
        if !self.ignored.contains(&name) && self.ignored.len() < MOST_FILES {
            self.ignored.push(name);
        }
    }
}

/// Whether a document has a list of this name.
fn is_list(name: &str, parts: &BTreeMap<String, &RawValue>) -> bool {
    let part = parts.get(name).map_or("", |part| part.get());
    let is_place = RowKind::named(name) == Some(RowKind::Place) && part.starts_with('{');
    RowKind::named(name).is_some() && (part.starts_with('[') || is_place)
}

fn contents(path: &Path) -> Result<String> {
    let unreadable = |error: &std::io::Error| file_rows::unreadable(path, error);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("{} is larger than 64 MiB.", path.display());
        return Err(Error::new("FILE_TOO_LARGE", message).next("Import it in parts."));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::new("INVALID_FILE", format!("{} is not UTF-8.", path.display()))
            .next("Save it as UTF-8 and import it again.")
    })?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name_and_by_fields() {
        for (name, kind) in [
            ("movies", Some(RowKind::Film)),
            ("Seat-Availability", Some(RowKind::Availability)),
            ("package", None),
        ] {
            assert_eq!(RowKind::named(name), kind, "{name}");
        }
        let fields = |text: &str| serde_json::from_str(text).unwrap();
        for (row, kind) in [
            (
                r#"{"schedule_id": 1, "start_time": "", "available_seats_count": 3}"#,
                RowKind::Show,
            ),
            (
                r#"{"schedule_id": 1, "available_seats": []}"#,
                RowKind::Availability,
            ),
            (r#"{"name": "一般", "price_yen": 1}"#, RowKind::Price),
            (r#"{"name": "x", "address": "y"}"#, RowKind::Place),
        ] {
            assert_eq!(RowKind::of_fields(&fields(row)), Some(kind), "{row}");
        }
        assert_eq!(RowKind::of_fields(&fields(r#"{"name": "x"}"#)), None);
    }
}
