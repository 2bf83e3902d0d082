//! The lines of all segments, newest first, without reading whole files. Lines are in
//! order of number and, nearly, of time, so a place in a file is found by halving.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::Result;

use super::{
    directory::Directory,
    disk::{if_exists, last_bytes, seq_of, unusable},
    members::Members,
    packed::packed,
};
use crate::audit::{
    position::{ArgumentsOfLine, Position, TrailLine, at_of},
    record::began,
};

/// How much is read at a time.
const BLOCK: u64 = 128 * 1024;

/// Calls that end at the same time are recorded in any order.
const DISORDER_MS: i64 = 1000;

/// A segment begins when its first record is written, and that may be so much later than
/// the call.
const LATE_MS: i64 = 600_000;

/// Reads all lines of a segment whose file has to be read whole.
pub type ReadWhole<'a> = Box<dyn Fn(&str) -> Result<Vec<LineWithArguments>> + 'a>;

type LineWithArguments = (String, Option<String>);

/// The merged lines of all segments.
pub struct Merged<'a> {
    directory: Directory,
    read_whole: ReadWhole<'a>,
    before: Option<Position>,
    /// The segments that are not open yet, with the time of their last record; newest
    /// last.
    waiting: Vec<(String, i64)>,
    open: Vec<OpenSegment>,
}

impl<'a> Merged<'a> {
    /// `touched`: the segments with the time of their last record, newest first.
    pub fn new(
        directory: &Directory,
        touched: Vec<(String, i64)>,
        before: Option<Position>,
        read_whole: ReadWhole<'a>,
    ) -> Self {
        let end = end(before.as_ref());
        let may_have = |(segment, touched): &(String, i64)| match (began(segment), end) {
            // A segment that began later has nothing that is wanted, unless the clock was
            // set back since.
            (Some(began), Some(end)) => began - LATE_MS <= end || *touched < began,
            _ => true,
        };
        Self {
            directory: directory.clone(),
            read_whole,
            before,
            waiting: touched.into_iter().rev().filter(may_have).collect(),
            open: Vec::new(),
        }
    }

    /// Opens the segments that may have a newer record than the open ones.
    fn open_next(&mut self) -> Result<()> {
        loop {
            let newest = self.open.iter().map(|it| it.next.position.at).max();
            let is_next = |(_, touched): &mut (String, i64)| newest.is_none_or(|at| *touched >= at);
            let Some((segment, _)) = self.waiting.pop_if(is_next) else {
                return Ok(());
            };
            let lines = self.lines(&segment)?;
            self.open.extend(OpenSegment::new(&segment, lines)?);
        }
    }

    fn lines(&self, segment: &str) -> Result<Lines> {
        let end = end(self.before.as_ref());
        if let Some(lines) = LinesBackwards::open(&self.directory, segment, end)? {
            return Ok(Lines::OfFile(lines));
        }
        let path = packed(&self.directory.chain(segment));
        match MembersBackwards::open(path, end)? {
            Some(lines) => Ok(Lines::OfMembers(lines)),
            None => Ok(Lines::InMemory((self.read_whole)(segment)?)),
        }
    }

    fn take_newest(&mut self) -> Result<Option<TrailLine>> {
        self.open_next()?;
        let newest = self.open.iter().enumerate();
        let newest = newest.max_by(|(_, a), (_, b)| a.next.position.cmp(&b.next.position));
        let Some((at, _)) = newest else {
            return Ok(None);
        };
        let Some(segment) = self.open.get_mut(at) else {
            return Ok(None);
        };
        Ok(Some(match segment.advance()? {
            Some(line) => line,
            None => self.open.swap_remove(at).next,
        }))
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<TrailLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.take_newest() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            let before = self.before.as_ref();
            if before.is_none_or(|before| line.position < *before) {
                return Some(Ok(line));
            }
        }
    }
}

struct OpenSegment {
    segment: Arc<str>,
    lines: Lines,
    next: TrailLine,
}

/// Lines of this time and later are not wanted.
fn end(before: Option<&Position>) -> Option<i64> {
    before.map(|before| before.at.saturating_add(DISORDER_MS))
}

enum Lines {
    OfFile(LinesBackwards),
    OfMembers(MembersBackwards),
    /// Of a segment whose file has to be read whole: all of them, oldest first.
    InMemory(Vec<LineWithArguments>),
}

