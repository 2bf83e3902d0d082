//! Rows out of a file, one after the other: a JSON array, a JSON object on each
//! line, or CSV with a header. The first character tells which. [`to_csv`] writes CSV.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// No row has a longer line.
const LONGEST_LINE: u64 = 4 * 1024 * 1024;

/// A row as the file has it, or why it is not one.
pub type Fields = std::result::Result<Map<String, Value>, String>;

/// Hands every row of a file to `take`, with its line, until `take` has enough. A CSV
/// needs the columns in `required`.
pub fn read(
    path: &Path,
    consumed: Arc<AtomicU64>,
    required: &[&str],
    take: impl FnMut(u64, Fields) -> bool,
) -> Result<()> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let counted = Counted {
        inner: file,
        bytes: consumed,
    };
    let reader = BufReader::with_capacity(256 * 1024, counted);
    read_from(reader, path, required, take)
}

/// [`read`] for what is already open. `path` is only named in errors.
pub fn read_from(
    mut reader: impl BufRead,
    path: &Path,
    required: &[&str],
    take: impl FnMut(u64, Fields) -> bool,
) -> Result<()> {
    skip_mark(&mut reader).map_err(|error| unreadable(path, &error))?;
    let first = first_sign(&mut reader).map_err(|error| unreadable(path, &error))?;
    match first {
        None => Err(Error::new("EMPTY_FILE", "The file is empty.").next("Give a file with rows.")),
        Some(b'[') => array(reader, take),
        Some(b'{') => lines(reader, take).map_err(|error| unreadable(path, &error)),
        Some(_) => table(reader, required, take),
    }
}

pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        "FILE_READ_ERROR",
        format!("{} can't be read: {error}.", path.display()),
    )
    .next("Check the name and the permissions of the file.")
}

/// Counts bytes for the progress, as they are read.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Spreadsheets write a byte-order mark at the start of a file.
fn skip_mark(reader: &mut impl BufRead) -> io::Result<()> {
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(())
}

/// The first byte that is not white space.
fn first_sign(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    let buffer = reader.fill_buf()?;
    Ok(buffer
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace()))
}

fn lines(mut reader: impl BufRead, mut take: impl FnMut(u64, Fields) -> bool) -> io::Result<()> {
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let count = reader
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut text)?;
        if count == 0 {
            break;
        }
        let too_long = count as u64 == LONGEST_LINE && !text.ends_with(b"\n");
        if too_long {
            reader.skip_until(b'\n')?;
        } else if text.trim_ascii().is_empty() {
            continue;
        }
        let fields = match too_long {
            true => Err("the line is too long".to_owned()),
            false => serde_json::from_slice(&text)
                .map_err(|error| format!("not a JSON object: {}", without_place(&error))),
        };
        if !take(line, fields) {
            break;
        }
    }
    Ok(())
}

/// Without serde_json's own position, which is within the line that is named already.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn array(reader: impl BufRead, take: impl FnMut(u64, Fields) -> bool) -> Result<()> {
    let line = Arc::new(AtomicU64::new(1));
    let counted = LineCounted {
        inner: reader,
        line: Arc::clone(&line),
    };
    let mut json = serde_json::Deserializer::from_reader(counted);
    let elements = Elements { take, line: &line };
    match json.deserialize_seq(elements).and_then(|()| json.end()) {
        Ok(()) => Ok(()),
        Err(error) if error.to_string().contains(ENOUGH) => Ok(()),
        Err(error) => Err(Error::new(
            "INVALID_FILE",
            format!("Line {}: {}.", error.line().max(1), without_place(&error)),
        )
        .next("Correct the file and import it again.")),
    }
}

/// Counts lines. serde_json reads byte by byte, so the count is that of the element
/// being read.
struct LineCounted<R> {
    inner: R,
    line: Arc<AtomicU64>,
}

impl<R: BufRead> Read for LineCounted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte at a time, or lines would be counted ahead of the element.
        let Some(one) = buffer.get_mut(..1) else {
            return Ok(0);
        };
        let count = self.inner.read(one)?;
        if count == 1 && one.first() == Some(&b'\n') {
            self.line.fetch_add(1, Ordering::Relaxed);
        }
        Ok(count)
    }
}

