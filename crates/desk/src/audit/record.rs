//! One record, one line of JSON. Its last member is its hash: SHA-256 over the
//! line's own bytes before it, in which the hash of the record before stands as
//! `prev`. So a line is checked as it was written, and no byte of it can change.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use kit::{Error, Result};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{erasures::Runs, redact::Kept};
use crate::state::hex;

/// What stands before the first record of a process.
pub const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const BEFORE_HASH: &str = ",\"hash\":\"";
/// `,"hash":"` and 64 digits and `"}`.
const TAIL: usize = BEFORE_HASH.len() + 64 + 2;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The client has to ask its user first, and call again.
    Asked,
    /// The tool refused, with this code.
    Refused(String),
    /// Something broke on our side; the text is for the log alone.
    Failed(String),
    /// The client went away before the call was through.
    Abandoned,
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Asked => "asked",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What is to be recorded.
#[derive(Debug)]
pub enum Entry {
    Call(Box<CallEntry>),
    /// Requests refused before a tool was known, in one second.
    Refused {
        at: i64,
        caller: Arc<str>,
        counter: &'static str,
        count: u64,
    },
    /// A call whose process died before it could record it.
    Recovered(Box<RecoveredEntry>),
    /// Records that found no room while the trail could not be written.
    Lost {
        at: i64,
        count: u64,
    },
}

impl Entry {
    /// The call of this process that it is about.
    pub fn call(&self) -> Option<&str> {
        match self {
            Self::Call(call) => Some(&call.call),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct CallEntry {
    /// When it was answered. Milliseconds since 1970, as all times here.
    pub at: i64,
    pub call: String,
    pub caller: Arc<str>,
    pub caller_name: Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
    pub outcome: Outcome,
    pub ms: f64,
    pub approval: Option<String>,
    pub kept: Kept,
}

#[derive(Debug, Clone)]
pub struct RecoveredEntry {
    pub at: i64,
    pub call: String,
    pub caller: String,
    pub counter: String,
    pub tool: String,
    /// The segment that lacks it.
    pub segment: String,
    /// The digest of the arguments in the row.
    pub digest: String,
    /// The approval it used, if it needed one.
    pub approval: Option<String>,
}

/// A record as it stands in a line. One shape for all kinds; what a kind does
/// not have is left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Record<'a> {
    pub seq: u64,
    pub prev: Cow<'a, str>,
    pub at: Cow<'a, str>,
    /// `start`, `call`, `refused_count`, `lost`, `end`; among the checkpoints
    /// `sealed`, `dropped` and `erased`.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "is_false")]
    pub recovered: bool,
    /// SHA-256 over a random salt and the arguments that are kept beside: it
    /// binds them while they are there and tells nothing once they are erased.
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
    /// The counters of the process whose rows can complete its records; those
    /// that share a store stand together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Vec<Vec<Cow<'a, str>>>>,
    /// The segment of the same process before this one; `prev` is its head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<Cow<'a, str>>,
    /// What there was at the start that no checkpoint seals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Vec<Head>>,
    /// The last checkpoint at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Head>,
    /// The segment that is meant: completed, sealed, dropped or erased from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Cow<'a, str>>,
    /// Of an erasure: the records of that segment whose arguments were erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Runs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Cow<'a, str>>,
    /// Bytes of a torn last line that were put aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<u64>,
    #[serde(skip_serializing)]
    pub hash: String,
}

/// The last record of a segment, as somebody saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub segment: String,
    pub seq: u64,
    pub hash: String,
}

/// A record ready to be written, and what stands beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub seq: u64,
    pub at: i64,
    pub call: Option<String>,
    pub caller: Option<String>,
    /// Without line end.
    pub record: String,
    /// The arguments and their salts, also a line of JSON.
    pub kept: Option<String>,
}

/// What stands beside a record, until it is erased.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beside {
    pub seq: u64,
    #[serde(skip_serializing_if = "is_false")]
    pub erased: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Salted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<Salted>,
}

impl Beside {
    /// What stands there once it was erased.
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
        let salt: [u8; 16] = rand::rng().random();
        (!text.is_empty()).then(|| Self {
            salt: hex(&salt),
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(it: &bool) -> bool {
    !it
}

/// Always with milliseconds, so that text sorts as time does.
pub fn time(at: i64) -> String {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

impl Record<'_> {
    pub fn at_ms(&self) -> i64 {
        let at: Option<Timestamp> = self.at.parse().ok();
        at.map_or(0, |at| at.as_millisecond())
    }

    /// The line, and its hash.
    pub fn seal(&self) -> Result<(String, String)> {
        let mut line = serde_json::to_string(self).map_err(Error::internal)?;
        line.pop();
        let hash = hex(&Sha256::digest(line.as_bytes()));
        line.push_str(BEFORE_HASH);
        line.push_str(&hash);
        line.push_str("\"}");
        Ok((line, hash))
    }
}

/// Reads a line back. What is wrong with it is said in words for people.
pub fn parse(line: &str) -> std::result::Result<Record<'static>, &'static str> {
    let (text, hash) = line
        .len()
        .checked_sub(TAIL)
        .and_then(|at| line.split_at_checked(at))
        .and_then(|(text, tail)| {
            let hash = tail.strip_prefix(BEFORE_HASH)?.strip_suffix("\"}")?;
            Some((text, hash))
        })
        .ok_or("it is no record")?;
    if hex(&Sha256::digest(text.as_bytes())) != hash {
        return Err("its content does not match its hash");
    }
    let mut record: Record<'static> = serde_json::from_str(line).map_err(|_| "it is no record")?;
    record.hash = hash.to_owned();
    Ok(record)
}
