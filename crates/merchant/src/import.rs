//! A catalogue from a file: JSON, NDJSON or CSV, of any size.
//!
//! `file` reads rows one after the other, `row` makes a product of each; here
//! they are written in batches. How far it came is kept in the same
//! transaction as the rows, so an interrupted import of the same file goes on
//! where it stopped.

mod file;
mod row;

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use kit::{
    BoxFuture, Context, Error, Param, Result, Sql, Store,
    counter::{Import, Imported, Problem},
    sql::Budget,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::{
    shop::Shop,
    store::{self, Product, Save},
};

/// Rows of one transaction.
const BATCH: usize = 1_000;
/// Problems that are told in full; the rest are counted.
const MOST_PROBLEMS: usize = 100;
/// Fields nobody knows that are told; a file may have any number.
const MOST_UNKNOWN: usize = 10;

pub struct Catalogue {
    shop: Arc<Shop>,
}

impl Catalogue {
    pub fn new(shop: &Arc<Shop>) -> Self {
        Self {
            shop: Arc::clone(shop),
        }
    }
}

/// A row as the file has it, with its line.
struct Read {
    line: u64,
    fields: std::result::Result<Map<String, Value>, String>,
}

impl Import for Catalogue {
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<Imported>> {
        Box::pin(async move {
            let imported = import(&self.shop, context, file).await?;
            self.shop.finder.catch_up().await;
            Ok(imported)
        })
    }
}

async fn import(shop: &Arc<Shop>, context: &Context, path: &Path) -> Result<Imported> {
    let size = std::fs::metadata(path)
        .map_err(|error| file::unreadable(path, &error))?
        .len();
    let owned = path.to_owned();
    let digest = blocking(move || file::digest(&owned)).await?;
    let mut progress = Progress::find(&shop.store, &digest).await?;
    let mut imported = Imported {
        already_there: progress.imported,
        ..Imported::default()
    };
    let mut unknown = BTreeSet::new();
    let (rows, consumed, reading) = start_reading(path.to_owned());
    let mut reader = Batches {
        rows,
        skip: progress.rows,
    };
    while let Some(batch) = reader.next().await {
        context
            .check_cancelled()
            .map_err(|_| interrupted(&progress))?;
        note_unknown(&batch.rows, &mut unknown);
        let (products, problems) = sort_out(batch.rows);
        progress.rows += batch.count;
        let saved = save(&shop.store, &mut progress, products, problems, context).await?;
        imported.imported += saved.written;
        imported.skipped += saved.problems.len() as u64;
        let room = MOST_PROBLEMS.saturating_sub(imported.problems.len());
        imported
            .problems
            .extend(saved.problems.into_iter().take(room));
        context
            .client
            .progress(
                consumed.load(Ordering::Relaxed) as f64,
                Some(size as f64),
                Some(format!("{} rows", progress.rows)),
            )
            .await;
    }
    reading
        .await
        .unwrap_or_else(|error| Err(Error::internal(error)))
        .map_err(|error| after_some(error, &progress))?;
    progress.is_complete = true;
    progress.write(&shop.store).await?;
    imported.message = summary(&imported, &unknown, demo_products(&shop.store).await?);
    Ok(imported)
}

/// How far a file has been taken in.
#[derive(Debug, Clone)]
struct Progress {
    digest: String,
    rows: u64,
    imported: u64,
    skipped: u64,
    is_complete: bool,
}

impl Progress {
    async fn find(store: &Arc<dyn Store>, digest: &str) -> Result<Self> {
        let fresh = Self {
            digest: digest.to_owned(),
            rows: 0,
            imported: 0,
            skipped: 0,
            is_complete: false,
        };
        let digest = digest.to_owned();
        let found = store
            .query(Budget::default(), move |sql| {
                sql.query_one(
                    "SELECT rows_done, imported, skipped FROM merchant_imports \
                     WHERE digest = $1 AND is_complete = 0",
                    &[Param::Text(&digest)],
                )
            })
            .await?;
        let Some(row) = found else {
            return Ok(fresh);
        };
        Ok(Self {
            rows: row.int(0)?.unsigned_abs(),
            imported: row.int(1)?.unsigned_abs(),
            skipped: row.int(2)?.unsigned_abs(),
            ..fresh
        })
    }

    fn save(&self, sql: &mut dyn Sql, now: i64) -> Result<()> {
        sql.execute(
            "INSERT INTO merchant_imports \
             (digest, rows_done, imported, skipped, is_complete, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (digest) DO UPDATE SET \
             rows_done = excluded.rows_done, imported = excluded.imported, \
             skipped = excluded.skipped, is_complete = excluded.is_complete, \
             updated_at = excluded.updated_at",
            &[
                Param::Text(&self.digest),
                Param::Int(self.rows.cast_signed()),
                Param::Int(self.imported.cast_signed()),
                Param::Int(self.skipped.cast_signed()),
                Param::Int(self.is_complete.into()),
                Param::Int(now),
            ],
        )?;
        // What another file began with is no longer as that file has it.
        sql.execute(
            "DELETE FROM merchant_imports WHERE is_complete = 0 AND digest <> $1",
            &[Param::Text(&self.digest)],
        )?;
        Ok(())
    }

    async fn write(&self, store: &Arc<dyn Store>) -> Result<()> {
        let progress = self.clone();
        let now = jiff::Timestamp::now().as_millisecond();
        store
            .transaction(Budget::default(), move |sql| progress.save(sql, now))
            .await
    }
}

type Reading = tokio::task::JoinHandle<Result<()>>;

/// Reads the file on a thread of its own, a little ahead of the writing.
fn start_reading(path: PathBuf) -> (mpsc::Receiver<Read>, Arc<AtomicU64>, Reading) {
    let (sender, rows) = mpsc::channel(2 * BATCH);
    let consumed = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&consumed);
    let reading = tokio::task::spawn_blocking(move || {
        file::read(&path, counter, |line, fields| {
            // Nobody listens any more: the import was given up.
            sender.blocking_send(Read { line, fields }).is_ok()
        })
    });
    (rows, consumed, reading)
}

