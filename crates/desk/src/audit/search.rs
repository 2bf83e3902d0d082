//! Finds records across all segments, by time and with filters.

use std::{collections::HashSet, time::Duration};

use kit::Result;
use serde_json::{Map, Value};

use super::{
    erasures,
    progress::{TrailProgress, UNWATCHED, Watch},
    record::{REFUSED_COUNT, Record, Salted, StoredArguments, parse},
    store::{AuditStore, CHECKPOINTS},
    tool_filter::ToolFilter,
};
use crate::approvals::APPROVAL_REQUIRED;

/// Which records are wanted. Fields that are not set match all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// A caller's id or name.
    pub caller: Option<String>,
    pub counter: Option<String>,
    pub tool: Option<ToolFilter>,
    /// The word of an outcome, or the code of a refusal. See [`outcome_is`].
    pub outcome: Option<String>,
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// Whether to include what people wrote.
    pub personal: bool,
    /// Whether to include the records that begin and end segments.
    pub segments: bool,
}

impl Filter {
    /// The line of every record that is wanted has one text of each list.
    pub(super) fn words(&self) -> Vec<Vec<String>> {
        let quoted = |text: &String| serde_json::to_string(text).unwrap_or_default();
        let exact = [&self.caller, &self.counter].into_iter().flatten();
        let mut words: Vec<_> = exact.map(|text| vec![quoted(text)]).collect();
        words.extend(self.outcome.as_ref().map(|outcome| {
            let more = match outcome.as_str() {
                REFUSED => Some(REFUSED_COUNT),
                ASKED => Some(APPROVAL_REQUIRED),
                _ => None,
            };
            let more = more.map(|text| format!("\"{text}\""));
            std::iter::once(quoted(outcome)).chain(more).collect()
        }));
        words
    }

    pub(super) fn wants(&self, record: &Record<'_>) -> bool {
        let at = record.at_ms();
        let is = |wanted: &Option<String>, given: &[Option<&str>]| {
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| given.contains(&Some(wanted)))
        };
        self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
            && (self.segments || !matches!(&*record.kind, "start" | "end"))
            && is(
                &self.caller,
                &[record.caller.as_deref(), record.caller_name.as_deref()],
            )
            && is(&self.counter, &[record.counter.as_deref()])
            && self.tool.as_ref().is_none_or(|wanted| {
                let tool = record.tool.as_deref();
                tool.is_some_and(|tool| wanted.wants(tool))
            })
            && self
                .outcome
                .as_deref()
                .is_none_or(|wanted| outcome_is(record, wanted))
    }
}

const REFUSED: &str = "refused";
const ASKED: &str = "asked";

/// Whether a record has this outcome or code. Requests that were refused before their
/// tool was known were refused too. A call that was held for a person's approval and
/// answered without one asked first, as did one whose client asks.
fn outcome_is(record: &Record<'_>, wanted: &str) -> bool {
    let code = record.code.as_deref();
    record.outcome.as_deref() == Some(wanted)
        || code == Some(wanted)
        || (wanted == REFUSED && record.kind == REFUSED_COUNT)
        || (wanted == ASKED && code == Some(APPROVAL_REQUIRED))
}

/// One record, for people and other programs.
#[derive(Debug, Clone)]
pub struct FoundRecord {
    pub at: i64,
    pub segment: String,
    pub seq: u64,
    /// The record's own fields, and what is kept of its arguments.
    pub json: Value,
}

