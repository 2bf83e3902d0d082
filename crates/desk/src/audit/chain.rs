//! How each record refers to the one before it.

use std::{borrow::Cow, sync::Arc};

use kit::Result;

use super::{
    entry::{AuditEntry, CallEntry, Outcome, ReadCount, RecoveredEntry},
    record::{ArgumentsWriter, CallLine, REFUSED_COUNT, Record, RecordLine, time},
};
use crate::digest::hex;

/// A person takes longer to decide. What takes less is the desk's own work.
const SHORTEST_WAIT_MS: f64 = 1.0;

/// The end of a chain. Records are added here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The number of the next record. The first is 1.
    pub next: u64,
    pub prev: String,
}

impl Chain {
    pub fn after(prev: &str) -> Self {
        Self {
            next: 1,
            prev: prev.to_owned(),
        }
    }

    /// Adds a record. Sets its `seq`, `prev` and `at`.
    pub fn add(&mut self, mut record: Record<'_>, at: i64) -> Result<RecordLine> {
        record.seq = self.next;
        record.prev = Cow::Owned(self.prev.clone());
        record.at = Cow::Owned(time(at));
        let (line, hash) = record.seal()?;
        let line = RecordLine {
            seq: self.next,
            at,
            call: record.call.map(Cow::into_owned),
            caller: record.caller.map(Arc::from),
            record: line,
            arguments: None,
        };
        self.next += 1;
        self.prev = hash;
        Ok(line)
    }

    pub fn add_entry(&mut self, entry: &AuditEntry) -> Result<RecordLine> {
        match entry {
            AuditEntry::Call(call) => Ok(self.add_call(call)),
            AuditEntry::Recovered(call) => self.add_recovered(call),
            AuditEntry::Reads(reads) => self.add_reads(reads),
            AuditEntry::Refused(refused) => {
                let record = Record {
                    kind: REFUSED_COUNT.into(),
                    caller: Some(Cow::Borrowed(&refused.caller)),
                    caller_name: refused.caller_name.as_deref().map(Cow::Borrowed),
                    counter: Some(refused.counter.into()),
                    code: Some(refused.code.into()),
                    count: Some(refused.count),
                    ..Record::default()
                };
                self.add(record, refused.at)
            }
            AuditEntry::Lost { at, count } => {
                let record = Record {
                    kind: "lost".into(),
                    count: Some(*count),
                    ..Record::default()
                };
                self.add(record, *at)
            }
        }
    }

    fn add_call(&mut self, call: &CallEntry) -> RecordLine {
        let code = match &call.outcome {
            Outcome::Refused(code) => Some(code.as_str()),
            _ => None,
        };
        let mut stored = ArgumentsWriter::new(self.next);
        let arguments = stored.add("arguments", &call.arguments.arguments);
        let personal = stored.add("personal", &call.arguments.personal);
        // In the order of the fields of `Record`.
        let mut line = CallLine::new(self.next, &self.prev, call.at);
        line.text("call", &call.call);
        line.text("caller", &call.caller);
        line.text("caller_name", &call.caller_name);
        line.text("counter", call.counter);
        line.text("tool", call.tool);
        line.text("outcome", call.outcome.word());
        line.opt_text("code", code);
        line.milliseconds("ms", call.ms);
        if call.waited_ms >= SHORTEST_WAIT_MS {
            line.milliseconds("waited_ms", call.waited_ms);
        }
        line.opt_text("approval", call.approval.as_deref());
        line.opt_digest("arguments", arguments);
        line.opt_digest("personal", personal);
        let (record, hash) = line.seal();
        let seq = self.next;
        self.next += 1;
        self.prev = hash;
        RecordLine {
            seq,
            at: call.at,
            call: Some(call.call.clone()),
            caller: Some(Arc::clone(&call.caller)),
            record,
            arguments: stored.finish(),
        }
    }

    fn add_reads(&mut self, reads: &ReadCount) -> Result<RecordLine> {
        let record = Record {
            kind: "read_count".into(),
            caller: Some(Cow::Borrowed(&reads.caller)),
            caller_name: Some(Cow::Borrowed(&reads.caller_name)),
            counter: Some(reads.counter.into()),
            tool: Some(reads.tool.into()),
            outcome: Some(Outcome::Done.word().into()),
            ms: Some(rounded(reads.ms / reads.count.max(1) as f64)),
            count: Some(reads.count),
            first: Some(time(reads.first).into()),
            last: Some(time(reads.last).into()),
            ..Record::default()
        };
        self.add(record, reads.last)
    }