impl Lines {
    fn previous(&mut self) -> Result<Option<(String, ArgumentsOfLine)>> {
        Ok(match self {
            Self::OfFile(lines) => {
                let line = lines.previous()?;
                line.map(|line| (line, ArgumentsOfLine::NotRead))
            }
            Self::OfMembers(lines) => {
                let line = lines.previous()?;
                line.map(|line| (line, ArgumentsOfLine::NotRead))
            }
            Self::InMemory(lines) => {
                let line = lines.pop();
                line.map(|(line, arguments)| (line, ArgumentsOfLine::Read(arguments)))
            }
        })
    }
}

impl OpenSegment {
    /// `None` if there are no lines.
    fn new(segment: &str, mut lines: Lines) -> Result<Option<Self>> {
        let segment: Arc<str> = segment.into();
        let Some(line) = lines.previous()? else {
            return Ok(None);
        };
        let next = placed(&segment, i64::MAX, line);
        Ok(Some(Self {
            segment,
            lines,
            next,
        }))
    }

    /// Returns the next line and reads the one before it; `None`: it is the last.
    fn advance(&mut self) -> Result<Option<TrailLine>> {
        let Some(line) = self.lines.previous()? else {
            return Ok(None);
        };
        let before = placed(&self.segment, self.next.position.at, line);
        Ok(Some(std::mem::replace(&mut self.next, before)))
    }
}

/// In a call that was recorded after its process died. Its time is long before that of the
/// records around it.
const RECOVERED: &str = "\"recovered\":true";

/// A line is never later than those after it, so that positions are in the order of
/// the chain.
fn placed(
    segment: &Arc<str>,
    latest: i64,
    (line, arguments): (String, ArgumentsOfLine),
) -> TrailLine {
    let is_apart = latest != i64::MAX && line.contains(RECOVERED);
    let position = Position {
        at: match is_apart {
            true => latest,
            false => at_of(&line).min(latest),
        },
        segment: Arc::clone(segment),
        seq: seq_of(&line),
    };
    TrailLine {
        position,
        line,
        arguments,
    }
}

/// The lines of a compressed file, last first.
struct MembersBackwards {
    members: Members,
    /// How many members are still to be read.
    left: usize,
    lines: Vec<String>,
    path: PathBuf,
}

impl MembersBackwards {
    /// From the last line before the time `end`, or a few lines after it.
    fn open(path: PathBuf, end: Option<i64>) -> Result<Option<Self>> {
        let Some(members) = Members::open(&path)? else {
            return Ok(None);
        };
        let left = match end {
            Some(end) => members.before(|line| at_of(line) >= end),
            None => Ok(members.count()),
        };
        Ok(Some(Self {
            left: left.map_err(|error| unusable(&path, error))?,
            members,
            lines: Vec::new(),
            path,
        }))
    }

    fn previous(&mut self) -> Result<Option<String>> {
        while self.lines.is_empty() && self.left > 0 {
            self.left -= 1;
            let lines = self.members.lines(self.left);
            self.lines = lines.map_err(|error| unusable(&self.path, error))?;
        }
        Ok(self.lines.pop())
    }
}

/// Whole lines of a file, last first.
struct LinesBackwards {
    file: File,
    /// Where `bytes` begin in the file.
    begin: u64,
    bytes: Vec<u8>,
    path: PathBuf,
}

impl LinesBackwards {
    /// From the last line before the time `end`, or from the last of all.
    fn open(directory: &Directory, segment: &str, end: Option<i64>) -> Result<Option<Self>> {
        let path = directory.chain(segment);
        let Some(mut file) = if_exists(&path, File::open(&path))? else {
            return Ok(None);
        };
        let failed = |error| unusable(&path, error);
        let (_, length) = last_bytes(&mut file).map_err(failed)?;
        let begin = match end {
            Some(end) => first_line(&file, length, |line| at_of(line) >= end).map_err(failed)?,
            None => length,
        };
        Ok(Some(Self {
            file,
            begin,
            bytes: Vec::new(),
            path,
        }))
    }

    fn previous(&mut self) -> Result<Option<String>> {
        loop {
            let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
            let before = text.iter().rposition(|byte| *byte == b'\n');
            let starts = before.map(|at| at + 1);
            let starts = starts.or((self.begin == 0 && !text.is_empty()).then_some(0));
            if let Some(starts) = starts {
                let line = text.get(starts..).unwrap_or_default();
                let line = String::from_utf8_lossy(line).into_owned();
                self.bytes.truncate(starts);
                return Ok(Some(line));
            }
            if self.begin == 0 {
                return Ok(None);
            }
            self.read_block()
                .map_err(|error| unusable(&self.path, error))?;
        }
    }

