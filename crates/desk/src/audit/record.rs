//! One record is one line of JSON. Its last member is its hash: SHA-256 over the
//! bytes of the line before it. `prev` is the hash of the record before. A line is
//! verified as it was written, so no byte of it can change unnoticed.

use std::borrow::Cow;

use jiff::Timestamp;
use kit::{Error, Result};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ranges::RecordRanges;
use crate::digest::{hex, sha256};

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
    pub caller: Option<String>,
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
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self {
            salt: hex(&rand::rng().random::<[u8; 16]>()),
            text: text.to_owned(),
        })
    }

    pub fn commitment(&self) -> String {
        let digest = Sha256::new()
            .chain_update(self.salt.as_bytes())
            .chain_update(b":")
            .chain_update(self.text.as_bytes())
            .finalize();
        hex(&digest)
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
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
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
        let hash = sha256(line.as_bytes());
        line.push_str(BEFORE_HASH);
        line.push_str(&hash);
        line.push_str("\"}");
        Ok((line, hash))
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
