//! The one thread that writes this process's segments.
//!
//! The first record begins a segment, so that a process nobody calls leaves no
//! trace; so does the first call that is going to change something, before it
//! does: a change that is committed always belongs to a segment that is there,
//! and whoever finds that segment dead knows whose rows to look for.
//!
//! When writing fails, the batch is kept as it was made and tried again; those
//! who wait are told, and their answers leave: their work is committed, and an
//! answer held back would only make callers do it twice.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Result, time::Clock};

use super::{
    chain::Chain,
    entry::Entry,
    queue::{Queue, Waiting},
    record::{Head, Line, NOTHING, Record, segment_name},
    store::{Appended, CHECKPOINTS, Pen, Shelf},
};

/// Records written at once.
const BATCH: usize = 1000;
const TRY_AGAIN: Duration = Duration::from_secs(1);
/// Calls that were under way when we were taken for dead end within this.
const IN_DOUBT: Duration = Duration::from_secs(5 * 60);

/// What a segment says about its process.
#[derive(Debug, Clone)]
pub struct About {
    /// As `desk_writes` names it.
    pub process: String,
    /// The counters with rows that could complete its records; those that share
    /// a store stand together.
    pub counters: Vec<Vec<&'static str>>,
    /// A segment that is longer is followed by another.
    pub segment_bytes: u64,
}

pub struct Writer {
    shelf: Arc<dyn Shelf>,
    queue: Arc<Queue>,
    clock: Clock,
    about: About,
    open: Option<Open>,
    /// The segment before, and its last hash.
    before: Option<(String, String)>,
    entries: Vec<Entry>,
    /// The first of them as lines, when writing them failed: made once, since a
    /// lost answer does not say that they were not written.
    made: Option<(Vec<Line>, Chain)>,
    /// When this process was taken for dead, by its own clock.
    lost: Option<Instant>,
}

struct Open {
    pen: Box<dyn Pen>,
    name: String,
    chain: Chain,
    bytes: u64,
    /// Days since 1970.
    day: i64,
    first: i64,
}

impl Writer {
    pub fn new(shelf: Arc<dyn Shelf>, queue: Arc<Queue>, clock: Clock, about: About) -> Self {
        Self {
            shelf,
            queue,
            clock,
            about,
            open: None,
            before: None,
            entries: Vec::new(),
            made: None,
            lost: None,
        }
    }

    pub fn run(mut self) {
        loop {
            let idle = match (&self.open, self.entries.is_empty()) {
                (_, false) => Some(TRY_AGAIN),
                (Some(_), true) => self.shelf.heartbeat(),
                (None, true) => None,
            };
            let mut taken = self.queue.take(idle);
            self.entries.append(&mut taken.entries);
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
            let durable = !taken.told.is_empty();
            for told in taken.told {
                let _ = told.send(written.is_ok());
            }
            if let (Some(open), true) = (&mut self.open, durable && written.is_ok()) {
                open.pen.settle();
            }
            if taken.close {
                if !self.entries.is_empty() {
                    let records = self.entries.len();
                    tracing::error!(records, "records could not be written before the end");
                }
                return;
            }
        }
    }

    fn work(&mut self, taken: &Waiting) -> Result<()> {
        let durable = !taken.told.is_empty();
        let nothing_to_do = self.entries.is_empty();
        while !self.entries.is_empty() {
            self.write(durable)?;
        }
        if taken.begin {
            self.opened()?;
        }
        // While calls are under way it is not ended, not even by the end of the
        // program: what they still change is then completed by the next one.
        let ends = taken.close || (taken.tidy && self.is_due());
        if ends && self.queue.is_idle() {
            self.end("stopped")?;
        } else if let Some(open) = &mut self.open
            && nothing_to_do
            && open.pen.append(&[], false)? == Appended::Lost
        {
            self.was_lost();
        }
        Ok(())
    }

    /// This process slept, or could not reach the database, for so long that
    /// another took it for dead.
    fn was_lost(&mut self) {
        if let Some(open) = self.open.take() {
            tracing::warn!(
                segment = open.name,
                "the audit segment was closed by another"
            );
        }
        self.lost = Some(Instant::now());
    }

