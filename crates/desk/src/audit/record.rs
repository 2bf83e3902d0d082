//! One record is one line of JSON. Its last member is its hash: SHA-256 over the
//! bytes of the line before it. `prev` is the hash of the record before. A line is
//! verified as it was written, so no byte of it can change unnoticed.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use kit::{Error, Result};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    json_text::{push_number, push_quoted, push_thousandths, push_time},
    ranges::RecordRanges,
};
use crate::digest::{hex, push_hex, sha256};

/// `prev` of the first record of a process.
pub const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The kind of a record about requests that were refused before their tool was known.
pub const REFUSED_COUNT: &str = "refused_count";

const BEFORE_HASH: &str = ",\"hash\":\"";
const HASH_DIGITS: usize = 64;
/// `,"hash":"` and 64 digits and `"}`.
const TAIL: usize = BEFORE_HASH.len() + HASH_DIGITS + 2;

/// The fields of a line. All kinds of records share this type; a field that a kind
/// does not have is left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Record<'a> {
    pub seq: u64,
    pub prev: Cow<'a, str>,
    pub at: Cow<'a, str>,
    /// `start`, `call`, `read_count`, `refused_count`, `lost`, `end`; among the
    /// checkpoints `sealed`, `dropped` and `erased`.
    pub kind: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// How much of `ms` the call waited for a person's decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "is_false")]
    pub recovered: bool,
    /// A commitment to the stored arguments: SHA-256 over a random salt and their
    /// text. It reveals nothing once salt and text are erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<Cow<'a, str>>,
    /// Of a start: the process, as `desk_writes` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Cow<'a, str>>,
    /// The counters of the process from whose rows missing records can be
    /// recovered, grouped by store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Vec<Vec<Cow<'a, str>>>>,
    /// The segment of the same process before this one; `prev` is its head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<Cow<'a, str>>,
    /// The segments that no checkpoint sealed when this one began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Vec<Head>>,
    /// The last checkpoint when this segment began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Head>,
    /// The segment that was recovered, sealed, dropped or erased from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Cow<'a, str>>,
    /// Of an erasure: the records in that segment whose arguments were erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<RecordRanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Cow<'a, str>>,
    /// Of a sealed segment: the bytes of its records and arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Length in bytes of a torn last line that was quarantined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<u64>,
    #[serde(skip_serializing)]
    pub hash: String,
}

/// The last record of a segment at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub segment: String,
    pub seq: u64,
    pub hash: String,
}

/// A record ready to be written, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLine {
    pub seq: u64,
    pub at: i64,
    pub call: Option<String>,
    pub caller: Option<Arc<str>>,
    /// Without the line break.
    pub record: String,
    /// The arguments and their salts, also a line of JSON.
    pub arguments: Option<String>,
}

impl RecordLine {
    /// The record's own hash.
    pub fn hash(&self) -> &str {
        let end = self.record.len().saturating_sub(2);
        let begin = end.saturating_sub(HASH_DIGITS);
        self.record.get(begin..end).unwrap_or_default()
    }

    /// The bytes that it takes in the store.
    pub fn bytes(&self) -> u64 {
        let arguments = self.arguments.as_ref().map_or(0, String::len);
        (self.record.len() + arguments) as u64
    }
}

/// The arguments of a record. They are stored apart from the chain, so that they
/// can be erased without breaking it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredArguments {
    pub seq: u64,
    #[serde(skip_serializing_if = "is_false")]
    pub erased: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Salted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<Salted>,
}

impl StoredArguments {
    /// The line that replaces erased arguments.
    pub fn erased(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"erased\":true}}")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salted {
    pub salt: String,
    pub text: String,
}

impl Salted {
    pub fn commitment(&self) -> String {
        hex(&commitment(&self.salt, &self.text))
    }
}

fn commitment(salt: &str, text: &str) -> [u8; 32] {
    let digest = Sha256::new()
        .chain_update(salt.as_bytes())
        .chain_update(b":")
        .chain_update(text.as_bytes());
    digest.finalize().into()
}

/// Makes the stored arguments of a record, and the commitments to them in its line.
pub struct ArgumentsWriter {
    /// The line of the arguments so far.
    line: String,
    is_empty: bool,
}

impl ArgumentsWriter {
    pub fn new(seq: u64) -> Self {
        let mut line = String::with_capacity(160);
        line.push_str("{\"seq\":");
        push_number(seq, &mut line);
        Self {
            line,
            is_empty: true,
        }
    }

