//! Reads architecture decision records, in the formats of this program, `adr-tools`, `adrs`
//! and MADR. `adr_write` writes them.

use std::ops::Range;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MOST, document::Document, lines::slice, markdown_blocks::BlockKind};

pub const HISTORY: &str = "Status history";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Status {
    Proposed,
    Accepted,
    Deprecated,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Proposed, Self::Accepted, Self::Deprecated];

    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "Proposed",
            Self::Accepted => "Accepted",
            Self::Deprecated => "Deprecated",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == text)
    }

    /// The status that a text written by people is closest to.
    fn meant(text: &str) -> Self {
        let text = text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&[
            "superseded",
            "superceded",
            "deprecat",
            "reject",
            "廃止",
            "却下",
            "置換",
        ]) {
            Self::Deprecated
        } else if says(&["accept", "approv", "adopted", "承認", "採用"]) {
            Self::Accepted
        } else {
            Self::Proposed
        }
    }
}

/// A record without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adr {
    pub number: u16,
    /// The file's name without `.md`.
    pub stem: String,
    pub title: String,
    pub status: Status,
    pub superseded_by: Option<u16>,
    pub supersedes: Vec<u16>,
    pub created: Option<DateOrTime>,
    pub updated: Option<DateOrTime>,
}

/// A point in time, or a day if the record names no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrTime {
    At(Timestamp),
    On(Date),
}

impl DateOrTime {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['"', '\'']);
        let moment = text.parse::<Timestamp>().map(Self::At);
        moment
            .or_else(|_| text.get(..10).unwrap_or(text).parse::<Date>().map(Self::On))
            .ok()
    }

    pub fn timestamp(self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::On(date) => date
                .to_zoned(zone.clone())
                .map_or(Timestamp::UNIX_EPOCH, |day| day.timestamp()),
        }
    }
}

/// Reads the number from a file's name: `adr-001-title`, or `0001-title` of
/// `adr-tools`.
pub fn number_of(stem: &str) -> Option<u16> {
    let rest = stem.strip_prefix("adr-").unwrap_or(stem);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let ours = rest.get(digits..)?.starts_with('-') || rest.len() == digits;
    let number: u16 = rest.get(..digits)?.parse().ok()?;
    (ours && digits >= 3 && (1..=MOST).contains(&number)).then_some(number)
}

pub fn stem(number: u16, title: &str) -> String {
    format!("adr-{number:03}-{}", slug(title))
}

/// A title as part of a file's name: letters and digits of any script, joined
/// by hyphens, short enough for every file system.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in kit::text::narrow(title)
        .chars()
        .flat_map(char::to_lowercase)
    {
        if character.is_alphanumeric() || character == 'ー' {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() > 120 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "untitled".into()
    } else {
        slug.to_owned()
    }
}

/// Where a file states its status.
pub struct StatusPlace {
    pub bytes: Range<usize>,
    /// In YAML front matter, where links are not allowed.
    pub front_matter: bool,
}

pub fn status_place(document: &Document<'_>) -> Option<StatusPlace> {
    fielded(document, "status").or_else(|| {
        let heading = status_heading(document)?;
        let line = document.content(&document.body(heading));
        (!line.is_empty()).then(|| StatusPlace {
            bytes: document.bytes(&(line.start..line.start + 1)),
            front_matter: false,
        })
    })
}

pub fn status_heading<'a>(document: &Document<'a>) -> Option<super::document::Heading<'a>> {
    ["Status", "ステータス", "状態"]
        .into_iter()
        .find_map(|name| document.section(name))
}