    fn read_block(&mut self) -> std::io::Result<()> {
        let length = BLOCK.min(self.begin);
        self.begin -= length;
        self.file.seek(SeekFrom::Start(self.begin))?;
        let mut block = Vec::with_capacity(BLOCK as usize + self.bytes.len());
        (&self.file).take(length).read_to_end(&mut block)?;
        block.append(&mut self.bytes);
        self.bytes = block;
        Ok(())
    }
}

/// Where the first line begins for which `is_after` holds. It must not hold for any
/// line before that one.
fn first_line(file: &File, length: u64, is_after: impl Fn(&str) -> bool) -> std::io::Result<u64> {
    let (mut low, mut high, mut found) = (0, length, length);
    let mut bytes = Vec::new();
    while low < high {
        let middle = low + (high - low) / 2;
        let mut reader = BufReader::with_capacity(4096, file);
        let mut start = low;
        if middle > low {
            reader.seek(SeekFrom::Start(middle - 1))?;
            bytes.clear();
            start = middle - 1 + reader.read_until(b'\n', &mut bytes)? as u64;
        } else {
            reader.seek(SeekFrom::Start(low))?;
        }
        if start >= high {
            high = middle;
            continue;
        }
        bytes.clear();
        let next = start + reader.read_until(b'\n', &mut bytes)? as u64;
        if is_after(&String::from_utf8_lossy(&bytes)) {
            found = start;
            high = middle;
        } else {
            low = next;
        }
    }
    Ok(found)
}

/// The line with this number in a file of a segment; `None` if there is no such file
/// or line.
pub fn numbered_line(path: &Path, seq: u64) -> Result<Option<String>> {
    let Some(file) = if_exists(path, File::open(path))? else {
        return Ok(None);
    };
    let read = || {
        let length = file.metadata()?.len();
        let start = first_line(&file, length, |line| seq_of(line) >= seq)?;
        let mut reader = BufReader::new(&file);
        reader.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        reader.read_until(b'\n', &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    };
    let line: std::io::Result<String> = read();
    let line = line.map_err(|error| unusable(path, error))?;
    Ok((seq_of(&line) == seq).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time in a record, on a day.
    fn at(time: &str) -> i64 {
        at_of(&format!("\"at\":\"2026-11-16T{time}.000Z\""))
    }

    /// The lines before the third of a segment with three lines.
    fn before_the_third(segment: &str, touched: i64) -> Vec<TrailLine> {
        let directory = tempfile::tempdir().unwrap();
        let directory = Directory::new(directory.path());
        let read = |segment: &str| {
            let line =
                |seq: i64| format!("{{\"seq\":{seq},\"at\":\"2026-11-16T00:00:0{seq}.000Z\"}}");
            let arguments = Some(format!("of {segment}"));
            Ok((1..=3).map(|seq| (line(seq), arguments.clone())).collect())
        };
        let before = Position {
            at: at("00:00:03"),
            segment: segment.into(),
            seq: 3,
        };
        let touched = vec![(segment.to_owned(), touched)];
        let merged = Merged::new(&directory, touched, Some(before), Box::new(read));
        merged.map(Result::unwrap).collect()
    }

    #[test]
    fn a_segment_that_is_neither_plain_nor_in_members_is_read_whole() {
        let lines = before_the_third("a", i64::MAX);
        let numbers: Vec<u64> = lines.iter().map(|line| line.position.seq).collect();
        assert_eq!(numbers, [2, 1]);
        let has_arguments = |line: &TrailLine| matches!(&line.arguments, ArgumentsOfLine::Read(Some(text)) if text == "of a");
        assert!(lines.iter().all(has_arguments));
    }

    #[test]
    fn only_a_segment_that_began_later_is_skipped() {
        let began_at = |time: &str| format!("2026-11-16T{time}.000Z-1");
        let later = at("13:00:00");
        assert_eq!(before_the_third(&began_at("12-00-00"), later).len(), 0);
        let busy = before_the_third(&began_at("00-00-30"), later);
        assert_eq!(busy.len(), 2, "the segment was written after the calls");
        let set_back = before_the_third(&began_at("12-00-00"), at("00:00:03"));
        assert_eq!(set_back.len(), 2, "the clock was set back");
    }
}