    fn add_recovered(&mut self, call: &RecoveredEntry) -> Result<RecordLine> {
        let mut record = Record {
            kind: "call".into(),
            call: Some(Cow::Borrowed(&call.call)),
            caller: Some(Cow::Borrowed(&call.caller)),
            counter: Some(Cow::Borrowed(&call.counter)),
            tool: Some(Cow::Borrowed(&call.tool)),
            outcome: Some("done".into()),
            recovered: true,
            segment: Some(Cow::Borrowed(&call.segment)),
            approval: call.approval.as_deref().map(Cow::Borrowed),
            ..Record::default()
        };
        // Stored like arguments, with a salt: from a bare digest in the chain, short
        // arguments could be guessed for ever.
        let digest = format!("{{\"digest\":\"{}\"}}", call.digest);
        let mut stored = ArgumentsWriter::new(self.next);
        let commitment = stored.add("arguments", &digest);
        record.arguments = commitment.map(|it| hex(&it).into());
        let mut line = self.add(record, call.at)?;
        line.arguments = stored.finish();
        Ok(line)
    }
}

/// To the microsecond.
fn rounded(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{
        record::{NOTHING, StoredArguments, parse},
        redact::RedactedArguments,
    };

    fn call() -> AuditEntry {
        AuditEntry::Call(call_entry())
    }

    fn call_entry() -> Box<CallEntry> {
        Box::new(CallEntry {
            at: 1_800_000_000_123,
            call: "00".into(),
            caller: "local".into(),
            caller_name: "local user".into(),
            counter: "cinema",
            tool: "reserve_seats",
            outcome: Outcome::Refused("SEATS_TAKEN".into()),
            ms: 1.23456,
            waited_ms: 0.0,
            approval: None,
            arguments: RedactedArguments {
                arguments: "{\"a\":1}".into(),
                personal: String::new(),
            },
        })
    }

    #[test]
    fn a_record_reads_back_and_any_changed_byte_is_detected() {
        let mut chain = Chain::after(NOTHING);
        let line = chain.add_entry(&call()).unwrap();
        let record = parse(&line.record).unwrap();
        assert_eq!((record.seq, record.at_ms()), (1, 1_800_000_000_123));
        assert_eq!(record.code.as_deref(), Some("SEATS_TAKEN"));
        assert_eq!(record.hash, chain.prev);
        for at in 0..line.record.len() {
            let mut changed = line.record.clone().into_bytes();
            changed[at] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            assert!(parse(&changed).is_err(), "{changed}");
        }
    }

    /// Programs and people read these lines. They stay as they always were.
    #[test]
    fn the_line_of_a_call_has_the_fields_of_a_record_in_their_order() {
        let mut chain = Chain::after(NOTHING);
        let all = CallEntry {
            caller_name: "Aiko's \"phone\"".into(),
            outcome: Outcome::Done,
            waited_ms: 1.2,
            approval: Some("apr_1".into()),
            arguments: RedactedArguments {
                arguments: "{\"a\":\"窓\"}".into(),
                personal: "{\"b\":2}".into(),
            },
            ..*call_entry()
        };
        for entry in [*call_entry(), all] {
            let before = chain.prev.clone();
            let line = chain.add_call(&entry);
            let record = parse(&line.record).unwrap();
            assert_eq!((&*record.prev, record.ms), (&*before, Some(1.235)));
            assert_eq!(record.seal().unwrap().0, line.record);
            assert_eq!(record.seal().unwrap().1, line.hash());
            let stored = line.arguments.unwrap();
            let read: StoredArguments = serde_json::from_str(&stored).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), stored);
            assert_eq!(read.seq, line.seq);
            let commitment = read.personal.map(|it| it.commitment());
            assert_eq!(commitment.as_deref(), record.personal.as_deref());
        }
        let mut none = *call_entry();
        none.arguments = RedactedArguments::default();
        let line = chain.add_call(&none);
        assert_eq!(line.arguments, None);
        assert_eq!(parse(&line.record).unwrap().arguments, None);
    }

    #[test]
    fn a_count_of_reads_has_their_average_to_the_microsecond() {
        let mut chain = Chain::after(NOTHING);
        let reads = ReadCount {
            caller: "local".into(),
            caller_name: "local user".into(),
            counter: "cinema",
            tool: "get_movie_list",
            count: 3,
            first: 1_800_000_000_000,
            last: 1_800_000_059_000,
            ms: 10.0,
        };
        let line = chain.add_reads(&reads).unwrap();
        let record = parse(&line.record).unwrap();
        assert_eq!((record.count, record.ms), (Some(3), Some(3.333)));
        let who = (record.caller.as_deref(), record.caller_name.as_deref());
        assert_eq!(who, (Some("local"), Some("local user")));
        let what = (record.counter.as_deref(), record.tool.as_deref());
        assert_eq!(what, (Some("cinema"), Some("get_movie_list")));
        assert_eq!(record.at_ms(), reads.last);
    }

    #[test]
    fn equal_arguments_have_different_commitments() {
        let mut chain = Chain::after(NOTHING);
        let [one, two] = [(); 2].map(|()| chain.add_entry(&call()).unwrap());
        let commitment = |line: &RecordLine| parse(&line.record).unwrap().arguments.unwrap();
        assert_ne!(commitment(&one), commitment(&two));
        let stored: StoredArguments =
            serde_json::from_str(one.arguments.as_deref().unwrap()).unwrap();
        assert_eq!(stored.arguments.unwrap().commitment(), commitment(&one));
        assert!(!one.record.contains("\"a\""), "{}", one.record);
    }
}