struct Batches {
    rows: mpsc::Receiver<Read>,
    /// Rows an earlier run has written.
    skip: u64,
}

struct Batch {
    rows: Vec<Read>,
    count: u64,
}

impl Batches {
    async fn next(&mut self) -> Option<Batch> {
        while self.skip > 0 {
            self.rows.recv().await?;
            self.skip -= 1;
        }
        let mut rows = Vec::with_capacity(BATCH);
        while rows.len() < BATCH {
            match self.rows.recv().await {
                Some(row) => rows.push(row),
                None => break,
            }
        }
        let count = rows.len() as u64;
        (count > 0).then_some(Batch { rows, count })
    }
}

/// A column that is called something else, such as `stock`, would otherwise be
/// missed only when the shop has nothing to sell.
fn note_unknown(rows: &[Read], unknown: &mut BTreeSet<String>) {
    let fields = rows.iter().filter_map(|row| row.fields.as_ref().ok());
    for name in fields.flat_map(Map::keys) {
        if unknown.len() >= MOST_UNKNOWN {
            return;
        }
        if !row::FIELDS.contains(&name.as_str()) {
            unknown.insert(row::clean(name, 50));
        }
    }
}

/// Products, each id once, and what is wrong with the other rows. Of two rows
/// with one id the later counts, as it would in two batches.
fn sort_out(rows: Vec<Read>) -> (Vec<(u64, Product)>, Vec<Problem>) {
    let mut products: Vec<(u64, Product)> = Vec::with_capacity(rows.len());
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut problems = Vec::new();
    for row in rows {
        match row.fields.and_then(|fields| row::product(&fields)) {
            Err(problem) => problems.push(Problem {
                line: row.line,
                problem,
            }),
            Ok(product) => match places.get(&product.id).and_then(|at| products.get_mut(*at)) {
                Some(earlier) => {
                    problems.push(Problem {
                        line: earlier.0,
                        problem: format!("product {} comes again in line {}", product.id, row.line),
                    });
                    *earlier = (row.line, product);
                }
                None => {
                    places.insert(product.id, products.len());
                    products.push((row.line, product));
                }
            },
        }
    }
    (products, problems)
}

struct Saved {
    written: u64,
    problems: Vec<Problem>,
}

async fn save(
    store: &Arc<dyn Store>,
    progress: &mut Progress,
    products: Vec<(u64, Product)>,
    problems: Vec<Problem>,
    context: &Context,
) -> Result<Saved> {
    let before = progress.clone();
    let now = context.clock.now().as_millisecond();
    let (saved, after) = store
        .transaction(Budget::default(), move |sql| {
            let skus: Vec<&str> = products.iter().map(|(_, product)| &*product.sku).collect();
            let owners = store::sku_owners(sql, &skus)?;
            let mut problems = problems.clone();
            let mut here: HashMap<&str, i64> = HashMap::new();
            let mut good = Vec::with_capacity(products.len());
            for (line, product) in &products {
                let in_file = *here.entry(&*product.sku).or_insert(product.id);
                let owner = owners.get(&product.sku).copied().unwrap_or(in_file);
                if owner == product.id && in_file == product.id {
                    good.push(product.clone());
                } else {
                    let owner = if owner == product.id { in_file } else { owner };
                    problems.push(Problem {
                        line: *line,
                        problem: format!("the sku {} is that of product {owner}", product.sku),
                    });
                }
            }
            let written = store::save(sql, &good, Save::Own)?;
            let mut after = before.clone();
            after.imported += written;
            after.skipped += problems.len() as u64;
            after.save(sql, now)?;
            Ok((Saved { written, problems }, after))
        })
        .await?;
    *progress = after;
    Ok(saved)
}

async fn demo_products(store: &Arc<dyn Store>) -> Result<i64> {
    store
        .query(Budget::default(), |sql| {
            sql.query_one(
                "SELECT COUNT(*) FROM merchant_products WHERE is_demo = 1",
                &[],
            )?
            .map_or(Ok(0), |row| row.int(0))
        })
        .await
}

fn summary(imported: &Imported, unknown: &BTreeSet<String>, demo: i64) -> String {
    let mut text = format!("Imported {} product(s)", imported.imported);
    if imported.already_there > 0 {
        text.push_str(&format!(
            ", after {} of an earlier run",
            imported.already_there
        ));
    }
    if imported.skipped > 0 {
        text.push_str(&format!("; skipped {} row(s)", imported.skipped));
    }
    text.push('.');
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
        text.push_str(&format!(
            " Fields that are not known were passed over: {}.",
            names.join(", ")
        ));
    }
    if demo > 0 {
        text.push_str(&format!(
            " {demo} sample product(s) are still there; `madoguchi demo remove merchant` removes them."
        ));
    }
    text
}

fn interrupted(progress: &Progress) -> Error {
    Error::new(
        "IMPORT_INTERRUPTED",
        format!("The import was interrupted after {} rows.", progress.rows),
    )
    .next("Import the same file again to go on from there.")
}

fn after_some(error: Error, progress: &Progress) -> Error {
    if progress.rows == 0 {
        return error;
    }
    let next = format!(
        "The {} rows before it were taken in. Mend the file and import it again.",
        progress.rows
    );
    error.next(next)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Error::internal(error)))
}
