//! Imports a cinema from files: films, halls with seat plans, screenings, prices, the
//! place and reservations, and the files of the earlier box office.
//!
//! `source` reads files into rows; `fields`, `records`, `halls` and `prices` read rows;
//! `batch` sorts them; `check` compares them with each other and with the store. Here
//! they are written, in one transaction. Nothing is written if a row is invalid, unless
//! the operator asks for it.

mod batch;
mod check;
mod fields;
pub mod halls;
mod owners;
mod prices;
mod records;
mod source;

use std::{path::Path, sync::Arc};

use kit::{
    Blocking, BoxFuture, Context, Result, Sql, Store,
    context::Change,
    counter::{Import, Imported, InvalidRows},
    sql::Budget,
};

use crate::{model::prices::PriceList, state::CounterState, store};
use batch::Batch;
use check::{Checked, check};

/// Problems that are reported in full; the rest are counted.
const MOST_PROBLEMS: usize = 100;

pub struct CinemaImport {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
    /// Reads files, one import after the other.
    reading: Blocking,
}

impl CinemaImport {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
            reading: Blocking::new(1),
        }
    }
}

impl Import for CinemaImport {
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
        invalid: InvalidRows,
    ) -> BoxFuture<'a, Result<Imported>> {
        Box::pin(async move {
            let (path, zone) = (file.to_owned(), self.state.zone.clone());
            let now = self.state.now(context);
            let batch = self
                .reading
                .run(move || Ok(Batch::new(source::read(&path)?, &zone, now)))
                .await?;
            let (batch, state) = (Arc::new(batch), Arc::clone(&self.state));
            let rows = Arc::clone(&batch);
            let (checked, has_demo) = self
                .store
                .transaction(Budget::default(), move |sql| {
                    let checked = check(&state, sql, &rows, now)?;
                    if checked.problems.is_empty() || invalid == InvalidRows::Skip {
                        write(sql, &checked, now)?;
                    }
                    Ok((checked, store::has_demo(sql)?))
                })
                .await?;
            context.changed(Change::ResourceList);
            Ok(report(checked, &batch, invalid, has_demo))
        })
    }
}

fn write(sql: &mut dyn Sql, checked: &Checked, now: i64) -> Result<()> {
    store::save_films(sql, &checked.films)?;
    for hall in &checked.halls {
        store::save_hall(sql, &hall.id, &hall.name, &hall.plan(), false)?;
    }
    store::save_shows(sql, &checked.shows)?;
    store::save_reservations(sql, &checked.reservations, now)?;
    if !checked.prices.is_empty() {
        let rules = checked.prices.clone();
        store::save_document(sql, &PriceList { rules }, false)?;
    }
    if let Some(place) = &checked.place {
        store::save_document(sql, place, false)?;
    }
    Ok(())
}

fn report(checked: Checked, batch: &Batch, invalid: InvalidRows, has_demo: bool) -> Imported {
    let count = checked.problems.len() as u64;
    let refused = count > 0 && invalid == InvalidRows::AsUsual;
    let counts = [
        ("film", checked.films.len()),
        ("hall", checked.halls.len()),
        ("show", checked.shows.len()),
        ("price", checked.prices.len()),
        ("place", usize::from(checked.place.is_some())),
        ("reservation", checked.reservations.len()),
    ];
    let imported: usize = counts.iter().map(|(_, count)| count).sum();
    let mut message = match refused {
        true => format!(
            "Nothing was imported: {count} problem(s). Correct the file, or import the valid rows \
             with --skip-invalid."
        ),
        false => format!("Imported {}.", in_words(&counts)),
    };
    if count > 0 && !refused {
        message.push_str(&format!(" {count} problem(s) were skipped."));
    }
    if checked.already_there > 0 && !refused {
        let there = checked.already_there;
        message.push_str(&format!(" {there} reservation(s) were already there."));
    }
    if !batch.ignored.is_empty() {
        let names: Vec<&str> = batch.ignored.iter().map(String::as_str).collect();
        message.push_str(&format!(" Ignored: {}.", names.join(", ")));
    }
    if has_demo && !refused {
        message.push_str(" The demo is still there; `madoguchi demo remove cinema` removes it.");
    }
    Imported {
        message,
        imported: if refused { 0 } else { imported as u64 },
        skipped: count,
        already_there: checked.already_there,
        refused,
        problems: checked.problems.into_iter().take(MOST_PROBLEMS).collect(),
    }
}

/// `2 films, 1 hall`
pub fn in_words(counts: &[(&str, usize)]) -> String {
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let words: Vec<String> = counts
        .map(|(noun, count)| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        })
        .collect();
    match words.is_empty() {
        true => "nothing".into(),
        false => words.join(", "),
    }
}
