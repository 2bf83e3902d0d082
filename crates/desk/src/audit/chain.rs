//! How each record refers to the one before it.

use std::borrow::Cow;

use kit::{Error, Result};

use super::{
    entry::{AuditEntry, CallEntry, Outcome, ReadCount, RecoveredEntry},
    record::{REFUSED_COUNT, Record, RecordLine, Salted, StoredArguments, time},
    redact::RedactedArguments,
};

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
            caller: record.caller.map(Cow::into_owned),
            record: line,
            arguments: None,
        };
        self.next += 1;
        self.prev = hash;
        Ok(line)
    }

    pub fn add_entry(&mut self, entry: &AuditEntry) -> Result<RecordLine> {
        match entry {
            AuditEntry::Call(call) => self.add_call(call),
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

    fn add_call(&mut self, call: &CallEntry) -> Result<RecordLine> {
        let code = match &call.outcome {
            Outcome::Refused(code) => Some(Cow::Borrowed(code.as_str())),
            _ => None,
        };
        let record = Record {
            kind: "call".into(),
            call: Some(Cow::Borrowed(&call.call)),
            caller: Some(Cow::Borrowed(&call.caller)),
            caller_name: Some(Cow::Borrowed(&call.caller_name)),
            counter: Some(call.counter.into()),
            tool: Some(call.tool.into()),
            outcome: Some(call.outcome.word().into()),
            code,
            ms: Some(rounded(call.ms)),
            waited_ms: (call.waited_ms >= SHORTEST_WAIT_MS).then(|| rounded(call.waited_ms)),
            approval: call.approval.as_deref().map(Cow::Borrowed),
            ..Record::default()
        };
        self.add_with_arguments(record, call.at, &call.arguments)
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
        let record = Record {
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
        let kept = RedactedArguments {
            arguments: format!("{{\"digest\":\"{}\"}}", call.digest),
            personal: String::new(),
        };
        self.add_with_arguments(record, call.at, &kept)
    }

    fn add_with_arguments(
        &mut self,
        mut record: Record<'_>,
        at: i64,
        kept: &RedactedArguments,
    ) -> Result<RecordLine> {
        let stored = StoredArguments {
            seq: self.next,
            erased: false,
            arguments: Salted::new(&kept.arguments),
            personal: Salted::new(&kept.personal),
        };
        let commitment = |of: &Option<Salted>| of.as_ref().map(|it| it.commitment().into());
        record.arguments = commitment(&stored.arguments);
        record.personal = commitment(&stored.personal);
        let mut line = self.add(record, at)?;
        if stored.arguments.is_some() || stored.personal.is_some() {
            line.arguments = Some(serde_json::to_string(&stored).map_err(Error::internal)?);
        }
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
    use crate::audit::record::{NOTHING, parse};

    fn call() -> AuditEntry {
        AuditEntry::Call(Box::new(CallEntry {
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
        }))
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
