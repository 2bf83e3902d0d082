//! The one writer of an index.
//!
//! tantivy's writer holds the directory's lock, memory and threads. It is
//! opened for the first change and released after a while without changes, so
//! that another process can write.

use std::{
    collections::HashSet,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tantivy::{
    IndexWriter, Term,
    indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy},
};

use crate::{
    document::{Change, Document},
    error::Error,
    schema::Fields,
    view::{View, payload},
};

/// Fewer segments make searches quicker, more make changes cheaper.
const SEGMENTS_TO_MERGE: usize = 6;
/// The same for many changes at once. Each segment takes six open files.
const SEGMENTS_TO_MERGE_IN_BULK: usize = 40;
/// Segments with fewer documents are merged alike.
const SMALL_SEGMENT: u32 = 2_000;
/// Share of deleted documents that triggers a merge. A changed product leaves
/// its old document behind.
const MOST_LEFT_BEHIND: f32 = 0.3;

pub(crate) struct Writer {
    slot: Arc<Slot>,
    memory: usize,
    idle: Duration,
}

#[derive(Default)]
struct Slot {
    held: Mutex<HeldWriter>,
    changed: Condvar,
}

#[derive(Default)]
enum HeldWriter {
    #[default]
    Nothing,
    Writer {
        writer: Box<IndexWriter>,
        merging: Merging,
        used: Instant,
    },
    /// The writer waits for its merges.
    Closing,
}

impl Writer {
    pub fn new(memory: usize, idle: Duration) -> Writer {
        Writer {
            slot: Arc::default(),
            memory,
            idle,
        }
    }

    /// While `write` has the writer, nobody else commits.
    pub fn apply(
        &self,
        open: impl FnOnce() -> tantivy::Result<tantivy::Index>,
        merging: Merging,
        write: impl FnOnce(&mut IndexWriter) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut held = self.slot.not_closing();
        if let HeldWriter::Nothing = *held {
            let writer = self.open(open()?)?;
            writer.set_merge_policy(Box::new(merge_policy(merging)));
            *held = HeldWriter::Writer {
                writer: Box::new(writer),
                merging,
                used: Instant::now(),
            };
            let slot = Arc::clone(&self.slot);
            let idle = self.idle;
            thread::Builder::new()
                .name("search-writer".into())
                .spawn(move || slot.release_when_idle(idle))?;
        }
        let HeldWriter::Writer {
            writer,
            merging: current,
            used,
        } = &mut *held
        else {
            return Err(Error::Busy);
        };
        if *current != merging {
            writer.set_merge_policy(Box::new(merge_policy(merging)));
            *current = merging;
        }
        let result = write(writer);
        *used = Instant::now();
        if result.is_err() {
            // Uncommitted changes are dropped with the writer.
            *held = HeldWriter::Nothing;
        }
        result
    }

    /// Waits for running merges, then merges everything into one segment.
    pub fn compact(
        &self,
        open: impl FnOnce() -> tantivy::Result<tantivy::Index>,
    ) -> Result<(), Error> {
        let mut held = self.slot.not_closing();
        if let HeldWriter::Writer { writer, .. } = mem::take(&mut *held) {
            writer.wait_merging_threads()?;
        }
        let index = open()?;
        let mut writer = self.open(index.clone())?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.garbage_collect_files().wait()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn open(&self, index: tantivy::Index) -> tantivy::Result<IndexWriter> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(self.memory)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        index.writer_with_options(options)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut held = self.slot.held();
        if let HeldWriter::Writer { .. } = *held {
            *held = HeldWriter::Nothing;
        }
        self.slot.changed.notify_all();
    }
}

impl Slot {
    fn held(&self) -> MutexGuard<'_, HeldWriter> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_closing(&self) -> MutexGuard<'_, HeldWriter> {
        let held = self.held();
        self.changed
            .wait_while(held, |held| matches!(held, HeldWriter::Closing))
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn release_when_idle(&self, idle: Duration) {
        let mut held = self.held();
        loop {
            let HeldWriter::Writer { used, .. } = &*held else {
                return;
            };
            let left = idle.saturating_sub(used.elapsed());
            if left.is_zero() {
                break;
            }
            (held, _) = self
                .changed
                .wait_timeout(held, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let HeldWriter::Writer { writer, .. } = mem::replace(&mut *held, HeldWriter::Closing)
        else {
            return;
        };
        drop(held);
        // A failed merge loses nothing, since the segments stay.
        let _ = writer.wait_merging_threads();
        *self.held() = HeldWriter::Nothing;
        self.changed.notify_all();
    }
}

fn merge_policy(merging: Merging) -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(match merging {
        Merging::Often => SEGMENTS_TO_MERGE,
        Merging::Rarely => SEGMENTS_TO_MERGE_IN_BULK,
    });
    policy.set_min_layer_size(SMALL_SEGMENT);
    policy.set_del_docs_ratio_before_merge(MOST_LEFT_BEHIND);
    policy
}

/// When segments are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    Often,
    /// Until [`Writer::compact`] merges everything.
    Rarely,
}

/// The products that an index has: those of a commit, and those put since.
pub(crate) struct KnownProducts {
    committed: Arc<View>,
    put: HashSet<i64>,
}

impl KnownProducts {
    pub fn new(committed: Arc<View>) -> KnownProducts {
        KnownProducts {
            committed,
            put: HashSet::new(),
        }
    }

    /// How many were put since the commit.
    pub fn put(&self) -> usize {
        self.put.len()
    }
}

/// Applies changes and commits them.
pub(crate) fn write(
    writer: &mut IndexWriter,
    known: &mut KnownProducts,
    fields: &Fields,
    changes: impl IntoIterator<Item = Change>,
    position: u64,
) -> Result<(), Error> {
    for change in changes {
        let (Change::Put(Document { id, .. }) | Change::Remove(id)) = change;
        let term = Term::from_field_i64(fields.id, id);
        // Deletes only known products, since every deletion is looked
        // up in every segment. Otherwise a first import would be slow.
        if known.put.contains(&id) || known.committed.knows(id, &term)? {
            writer.delete_term(term);
        }
        if let Change::Put(product) = change {
            known.put.insert(id);
            writer.add_document(fields.document(&product))?;
        }
    }
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&payload(position));
    commit.commit()?;
    Ok(())
}