/// `status: accepted` in front matter, or `* Status: accepted` above the first
/// section.
fn fielded(document: &Document<'_>, name: &str) -> Option<StatusPlace> {
    let first_section = document
        .headings
        .iter()
        .find(|heading| heading.level == 2)
        .map_or(document.lines.len(), |heading| heading.line);
    for (index, block) in document.blocks.iter().enumerate().take(first_section) {
        let line = document.line(index);
        let plain = line.trim_start_matches(['*', '-', '+', ' ', '\t']);
        let Some(tail) = plain
            .get(..name.len())
            .filter(|start| start.eq_ignore_ascii_case(name))
            .and_then(|_| plain.get(name.len()..))
        else {
            continue;
        };
        let tail = tail.trim_start_matches("**");
        let Some(value) = tail.strip_prefix(':') else {
            continue;
        };
        let value = value.trim_start_matches("**").trim();
        let front_matter = block.kind == BlockKind::Opaque;
        let value = if front_matter {
            value.trim_matches(['"', '\''])
        } else {
            value
        };
        let line_start = document.bytes(&(index..index + 1)).start;
        if !value.is_empty()
            && let Some(start) = line.rfind(value)
        {
            return Some(StatusPlace {
                bytes: line_start + start..line_start + start + value.len(),
                front_matter,
            });
        }
    }
    None
}

impl Adr {
    pub fn parse(stem: &str, number: u16, text: &str) -> Self {
        let document = Document::parse(text);
        let place = status_place(&document);
        let first = place
            .as_ref()
            .map_or("", |place| slice(text, place.bytes.clone()));
        let body = status_heading(&document).map_or("", |heading| document.content_text(heading));
        let mut superseded_by = superseded(first);
        let mut supersedes = Vec::new();
        for line in body.lines() {
            let lower = line.to_lowercase();
            superseded_by = superseded_by.or_else(|| superseded(line));
            if lower.contains("supersedes") || lower.contains("supercedes") {
                supersedes.extend(number_in(line));
            }
        }
        let status = match superseded_by {
            Some(_) => Status::Deprecated,
            None => Status::meant(first),
        };
        let moments: Vec<DateOrTime> = history(&document).collect();
        let date = fielded(&document, "date")
            .and_then(|place| DateOrTime::parse(slice(text, place.bytes)));
        Self {
            number,
            stem: stem.to_owned(),
            title: title(&document, stem),
            status,
            superseded_by,
            supersedes,
            created: moments.first().copied().or(date),
            updated: moments.last().copied(),
        }
    }
}

fn history(document: &Document<'_>) -> impl Iterator<Item = DateOrTime> {
    let text = document
        .section(HISTORY)
        .map_or("", |heading| document.content_text(heading));
    text.lines().filter_map(|line| {
        let word = line
            .trim_start_matches(['-', '*', ' '])
            .split_whitespace()
            .next()?;
        DateOrTime::parse(word.trim_end_matches(':'))
    })
}

fn title(document: &Document<'_>, stem: &str) -> String {
    let heading = document.headings.iter().find(|heading| heading.level == 1);
    let Some(heading) = heading.map(|heading| heading.name) else {
        let rest = stem.strip_prefix("adr-").unwrap_or(stem);
        return rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
            .replace('-', " ");
    };
    // `1. Title`, `ADR-001: Title`, `ADR 1 - Title`.
    let rest = heading
        .strip_prefix("ADR")
        .or_else(|| heading.strip_prefix("adr"));
    let plain = rest.map_or(heading, |rest| rest.trim_start_matches(['-', ' ']));
    let digits = plain.bytes().take_while(u8::is_ascii_digit).count();
    let tail = plain.get(digits..).unwrap_or_default().trim_start();
    let title = tail
        .trim_start_matches(['.', ':', '-', '—', '–', ')'])
        .trim_start();
    if digits > 0 && tail != title && !title.is_empty() {
        title.to_owned()
    } else {
        heading.to_owned()
    }
}

fn superseded(line: &str) -> Option<u16> {
    let lower = line.to_lowercase();
    let at = lower
        .find("superseded by")
        .or_else(|| lower.find("superceded by"))?;
    number_in(lower.get(at..)?)
}

/// The number of the record that a line links to.
fn number_in(line: &str) -> Option<u16> {
    line.split(|c: char| !c.is_ascii_digit())
        .find(|digits| !digits.is_empty())
        .and_then(|digits| digits.parse().ok())
        .filter(|number| (1..=MOST).contains(number))
}