const ENOUGH: &str = "the reader has enough";

struct Elements<'a, F> {
    take: F,
    line: &'a AtomicU64,
}

impl<'de, F: FnMut(u64, Fields) -> bool> Visitor<'de> for Elements<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> std::result::Result<(), A::Error> {
        while let Some((line, row)) = rows.next_element_seed(WithLine(self.line))? {
            let fields = match row {
                Value::Object(fields) => Ok(fields),
                _ => Err("not a JSON object".to_owned()),
            };
            if !(self.take)(line, fields) {
                return Err(serde::de::Error::custom(ENOUGH));
            }
        }
        Ok(())
    }
}

/// Reads an element and the line on which it begins: serde_json has read its first
/// byte by then, and no more.
struct WithLine<'a>(&'a AtomicU64);

impl<'de> DeserializeSeed<'de> for WithLine<'_> {
    type Value = (u64, Value);

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        let line = self.0.load(Ordering::Relaxed);
        let value: Value = serde::Deserialize::deserialize(deserializer)?;
        Ok((line, value))
    }
}

/// Turns every line ending into a single line feed, and adds a missing last one, so
/// that lines can be counted. Spreadsheets use two characters.
struct PlainLines<R> {
    inner: R,
    last: u8,
}

impl<R: BufRead> PlainLines<R> {
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        let Some(&byte) = self.inner.fill_buf()?.first() else {
            return Ok((std::mem::replace(&mut self.last, b'\n') != b'\n').then_some(b'\n'));
        };
        self.inner.consume(1);
        self.last = byte;
        if byte == b'\r' {
            self.last = b'\n';
            if self.inner.fill_buf()?.first() == Some(&b'\n') {
                self.inner.consume(1);
            }
        }
        Ok(Some(self.last))
    }
}

impl<R: BufRead> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        for place in buffer {
            let Some(byte) = self.next_byte()? else {
                break;
            };
            *place = byte;
            count += 1;
        }
        Ok(count)
    }
}

/// The rows of a CSV whose header has the `required` columns.
pub fn table(
    reader: impl BufRead,
    required: &[&str],
    mut take: impl FnMut(u64, Fields) -> bool,
) -> Result<()> {
    let mut csv = csv::ReaderBuilder::new()
        .trim(csv::Trim::Headers)
        .from_reader(PlainLines {
            inner: reader,
            last: b'\n',
        });
    let names: Vec<String> = match csv.headers() {
        Ok(names) => names.iter().map(str::to_lowercase).collect(),
        Err(error) => return Err(invalid_header(&format!("it is {}", problem(&error, 0)))),
    };
    for wanted in required {
        if !names.iter().any(|name| name == wanted) {
            return Err(invalid_header(&format!("there is no column `{wanted}`")));
        }
    }
    let mut record = csv::StringRecord::new();
    loop {
        let fields = match csv.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => Ok(names
                .iter()
                .zip(record.iter())
                .filter(|(_, value)| !value.trim().is_empty())
                .map(|(name, value)| (name.clone(), Value::String(value.to_owned())))
                .collect()),
            Err(error) if matches!(error.kind(), csv::ErrorKind::Io(_)) => {
                return Err(Error::new(
                    "FILE_READ_ERROR",
                    format!("The file can't be read: {error}."),
                ));
            }
            Err(error) => Err(problem(&error, names.len())),
        };
        // The reader's own position may be that of blank lines before the record. So
        // the line is computed from the end of the record and its number of lines.
        let line_breaks = record.iter().map(|field| field.matches('\n').count());
        let lines = 1 + line_breaks.sum::<usize>() as u64;
        if !take(csv.position().line().saturating_sub(lines), fields) {
            return Ok(());
        }
    }
}

/// A CSV with a header.
pub fn to_csv(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns).map_err(Error::internal)?;
    for row in rows {
        csv.write_record(row).map_err(Error::internal)?;
    }
    csv.into_inner()
        .map_err(|error| Error::internal(error.to_string()))
}

