//! A catalogue from a file: JSON, NDJSON or CSV, of any size.
//!
//! `kit::file_rows` reads rows one after the other, `row` turns each into a product, and
//! `batches` collects them; here they are written. `progress` is stored in the same
//! transaction as the rows, so an interrupted import of the same file continues
//! where it stopped. `synonyms` reads words that mean the same.

mod batches;
mod digest;
mod progress;
mod row;
mod synonyms;

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use kit::{
    Blocking, BoxFuture, Context, Error, Result, Store,
    context::Language,
    counter::{Import, Imported, InvalidRows, Problem},
    sql::Budget,
};

use crate::{
    state::CounterState,
    store::{self, Owner, Product},
};
use batches::{Batch, Reading};
use progress::ImportProgress;

/// Problems that are reported in full; the rest are counted.
const MOST_PROBLEMS: usize = 100;

pub struct CatalogueImport {
    state: Arc<CounterState>,
    /// Reads files, one import after the other.
    reading: Blocking,
}

impl CatalogueImport {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
            reading: Blocking::new(1),
        }
    }

    async fn import_rows(&self, context: &Context, path: &Path) -> Result<Imported> {
        let store = &self.state.store;
        let owned = path.to_owned();
        let (digest, size) = self.reading.run(move || digest::digest(&owned)).await?;
        let mut progress = ImportProgress::find(store, &digest).await?;
        let mut imported = Imported {
            already_there: progress.imported,
            ..Imported::default()
        };
        let mut reading = Reading::start(&self.reading, path.to_owned(), progress.rows);
        while let Some(batch) = reading.batches.recv().await {
            context
                .check_cancelled()
                .map_err(|_| interrupted(&progress))?;
            let saved = save(store, &mut progress, batch, context).await?;
            imported.imported += saved.written;
            imported.skipped += saved.problems.len() as u64;
            let room = MOST_PROBLEMS.saturating_sub(imported.problems.len());
            imported
                .problems
                .extend(saved.problems.into_iter().take(room));
            let consumed = reading.consumed.load(Ordering::Relaxed) as f64;
            let rows = Some(format!("{} rows", progress.rows));
            let client = &context.client;
            client.progress(consumed, Some(size as f64), rows).await;
        }
        let unknown = reading
            .done
            .await
            .unwrap_or_else(|error| Err(Error::internal(error)))
            .map_err(|error| after_some(error, &progress))?;
        progress.is_complete = true;
        let now = context.clock.now().as_millisecond();
        progress.write(store, now).await?;
        let demo = store.query(Budget::default(), store::count_demo).await?;
        imported.message = summary(&imported, &unknown, demo);
        Ok(imported)
    }
}

impl Import for CatalogueImport {
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
        _: InvalidRows,
    ) -> BoxFuture<'a, Result<Imported>> {
        Box::pin(async move {
            let imported = self.import_rows(context, file).await?;
            let client = &context.client;
            let part = match context.language {
                Language::English => "Building the search index",
                Language::Japanese => "検索インデックスを作成中",
            };
            client.progress(0.0, None, Some(part.into())).await;
            let report = |done: u64, total: u64| {
                let products = Some(format!("{done} products"));
                client.progress(done as f64, Some(total as f64), products)
            };
            self.state.finder.catch_up(report).await;
            Ok(imported)
        })
    }

    /// Replaces the synonyms by those of the file.
    fn import_synonyms<'a>(
        &'a self,
        _: &'a Context,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<Imported>> {
        Box::pin(async move {
            let path = file.to_owned();
            let read = self.reading.run(move || synonyms::read(&path)).await?;
            let (imported, skipped) = (read.groups.len() as u64, read.problems.len() as u64);
            let groups = read.groups;
            self.state
                .store
                .transaction(Budget::default(), move |sql| {
                    store::replace_synonyms(sql, &groups)
                })
                .await?;
            self.state.finder.wake();
            let skipped_lines = match skipped {
                0 => String::new(),
                count => format!("; skipped {count} line(s)"),
            };
            Ok(Imported {
                message: format!(
                    "Searches now use {imported} group(s) of synonyms{skipped_lines}."
                ),
                imported,
                skipped,
                problems: read.problems.into_iter().take(MOST_PROBLEMS).collect(),
                ..Imported::default()
            })
        })
    }
}

/// The products of a CSV whose rows are all valid.
pub fn products(csv: &str) -> Result<Vec<Product>> {
    let mut products = Vec::new();
    let mut invalid = None;
    kit::file_rows::table(csv.as_bytes(), &row::REQUIRED, |line, fields| {
        match fields.and_then(|fields| row::product(&fields)) {
            Ok(product) => products.push(product),
            Err(problem) => invalid = Some(format!("line {line}: {problem}")),
        }
        invalid.is_none()
    })?;
    match invalid {
        Some(problem) => Err(Error::internal(problem)),
        None => Ok(products),
    }
}

struct SavedBatch {
    written: u64,
    problems: Vec<Problem>,
}

/// Writes a batch, and how far the import came with it.
async fn save(
    store: &Arc<dyn Store>,
    progress: &mut ImportProgress,
    batch: Batch,
    context: &Context,
) -> Result<SavedBatch> {
    let before = progress.clone();
    let now = context.clock.now().as_millisecond();
    let (saved, after) = store
        .transaction(Budget::default(), move |sql| {
            let products = &batch.products;
            let skus: Vec<&str> = products.iter().map(|(_, product)| &*product.sku).collect();
            let owners = store::sku_owners(sql, &skus)?;
            let mut problems = batch.problems.clone();
            let mut here: HashMap<&str, i64> = HashMap::new();
            let mut good = Vec::with_capacity(products.len());
            for (line, product) in products {
                let in_file = *here.entry(&*product.sku).or_insert(product.id);
                let owner = owners.get(&product.sku).copied().unwrap_or(in_file);
                if owner == product.id && in_file == product.id {
                    good.push(product.clone());
                } else {
                    let owner = if owner == product.id { in_file } else { owner };
                    let sku = &product.sku;
                    let problem = format!("the sku {sku} is that of product {owner}");
                    problems.push(Problem::new(*line, problem));
                }
            }
            let written = store::save(sql, &good, Owner::Shop)?;
            let mut after = before.clone();
            after.rows += batch.rows;
            after.imported += written;
            after.skipped += problems.len() as u64;
            after.save(sql, now)?;
            Ok((SavedBatch { written, problems }, after))
        })
        .await?;
    *progress = after;
    Ok(saved)
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
            " Unknown fields were ignored: {}.",
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

fn interrupted(progress: &ImportProgress) -> Error {
    Error::new(
        "IMPORT_INTERRUPTED",
        format!("The import was interrupted after {} rows.", progress.rows),
    )
    .next("Import the same file again to continue from there.")
}

fn after_some(error: Error, progress: &ImportProgress) -> Error {
    if progress.rows == 0 {
        return error;
    }
    let next = format!(
        "The {} rows before it were imported. Correct the file and import it again.",
        progress.rows
    );
    error.next(next)
}
