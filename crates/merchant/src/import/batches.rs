//! The rows of a file in batches. They are read and checked on a thread of their
//! own, a little ahead of the writing.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use kit::{
    Blocking, Result,
    counter::Problem,
    file_rows::{self, Fields},
};
use tokio::{sync::mpsc, task::JoinHandle};

use super::row;
use crate::store::Product;

/// Rows of one transaction.
const BATCH: u64 = 1_000;
/// How many unknown fields are reported; a file may have any number.
const MOST_UNKNOWN: usize = 10;

#[derive(Default)]
pub struct Batch {
    pub rows: u64,
    /// Each with its line, and each id once.
    pub products: Vec<(u64, Product)>,
    /// What is wrong with the other rows.
    pub problems: Vec<Problem>,
    places: HashMap<i64, usize>,
}

pub struct Reading {
    pub batches: mpsc::Receiver<Batch>,
    /// Bytes read so far.
    pub consumed: Arc<AtomicU64>,
    /// Ends after the last batch, with the names of unknown fields.
    pub done: JoinHandle<Result<BTreeSet<String>>>,
}

impl Reading {
    /// Begins after the first `skip` rows, which an earlier run has written.
    pub fn start(blocking: &Blocking, path: PathBuf, skip: u64) -> Self {
        let (sender, batches) = mpsc::channel(2);
        let consumed = Arc::new(AtomicU64::new(0));
        let (blocking, counter) = (blocking.clone(), Arc::clone(&consumed));
        let work = move || read(&path, counter, skip, &sender);
        Self {
            batches,
            consumed,
            done: tokio::spawn(async move { blocking.run(work).await }),
        }
    }
}

fn read(
    path: &Path,
    consumed: Arc<AtomicU64>,
    mut skip: u64,
    sender: &mpsc::Sender<Batch>,
) -> Result<BTreeSet<String>> {
    let mut unknown = BTreeSet::new();
    let mut batch = Batch::default();
    let read = file_rows::read(path, consumed, &row::REQUIRED, |line, fields| {
        if skip > 0 {
            skip -= 1;
            return true;
        }
        if let Ok(fields) = &fields {
            note_unknown(fields.keys(), &mut unknown);
        }
        batch.add(line, fields);
        // Sending fails when the import was given up.
        batch.rows < BATCH || sender.blocking_send(std::mem::take(&mut batch)).is_ok()
    });
    // Rows before an error are imported too.
    if batch.rows > 0 {
        let _ = sender.blocking_send(batch);
    }
    read.map(|()| unknown)
}

impl Batch {
    /// Of two rows with one id the later counts, as it would in two batches.
    fn add(&mut self, line: u64, fields: Fields) {
        self.rows += 1;
        let product = match fields.and_then(|fields| row::product(&fields)) {
            Ok(product) => product,
            Err(problem) => return self.problems.push(Problem::new(line, problem)),
        };
        let place = self.places.get(&product.id);
        match place.and_then(|at| self.products.get_mut(*at)) {
            Some(earlier) => {
                let problem = format!("product {} comes again in line {line}", product.id);
                let line = std::mem::replace(earlier, (line, product)).0;
                self.problems.push(Problem::new(line, problem));
            }
            None => {
                self.places.insert(product.id, self.products.len());
                self.products.push((line, product));
            }
        }
    }
}

/// A column with another name, such as `stock`, is reported: otherwise nobody
/// would notice it before the shop has nothing to sell.
fn note_unknown<'a>(names: impl Iterator<Item = &'a String>, unknown: &mut BTreeSet<String>) {
    for name in names {
        if unknown.len() >= MOST_UNKNOWN {
            return;
        }
        if !row::is_known(name) {
            unknown.insert(kit::text::clean(name, 50));
        }
    }
}