/// The records that match, by time. `last`: only the newest so many.
pub fn find(
    store: &dyn AuditStore,
    filter: &Filter,
    last: Option<usize>,
    watch: Watch<'_>,
) -> Result<Vec<FoundRecord>> {
    let mut found: Vec<FoundRecord> = Vec::new();
    for line in store.checkpoints()? {
        if let Some(record) = erasures::recorded(&line)
            && filter.wants(&record)
        {
            found.extend(shown(CHECKPOINTS, &record, &line, None, filter.personal));
        }
    }
    let segments = store.touched(filter.since.unwrap_or(i64::MIN))?;
    for (segments_done, (segment, touched)) in segments.iter().enumerate() {
        watch(TrailProgress {
            segments_done,
            segments: segments.len(),
            records: found.len() as u64,
        });
        if let Some(last) = last
            && found.len() >= last
        {
            found.sort_by(by_time);
            found.drain(..found.len() - last);
            // All records of the remaining segments are older.
            if found.first().is_some_and(|oldest| oldest.at > *touched) {
                break;
            }
        }
        let Some(stored) = store.read(segment)? else {
            continue;
        };
        let mut here = 0;
        for (line, arguments) in stored.lines.iter().rev() {
            if last.is_some_and(|last| here == last) {
                break;
            }
            // Damaged records are left out; `verify` reports them.
            if let Ok(record) = parse(line)
                && filter.wants(&record)
                && let Some(it) = shown(
                    segment,
                    &record,
                    line,
                    arguments.as_deref(),
                    filter.personal,
                )
            {
                found.push(it);
                here += 1;
            }
        }
    }
    found.sort_by(by_time);
    if let Some(last) = last {
        found.drain(..found.len().saturating_sub(last));
    }
    Ok(found)
}

/// The records that are new since the last call, for `audit --follow`.
pub fn find_new(
    store: &dyn AuditStore,
    filter: &Filter,
    seen: &mut HashSet<(String, u64)>,
    from: i64,
) -> Result<Vec<FoundRecord>> {
    /// Records of several processes arrive a little out of order.
    const OVERLAP: Duration = Duration::from_secs(60);
    let mut filter = filter.clone();
    let overlap = OVERLAP.as_millis() as i64;
    filter.since = Some(filter.since.unwrap_or(i64::MIN).max(from - overlap));
    let mut found = find(store, &filter, None, UNWATCHED)?;
    let known: HashSet<(String, u64)> = found
        .iter()
        .map(|it| (it.segment.clone(), it.seq))
        .collect();
    found.retain(|it| !seen.contains(&(it.segment.clone(), it.seq)));
    *seen = known;
    Ok(found)
}

fn by_time(a: &FoundRecord, b: &FoundRecord) -> std::cmp::Ordering {
    (a.at, &a.segment, a.seq).cmp(&(b.at, &b.segment, b.seq))
}

pub(super) fn shown(
    segment: &str,
    record: &Record<'_>,
    line: &str,
    stored: Option<&str>,
    personal: bool,
) -> Option<FoundRecord> {
    let mut json: Map<String, Value> = serde_json::from_str(line).ok()?;
    json.shift_remove("prev");
    let digest = json.shift_remove("arguments");
    json.shift_remove("personal");
    let hash = json.shift_remove("hash");
    let stored: StoredArguments = stored
        .and_then(|stored| serde_json::from_str(stored).ok())
        .unwrap_or_default();
    let value = |kept: &Salted| kept.text.parse().unwrap_or(Value::Null);
    if let Some(arguments) = &stored.arguments {
        json.insert("arguments".into(), value(arguments));
    }
    if let (Some(kept), true) = (&stored.personal, personal) {
        json.insert("personal".into(), value(kept));
    }
    if stored.erased {
        json.insert("erased".into(), true.into());
    }
    if let Some(digest) = digest {
        json.insert("arguments_digest".into(), digest);
    }
    // Last, because it means little without the other fields.
    if record.segment.is_none() {
        json.insert("segment".into(), segment.into());
    } else {
        json.insert("recorded_in".into(), segment.into());
    }
    json.extend(hash.map(|hash| ("hash".to_owned(), hash)));
    Some(FoundRecord {
        at: record.at_ms(),
        segment: segment.to_owned(),
        seq: record.seq,
        json: Value::Object(json),
    })
}