    /// Adds a text with a salt of its own; returns the commitment. `None`: it is empty.
    pub fn add(&mut self, name: &str, text: &str) -> Option<[u8; 32]> {
        if text.is_empty() {
            return None;
        }
        self.is_empty = false;
        let line = &mut self.line;
        line.push_str(",\"");
        line.push_str(name);
        line.push_str("\":{\"salt\":\"");
        let salt = line.len();
        push_hex(&rand::rng().random::<[u8; 16]>(), line);
        let commitment = commitment(line.get(salt..).unwrap_or_default(), text);
        line.push_str("\",\"text\":");
        push_quoted(text, line);
        line.push('}');
        Some(commitment)
    }

    /// `None`: there are none.
    pub fn finish(mut self) -> Option<String> {
        self.line.push('}');
        (!self.is_empty).then_some(self.line)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(it: &bool) -> bool {
    !it
}

/// Always with milliseconds, so that texts sort in order of time.
pub fn time(at: i64) -> String {
    let mut text = String::new();
    push_time(at, &mut text);
    text
}

impl Record<'_> {
    pub fn at_ms(&self) -> i64 {
        let at: Option<Timestamp> = self.at.parse().ok();
        at.map_or(0, |at| at.as_millisecond())
    }

    /// The line and its hash.
    pub fn seal(&self) -> Result<(String, String)> {
        let mut line = serde_json::to_string(self).map_err(Error::internal)?;
        line.pop();
        let hash = seal(&mut line);
        Ok((line, hash))
    }
}

/// Ends a line that lacks only its hash; returns the hash.
fn seal(line: &mut String) -> String {
    let hash = sha256(line.as_bytes());
    line.push_str(BEFORE_HASH);
    line.push_str(&hash);
    line.push_str("\"}");
    hash
}

/// Writes the line of a call field by field. Each call has one, and `Record` has many
/// fields that a call does not have. The bytes are the same.
pub struct CallLine(String);

impl CallLine {
    pub fn new(seq: u64, prev: &str, at: i64) -> Self {
        let mut line = String::with_capacity(640);
        line.push_str("{\"seq\":");
        push_number(seq, &mut line);
        line.push_str(",\"prev\":\"");
        line.push_str(prev);
        line.push_str("\",\"at\":\"");
        push_time(at, &mut line);
        line.push_str("\",\"kind\":\"call\"");
        Self(line)
    }

    fn name(&mut self, name: &str) {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_quoted(value, &mut self.0);
    }

    pub fn opt_text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    pub fn milliseconds(&mut self, name: &str, ms: f64) {
        self.name(name);
        push_thousandths(ms, &mut self.0);
    }

    pub fn opt_digest(&mut self, name: &str, digest: Option<[u8; 32]>) {
        if let Some(digest) = digest {
            self.name(name);
            self.0.push('"');
            push_hex(&digest, &mut self.0);
            self.0.push('"');
        }
    }

    /// The line and its hash.
    pub fn seal(mut self) -> (String, String) {
        let hash = seal(&mut self.0);
        (self.0, hash)
    }
}

/// Reads a line back. The error says what is wrong with it, for people.
pub fn parse(line: &str) -> std::result::Result<Record<'static>, &'static str> {
    let (text, hash) = line
        .len()
        .checked_sub(TAIL)
        .and_then(|at| line.split_at_checked(at))
        .and_then(|(text, tail)| {
            let hash = tail.strip_prefix(BEFORE_HASH)?.strip_suffix("\"}")?;
            Some((text, hash))
        })
        .ok_or("it is not a record")?;
    if sha256(text.as_bytes()) != hash {
        return Err("its content does not match its hash");
    }
    let mut record: Record<'static> =
        serde_json::from_str(line).map_err(|_| "it is not a record")?;
    record.hash = hash.to_owned();
    Ok(record)
}

/// The reason in the seal of a segment whose process died.
pub const CRASHED: &str = "crashed";

impl Record<'static> {
    /// The checkpoint that makes `head` the last record of its segment.
    pub fn sealed(head: &Head, first: i64, last: i64, why: &'static str) -> Self {
        Record {
            kind: "sealed".into(),
            segment: Some(head.segment.clone().into()),
            count: Some(head.seq),
            first: Some(time(first).into()),
            last: Some(time(last).into()),
            head: Some(head.hash.clone().into()),
            what: Some(why.into()),
            ..Record::default()
        }
    }
}

/// Names sort by time. The random end differs between processes that start in the
/// same second.
pub fn segment_name(now: i64) -> String {
    let time = time(now).replace(':', "-");
    let seconds = time.split('.').next().unwrap_or_default();
    kit::ids::random(&format!("{seconds}Z-"), 8)
}

/// When a segment began, by its name.
pub fn began(segment: &str) -> Option<i64> {
    let (day, time) = segment.split_once('T')?;
    let (time, _) = time.split_once('Z')?;
    let at: Timestamp = format!("{day}T{}Z", time.replace('-', ":")).parse().ok()?;
    Some(at.as_millisecond())
}
