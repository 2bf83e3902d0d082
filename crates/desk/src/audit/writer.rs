//! The one thread that writes this process's segments.
//!
//! A segment begins with the first record, or before the first call that may
//! change something. So a process that nobody calls leaves no segment, and every
//! committed change belongs to a process with a segment: whoever finds that segment
//! dead knows whose rows to look for.
//!
//! When writing fails, the batch is kept and retried unchanged. Calls that wait are
//! told and answered nevertheless: their work is committed, and callers without an
//! answer would only do it twice.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Result, time::Clock};

use super::{
    chain::Chain,
    entry::AuditEntry,
    queue::{Batch, Queue},
    record::{Head, NOTHING, Record, RecordLine, segment_name},
    store::{Appended, AuditStore, CHECKPOINTS, SegmentWriter},
};

/// How many records are written at once.
const BATCH: usize = 1000;
const RETRY_EVERY: Duration = Duration::from_secs(1);
/// Records of changes are on disk after this time.
const SYNC_CHANGES_AFTER: Duration = Duration::from_millis(100);
/// Calls that were in flight when this process was considered dead end within
/// this time.
const DOUBT_PERIOD: Duration = Duration::from_secs(5 * 60);

/// What the first record of a segment says about its process.
#[derive(Debug, Clone)]
pub struct ProcessInfo {
    /// Its name in `desk_writes`.
    pub process: String,
    /// The counters from whose rows records can be recovered, grouped by store.
    pub counters: Vec<Vec<&'static str>>,
    /// A segment that is longer than this ends.
    pub segment_bytes: u64,
    /// Records that nobody waits for are on disk after this time, and the kept head
    /// then names them.
    pub sync_after: Duration,
}

pub struct Writer {
    store: Arc<dyn AuditStore>,
    queue: Arc<Queue>,
    clock: Clock,
    process_info: ProcessInfo,
    open: Option<OpenSegment>,
    /// The previous segment of this process, and its last hash.
    before: Option<(String, String)>,
    entries: Vec<AuditEntry>,
    /// The lines of the first entries, when writing them failed. They are not made
    /// again: perhaps they were written and only the answer was lost.
    prepared: Option<(Vec<RecordLine>, Chain)>,
    /// When this process learned that another had considered it dead.
    taken_over_at: Option<Instant>,
    /// Records of changes are written that may not be on disk.
    has_unsynced_changes: bool,
    has_unsynced_arguments: bool,
}

struct OpenSegment {
    writer: Box<dyn SegmentWriter>,
    name: String,
    chain: Chain,
    bytes: u64,
    /// Of records and arguments.
    stored: u64,
    /// Days since 1970.
    day: i64,
    first: i64,
}

impl OpenSegment {
    /// When written records must be on disk; `None`: all are.
    fn time_to_sync(&self, after: Duration) -> Option<Duration> {
        let since = self.writer.unsynced_since()?;
        Some(after.saturating_sub(since.elapsed()))
    }

    fn must_sync(&self, after: Duration) -> bool {
        let since = self.writer.unsynced_since();
        since.is_some_and(|since| since.elapsed() >= after)
    }
}

impl Writer {
    pub fn new(
        store: Arc<dyn AuditStore>,
        queue: Arc<Queue>,
        clock: Clock,
        process_info: ProcessInfo,
    ) -> Self {
        Self {
            store,
            queue,
            clock,
            process_info,
            open: None,
            before: None,
            entries: Vec::new(),
            prepared: None,
            taken_over_at: None,
            has_unsynced_changes: false,
            has_unsynced_arguments: false,
        }
    }

    pub fn run(mut self) {
        loop {
            let idle = match (&self.open, self.entries.is_empty()) {
                (_, false) => Some(RETRY_EVERY),
                (Some(open), true) => open
                    .time_to_sync(self.sync_after())
                    .or(self.store.heartbeat()),
                (None, true) => None,
            };
            // A failure is not repeated at once.
            let idle = match self.queue.is_failing() {
                true => idle.map(|idle| idle.max(RETRY_EVERY)),
                false => idle,
            };
            let mut taken = self.queue.take(idle);
            self.entries.append(&mut taken.entries);
            self.has_unsynced_changes |= taken.changes;
            let written = self.work(&taken);
            if let Err(error) = &written {
                if self.queue.set_failing(true) {
                    tracing::error!(
                        error = %error.text(), cause = ?error.cause, waiting = self.entries.len(),
                        "the audit trail can't be written"
                    );
                }
            } else if self.queue.set_failing(false) {
                tracing::info!("the audit trail can be written again");
            }
            for waiter in taken.waiters {
                let _ = waiter.send(written.is_ok());
            }
            if written.is_ok() {
                self.after_sync();
            }
            if taken.close {
                if !self.entries.is_empty() {
                    let records = self.entries.len();
                    tracing::error!(
                        records,
                        "records could not be written before the program ended"
                    );
                }
                return;
            }
        }
    }

    fn sync_after(&self) -> Duration {
        match self.has_unsynced_changes {
            true => SYNC_CHANGES_AFTER,
            false => self.process_info.sync_after,
        }
    }

    /// The arguments are synced after the records, when nobody waits any more.
    fn after_sync(&mut self) {
        let Some(open) = &mut self.open else {
            return;
        };
        if open.writer.unsynced_since().is_none() {
            self.has_unsynced_changes = false;
            if std::mem::take(&mut self.has_unsynced_arguments) {
                open.writer.sync_arguments();
            }
        }
    }

