//! Segments as rows of `desk_audit`, for desks that share a PostgreSQL.
//!
//! A segment belongs to the process that holds its lease. Every batch renews the
//! lease in the same transaction. A process that finds its lease gone was considered
//! dead by another; it begins a new segment.

mod kept_heads;
mod newest_first;
mod rows;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

pub use kept_heads::MIGRATIONS;
use kept_heads::number;
use kit::{Blocking, Error, Result, Sql, Store, lease, sql::Budget, time::Clock};
use newest_first::Rows;
use rows::{LEASE_MS, PREFIX, add_checkpoints, last_of, now, renew};
pub(super) use rows::{insert, lease_of};
use tokio::runtime::Handle;

use super::{
    position::{NewestFirst, Position},
    ranges::RecordRanges,
    record::{Head, Record, RecordLine, parse},
    store::{
        Appended, AuditStore, CHECKPOINTS, SegmentClaim, SegmentWriter, StoredSegment, THREADS,
    },
};
use crate::state::DeskState;

const RENEW: Duration = Duration::from_secs(4);
/// How long recovering a segment may take.
const CLAIM_MS: i64 = 120_000;

/// About what a record takes, where no checkpoint says it.
const RECORD_BYTES: u64 = 600;

pub struct Table {
    state: Arc<DeskState>,
    runtime: Handle,
    holder: String,
    threads: Blocking,
}

impl Table {
    pub fn new(state: &Arc<DeskState>, runtime: Handle) -> Self {
        Self {
            state: Arc::clone(state),
            runtime,
            holder: kit::ids::random("", 16),
            threads: Blocking::new(THREADS),
        }
    }

    fn query<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let work = async { self.store().await?.query(Budget::default(), job).await };
        self.runtime.block_on(work)
    }

    fn transaction<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let work = async {
            self.store()
                .await?
                .transaction(Budget::default(), job)
                .await
        };
        self.runtime.block_on(work)
    }

    async fn store(&self) -> Result<&Arc<dyn Store>> {
        Ok(&self.state.get().await?.store)
    }

    /// The clock by which leases expire.
    fn clock(&self) -> Result<Clock> {
        Ok(self.runtime.block_on(self.store())?.clock())
    }

    fn row(&self, segment: &str, seq: u64) -> Result<Option<newest_first::Row>> {
        let (segment, seq) = (segment.to_owned(), number(seq));
        self.query(move |sql| newest_first::row(sql, &segment, seq))
    }

    fn lines(&self, segment: &str) -> Result<Vec<(String, Option<String>)>> {
        let segment = segment.to_owned();
        self.query(move |sql| {
            sql.query(
                "SELECT record, beside FROM desk_audit WHERE segment = $1 ORDER BY seq",
                &[(&segment).into()],
            )?
            .iter()
            .map(|row| Ok((row.text(0)?, row.opt_text(1)?)))
            .collect()
        })
    }
}

impl AuditStore for Table {
    fn segments(&self) -> Result<Vec<String>> {
        self.query(|sql| {
            sql.query(
                "SELECT DISTINCT segment FROM desk_audit WHERE segment <> $1 ORDER BY segment",
                &[CHECKPOINTS.into()],
            )?
            .iter()
            .map(|row| row.text(0))
            .collect()
        })
    }

    /// A segment has a lease, perhaps an expired one, until it is sealed.
    fn unsealed(&self) -> Result<Vec<String>> {
        self.query(|sql| {
            let rows = sql.query(
                "SELECT name FROM leases WHERE name LIKE $1 ORDER BY name",
                &[format!("{PREFIX}%").as_str().into()],
            )?;
            rows.iter()
                .map(|row| {
                    let name = row.text(0)?;
                    Ok(name.strip_prefix(PREFIX).unwrap_or_default().to_owned())
                })
                .collect()
        })
    }

    fn touched(&self, since: i64) -> Result<Vec<(String, i64)>> {
        self.query(move |sql| {
            sql.query(
                "SELECT segment, MAX(at_ms) FROM desk_audit
                 WHERE at_ms >= $1 AND segment <> $2 GROUP BY segment ORDER BY 2 DESC",
                &[since.into(), CHECKPOINTS.into()],
            )?
            .iter()
            .map(|row| Ok((row.text(0)?, row.int(1)?)))
            .collect()
        })
    }

    fn read(&self, segment: &str) -> Result<Option<StoredSegment>> {
        let lines = self.lines(segment)?;
        Ok((!lines.is_empty()).then_some(StoredSegment {
            lines,
            torn: 0,
            keeps_arguments: true,
        }))
    }