    /// What the other found in the rows, it has recorded for us.
    fn leave_out_recovered(&mut self) -> Result<()> {
        if self.lost.is_none_or(|at| at.elapsed() > IN_DOUBT) {
            return Ok(());
        }
        let calls = self.entries.iter().filter_map(Entry::call);
        let calls: HashSet<String> = calls.map(str::to_owned).collect();
        let recorded = self.shelf.recorded(&calls, i64::MIN)?;
        let before = self.entries.len();
        self.entries
            .retain(|entry| !entry.call().is_some_and(|call| recorded.contains(call)));
        self.queue.give_back(before - self.entries.len());
        Ok(())
    }

    /// One batch.
    fn write(&mut self, durable: bool) -> Result<()> {
        if self.made.is_none() {
            if self.is_due() {
                self.end("full")?;
            }
            self.leave_out_recovered()?;
        }
        let mut made = self.made.take();
        let open = self.opened()?;
        let (lines, chain) = match made.take() {
            Some(made) => made,
            None => {
                let mut chain = open.chain.clone();
                let some = self.entries.iter().take(BATCH);
                let lines = some.map(|entry| chain.add_entry(entry));
                (lines.collect::<Result<Vec<_>>>()?, chain)
            }
        };
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        match open.pen.append(&lines, durable) {
            Ok(Appended::Written) => {
                open.chain = chain;
                open.bytes += lines
                    .iter()
                    .map(|line| line.record.len() as u64)
                    .sum::<u64>();
                let written = lines.len().min(self.entries.len());
                self.entries.drain(..written);
                self.queue.give_back(written);
                Ok(())
            }
            Ok(Appended::Lost) => {
                self.was_lost();
                Ok(())
            }
            Err(error) => {
                self.made = Some((lines, chain));
                Err(error)
            }
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    fn is_due(&self) -> bool {
        let today = day(self.now());
        let limit = self.about.segment_bytes;
        let open = self.open.as_ref();
        open.is_some_and(|open| open.bytes >= limit || open.day != today)
    }

    /// The segment, begun when there is none.
    fn opened(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            let now = self.now();
            let name = segment_name(now);
            let prev = self.before.as_ref().map_or(NOTHING, |(_, hash)| hash);
            let mut chain = Chain::after(prev);
            let line = chain.add(self.start()?, now)?;
            let pen = self.shelf.begin(&name, &line)?;
            self.open = Some(Open {
                pen,
                name,
                chain,
                bytes: line.record.len() as u64,
                day: day(now),
                first: now,
            });
        }
        self.open
            .as_mut()
            .ok_or_else(|| kit::Error::internal("a segment was begun and is not there"))
    }

    /// What the first record says: who writes, and what was there before, so
    /// that what is taken away later is missed.
    fn start(&self) -> Result<Record<'static>> {
        let mut seen = Vec::new();
        for name in self.shelf.unsealed()? {
            let is_before = self
                .before
                .as_ref()
                .is_some_and(|(before, _)| *before == name);
            if !is_before && let Some(head) = self.shelf.head(&name)? {
                seen.push(head);
            }
        }
        let counters = self.about.counters.iter();
        let counters = counters.map(|some| some.iter().map(|it| (*it).into()).collect());
        Ok(Record {
            kind: "start".into(),
            process: Some(self.about.process.clone().into()),
            program: Some(env!("CARGO_PKG_VERSION").into()),
            counters: Some(counters.collect()),
            continues: self.before.as_ref().map(|(name, _)| name.clone().into()),
            seen: (!seen.is_empty()).then_some(seen),
            checkpoint: self.shelf.head(CHECKPOINTS)?,
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
        open.pen
            .end(&line, Record::sealed(&head, open.first, now, why))?;
        self.before = Some((head.segment, head.hash));
        self.open = None;
        Ok(())
    }
}

fn day(at: i64) -> i64 {
    at.div_euclid(24 * 60 * 60 * 1000)
}