    fn work(&mut self, taken: &Batch) -> Result<()> {
        let after = self.sync_after();
        let nothing_to_do = self.entries.is_empty();
        while !self.entries.is_empty() {
            self.write(taken.sync)?;
        }
        if taken.begin {
            self.open_segment()?;
        }
        // A segment does not end while calls are in flight, not even when the
        // program does: the next process recovers what they still change.
        let ends = taken.close || (taken.tidy && self.is_due());
        if ends && self.queue.is_idle() {
            self.end("stopped")?;
        } else if let Some(open) = &mut self.open
            && nothing_to_do
            && open.writer.append(&[], open.must_sync(after))? == Appended::Lost
        {
            self.segment_was_taken_over();
        }
        Ok(())
    }

    /// This process slept, or could not reach the database, for so long that
    /// another considered it dead.
    fn segment_was_taken_over(&mut self) {
        if let Some(open) = self.open.take() {
            tracing::warn!(
                segment = open.name,
                "another process closed the audit segment"
            );
        }
        self.taken_over_at = Some(Instant::now());
    }

    /// Drops entries of calls that the other process has already recovered.
    fn skip_recovered(&mut self) -> Result<()> {
        if self
            .taken_over_at
            .is_none_or(|at| at.elapsed() > DOUBT_PERIOD)
        {
            return Ok(());
        }
        let calls = self.entries.iter().filter_map(AuditEntry::call);
        let calls: HashSet<String> = calls.map(str::to_owned).collect();
        let recorded = self.store.recorded(&calls, i64::MIN)?;
        let before = self.entries.len();
        self.entries
            .retain(|entry| !entry.call().is_some_and(|call| recorded.contains(call)));
        self.queue.release(before - self.entries.len());
        Ok(())
    }

    /// One batch.
    fn write(&mut self, durable: bool) -> Result<()> {
        if self.prepared.is_none() {
            if self.is_due() {
                self.end("full")?;
            }
            self.skip_recovered()?;
        }
        let mut made = self.prepared.take();
        let open = self.open_segment()?;
        let (lines, chain) = match made.take() {
            Some(made) => made,
            None => {
                let mut chain = open.chain.clone();
                let some = self.entries.iter().take(BATCH);
                let lines = some.map(|entry| chain.add_entry(entry));
                (lines.collect::<Result<Vec<_>>>()?, chain)
            }
        };
        let after = self.sync_after();
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let durable = durable || open.must_sync(after);
        match open.writer.append(&lines, durable) {
            Ok(Appended::Written) => {
                open.chain = chain;
                open.bytes += lines
                    .iter()
                    .map(|line| line.record.len() as u64)
                    .sum::<u64>();
                open.stored += lines.iter().map(RecordLine::bytes).sum::<u64>();
                self.has_unsynced_arguments |= lines.iter().any(|line| line.arguments.is_some());
                let written = lines.len().min(self.entries.len());
                self.entries.drain(..written);
                self.queue.release(written);
                Ok(())
            }
            Ok(Appended::Lost) => {
                self.segment_was_taken_over();
                Ok(())
            }
            Err(error) => {
                self.prepared = Some((lines, chain));
                Err(error)
            }
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    fn is_due(&self) -> bool {
        let today = day(self.now());
        let limit = self.process_info.segment_bytes;
        let open = self.open.as_ref();
        open.is_some_and(|open| open.bytes >= limit || open.day != today)
    }

    /// The open segment. Begins one if there is none.
    fn open_segment(&mut self) -> Result<&mut OpenSegment> {
        if self.open.is_none() {
            let now = self.now();
            let name = segment_name(now);
            let prev = self.before.as_ref().map_or(NOTHING, |(_, hash)| hash);
            let mut chain = Chain::after(prev);
            let line = chain.add(self.start()?, now)?;
            let writer = self.store.begin(&name, &line)?;
            self.open = Some(OpenSegment {
                writer,
                name,
                chain,
                bytes: line.record.len() as u64,
                stored: line.bytes(),
                day: day(now),
                first: now,
            });
        }
        self.open
            .as_mut()
            .ok_or_else(|| kit::Error::internal("a segment was begun but is not open"))
    }

    /// The first record: who writes, and which records existed before, so that
    /// `verify` notices when they are removed.
    fn start(&self) -> Result<Record<'static>> {
        let mut seen = Vec::new();
        for name in self.store.unsealed()? {
            let is_before = self
                .before
                .as_ref()
                .is_some_and(|(before, _)| *before == name);
            // On disk, or a power loss would leave less than this record says.
            if !is_before && let Some(head) = self.store.durable_head(&name)? {
                seen.push(head);
            }
        }
        let counters = self.process_info.counters.iter();
        let counters = counters.map(|some| some.iter().map(|it| (*it).into()).collect());
        Ok(Record {
            kind: "start".into(),
            process: Some(self.process_info.process.clone().into()),
            program: Some(env!("CARGO_PKG_VERSION").into()),
            counters: Some(counters.collect()),
            continues: self.before.as_ref().map(|(name, _)| name.clone().into()),
            seen: (!seen.is_empty()).then_some(seen),
            checkpoint: self.store.head(CHECKPOINTS)?,
            ..Record::default()
        })
    }

    fn end(&mut self, why: &'static str) -> Result<()> {
        let now = self.now();
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let record = Record {
            kind: "end".into(),
            what: Some(why.into()),
            ..Record::default()
        };
        let mut chain = open.chain.clone();
        let line = chain.add(record, now)?;
        let head = Head {
            segment: open.name.clone(),
            seq: line.seq,
            hash: chain.prev,
        };
        let mut seal = Record::sealed(&head, open.first, now, why);
        seal.bytes = Some(open.stored + line.bytes());
        open.writer.end(&line, seal)?;
        self.before = Some((head.segment, head.hash));
        self.open = None;
        Ok(())
    }
}

fn day(at: i64) -> i64 {
    at.div_euclid(24 * 60 * 60 * 1000)
}