    fn newest_first(&self, before: Option<Position>) -> Result<NewestFirst<'_>> {
        let read = |before: Position| self.query(move |sql| newest_first::read(sql, &before));
        Ok(Box::new(Rows::new(before, Box::new(read))))
    }

    fn line(&self, segment: &str, seq: u64) -> Result<Option<String>> {
        Ok(self.row(segment, seq)?.map(|row| row.0))
    }

    fn arguments(&self, segment: &str, seq: u64) -> Result<Option<String>> {
        Ok(self.row(segment, seq)?.and_then(|row| row.1))
    }

    fn first(&self, segment: &str) -> Result<Option<String>> {
        let segment = segment.to_owned();
        self.query(move |sql| {
            let row = sql.query_one(
                "SELECT record FROM desk_audit WHERE segment = $1 ORDER BY seq LIMIT 1",
                &[(&segment).into()],
            )?;
            row.map(|row| row.text(0)).transpose()
        })
    }

    fn head(&self, segment: &str) -> Result<Option<Head>> {
        let segment = segment.to_owned();
        self.query(move |sql| {
            // `verify` reports a damaged one.
            let last = last_of(sql, &segment).ok().flatten();
            Ok(last.map(|last| Head {
                segment: segment.clone(),
                seq: last.seq,
                hash: last.hash,
            }))
        })
    }

    fn kept_heads(&self) -> Result<Vec<Head>> {
        self.query(kept_heads::all)
    }

    fn durable_head(&self, segment: &str) -> Result<Option<Head>> {
        self.head(segment)
    }

    fn is_live(&self, segment: &str) -> Result<bool> {
        let (lease, clock) = (lease_of(segment), self.clock()?);
        self.query(move |sql| {
            let row = sql.query_one(
                "SELECT expires_at FROM leases WHERE name = $1",
                &[(&lease).into()],
            )?;
            let expires = row.map(|row| row.int(0)).transpose()?;
            Ok(expires.is_some_and(|at| at > now(&clock)))
        })
    }

    fn claim(&self, segment: &str) -> Result<Option<SegmentClaim>> {
        let (lease, holder) = (lease_of(segment), self.holder.clone());
        let clock = self.clock()?;
        let claimed = self.transaction(move |sql| {
            let now = now(&clock);
            // Not `lease::hold`: a lease that no longer exists belonged to a segment
            // that is sealed now.
            sql.execute(
                "UPDATE leases SET holder = $1, expires_at = $2
                 WHERE name = $3 AND expires_at <= $4",
                &[
                    (&holder).into(),
                    (now + CLAIM_MS).into(),
                    (&lease).into(),
                    now.into(),
                ],
            )
        })?;
        Ok((claimed == 1).then(|| Box::new(()) as SegmentClaim))
    }

    fn recorded(&self, calls: &HashSet<String>, _: i64) -> Result<HashSet<String>> {
        let calls: Vec<String> = calls.iter().cloned().collect();
        self.query(move |sql| {
            let mut found = HashSet::new();
            for call in calls {
                let row = sql.query_one(
                    "SELECT seq FROM desk_audit WHERE call_id = $1",
                    &[(&call).into()],
                )?;
                if row.is_some() {
                    found.insert(call);
                }
            }
            Ok(found)
        })
    }

    fn begin(&self, segment: &str, first: &RecordLine) -> Result<Box<dyn SegmentWriter>> {
        let (name, holder, line) = (segment.to_owned(), self.holder.clone(), first.clone());
        let clock = self.clock()?;
        self.transaction(move |sql| {
            lease::hold(sql, &lease_of(&name), &holder, now(&clock), LEASE_MS)?;
            kept_heads::set(sql, &name, &line)?;
            insert(sql, &name, std::slice::from_ref(&line))
        })?;
        Ok(Box::new(TableSegmentWriter {
            table: Self {
                state: Arc::clone(&self.state),
                runtime: self.runtime.clone(),
                holder: self.holder.clone(),
                threads: self.threads.clone(),
            },
            segment: segment.to_owned(),
        }))
    }

    fn checkpoints(&self) -> Result<Vec<String>> {
        let lines = self.lines(CHECKPOINTS)?;
        Ok(lines.into_iter().map(|(record, _)| record).collect())
    }

    fn checkpoint(&self, records: Vec<(Record<'static>, i64)>, sealed: Option<&str>) -> Result<()> {
        let sealed = sealed.map(str::to_owned);
        let holder = self.holder.clone();
        self.transaction(move |sql| {
            if let Some(sealed) = &sealed {
                let released = sql.execute(
                    "DELETE FROM leases WHERE name = $1 AND holder = $2",
                    &[(&lease_of(sealed)).into(), (&holder).into()],
                )?;
                if released == 0 {
                    return Err(Error::internal("recovering a segment took too long"));
                }
                // The checkpoint names the head now.
                kept_heads::remove(sql, sealed)?;
            }
            add_checkpoints(sql, &records)
        })
    }

    fn quarantine_torn_line(&self, _: &str) -> Result<u64> {
        Ok(0)
    }

    fn erase(&self, segment: &str, records: &RecordRanges) -> Result<u64> {
        let (segment, records) = (segment.to_owned(), records.clone());
        self.transaction(move |sql| {
            let mut erased = 0;
            for (first, last) in records.iter() {
                // The text of `StoredArguments::erased`.
                erased += sql.execute(
                    "UPDATE desk_audit
                     SET beside = '{\"seq\":' || CAST(seq AS TEXT) || ',\"erased\":true}'
                     WHERE segment = $1 AND seq BETWEEN $2 AND $3 AND beside IS NOT NULL
                       AND beside <> '{\"seq\":' || CAST(seq AS TEXT) || ',\"erased\":true}'",
                    &[(&segment).into(), number(first).into(), number(last).into()],
                )?;
            }
            Ok(erased)
        })
    }

    fn remove(&self, segment: &str) -> Result<()> {
        let segment = segment.to_owned();
        self.transaction(move |sql| {
            kept_heads::remove(sql, &segment)?;
            sql.execute(
                "DELETE FROM desk_audit WHERE segment = $1",
                &[(&segment).into()],
            )
        })?;
        Ok(())
    }

    /// Includes the space of rows that were deleted, until the table is vacuumed.
    fn bytes(&self) -> Result<u64> {
        self.query(|sql| {
            let text = "SELECT CAST(pg_total_relation_size('desk_audit') AS BIGINT)";
            let row = sql.query_one(text, &[])?;
            let bytes = row.map(|row| row.int(0)).transpose()?;
            Ok(u64::try_from(bytes.unwrap_or_default()).unwrap_or_default())
        })
    }

    /// As the checkpoints say: counting would read the whole table.
    fn sizes(&self) -> Result<HashMap<String, u64>> {
        let mut sizes = HashMap::new();
        for line in self.checkpoints()? {
            let Ok(record) = parse(&line) else { continue };
            let Some(segment) = record.segment.as_deref() else {
                continue;
            };
            match &*record.kind {
                "sealed" => {
                    let estimate = record.count.unwrap_or_default() * RECORD_BYTES;
                    let bytes = record.bytes.unwrap_or(estimate);
                    sizes.insert(segment.to_owned(), bytes);
                }
                "dropped" => drop(sizes.remove(segment)),
                _ => {}
            }
        }
        for head in self.kept_heads()? {
            sizes.insert(head.segment, head.seq * RECORD_BYTES);
        }
        Ok(sizes)
    }

    fn threads(&self) -> &Blocking {
        &self.threads
    }

    fn heartbeat(&self) -> Option<Duration> {
        Some(RENEW)
    }
}