fn problem(error: &csv::Error, columns: usize) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { len, .. } => {
            format!("{len} fields where the header has {columns}")
        }
        csv::ErrorKind::Utf8 { .. } => "not UTF-8".to_owned(),
        _ => "not CSV".to_owned(),
    }
}

fn invalid_header(why: &str) -> Error {
    Error::new("INVALID_FILE", format!("The file is neither JSON nor CSV with a header: {why}."))
        .next("Give a JSON array, a JSON object on each line, or CSV (UTF-8) whose first line names the fields.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rows of a file with their lines; a text for what is no row.
    fn rows_of(text: &str) -> Result<Vec<(u64, Value)>> {
        let mut rows = Vec::new();
        let take = |line, fields: Fields| {
            rows.push((line, fields.map_or_else(Value::String, Value::Object)));
            true
        };
        read_from(text.as_bytes(), Path::new("f"), &["name"], take)?;
        Ok(rows)
    }

    #[test]
    fn every_kind_of_file_gives_the_same_rows_with_their_lines() {
        let (a, b) = (json!({ "name": "a" }), json!({ "name": "b\nc" }));
        for (text, lines) in [
            ("[{\"name\":\"a\"},\n\n{\"name\":\"b\\nc\"}]", [1, 3]),
            ("\u{feff} {\"name\":\"a\"}\n \n{\"name\":\"b\\nc\"}", [1, 3]),
            ("NAME ,x\r\na,\r\n\r\n\"b\r\nc\", \r\n", [2, 4]),
            ("\u{feff}name\na\n\n\"b\nc\"", [2, 4]),
        ] {
            let expected = [(lines[0], a.clone()), (lines[1], b.clone())];
            assert_eq!(rows_of(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn rows_that_are_none_are_named_and_the_rest_is_read() {
        let lines = rows_of("{\"a\":1}\n[]\n{\"b\":2}").unwrap();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1]
                .1
                .as_str()
                .unwrap()
                .starts_with("not a JSON object: ")
        );
        let array = rows_of("[{\"a\":1}, 5]").unwrap();
        assert_eq!(array[1].1, "not a JSON object");
        let csv = rows_of("name,x\na,b,c\nd,e\n").unwrap();
        assert_eq!(csv[0].1, "3 fields where the header has 2");
        assert_eq!(csv[1], (3, json!({ "name": "d", "x": "e" })));
        let long = "x".repeat(usize::try_from(LONGEST_LINE).unwrap());
        let long = rows_of(&format!("{{\"a\":\"{long}\"}}\n{{\"a\":1}}")).unwrap();
        assert_eq!(long[0].1, "the line is too long");
        assert_eq!(long[1], (2, json!({ "a": 1 })));
    }

    #[test]
    fn files_without_rows_are_refused() {
        for (text, code) in [
            (" \n", "EMPTY_FILE"),
            ("[{}", "INVALID_FILE"),
            ("title\na\n", "INVALID_FILE"),
        ] {
            assert_eq!(rows_of(text).unwrap_err().code, code, "{text}");
        }
        let broken = rows_of("[{},\n{]").unwrap_err().message;
        assert!(broken.starts_with("Line 2: "), "{broken}");
    }

    #[test]
    fn reading_ends_when_there_is_enough() {
        for text in ["[{},{},{}]", "{}\n{}\n{}", "name\na\nb\nc\n"] {
            let mut count = 0;
            let take = |_, _: Fields| {
                count += 1;
                count < 2
            };
            read_from(text.as_bytes(), Path::new("f"), &[], take).unwrap();
            assert_eq!(count, 2, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let rows = [["a", "b,\"c\""].map(str::to_owned).to_vec()];
        let csv = to_csv(&["name", "x"], rows.into_iter()).unwrap();
        let read = rows_of(std::str::from_utf8(&csv).unwrap()).unwrap();
        assert_eq!(read, [(2, json!({ "name": "a", "x": "b,\"c\"" }))]);
    }
}