struct TableSegmentWriter {
    table: Table,
    segment: String,
}

impl SegmentWriter for TableSegmentWriter {
    fn append(&mut self, lines: &[RecordLine], _: bool) -> Result<Appended> {
        let (segment, holder) = (self.segment.clone(), self.table.holder.clone());
        let (lines, clock) = (lines.to_vec(), self.table.clock()?);
        self.table.transaction(move |sql| {
            let is_held = match lines.last() {
                None => renew(sql, &segment, &holder, &clock)?,
                Some(last) => {
                    let (lease, expires_at) = (lease_of(&segment), now(&clock) + LEASE_MS);
                    let lease = (lease.as_str(), holder.as_str(), expires_at);
                    kept_heads::renew_and_set(sql, &segment, last, lease)?
                }
            };
            if !is_held {
                return Ok(Appended::Lost);
            }
            insert(sql, &segment, &lines)?;
            Ok(Appended::Written)
        })
    }

    fn end(&mut self, last: &RecordLine, seal: Record<'static>) -> Result<()> {
        let (segment, holder) = (self.segment.clone(), self.table.holder.clone());
        let (last, seal) = (last.clone(), vec![(seal, last.at)]);
        let clock = self.table.clock()?;
        self.table.transaction(move |sql| {
            // Without the lease, another process has already sealed it.
            if renew(sql, &segment, &holder, &clock)? {
                insert(sql, &segment, std::slice::from_ref(&last))?;
                lease::release(sql, &lease_of(&segment), &holder)?;
                kept_heads::remove(sql, &segment)?;
                add_checkpoints(sql, &seal)?;
            }
            Ok(())
        })
    }
}
