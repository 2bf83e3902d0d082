//! Keeps `index.md` current. The file can be rebuilt at any time, so it is
//! neither synced nor part of a transaction, and errors are only logged.

use std::fs;

use kit::Result;

use crate::{
    errors,
    files::{
        self, Folder,
        replace::{FileVersion, replace},
        write::{PlaceOutcome, PreparedFile},
    },
    model::{board::Board, index_page as page},
    state::CounterState,
};

/// Updates the parts that changed. `true` if the file was written. The caller
/// holds the lock and passes the board if tasks changed.
pub fn refresh(state: &CounterState, folder: &Folder, board: Option<&Board>, adrs: bool) -> bool {
    if !state.settings.keep_index {
        return false;
    }
    match write(state, folder, board, adrs) {
        Ok(written) => written,
        Err(error) => {
            tracing::warn!(%error, cause = ?error.cause, "could not update index.md");
            false
        }
    }
}

fn write(state: &CounterState, folder: &Folder, board: Option<&Board>, adrs: bool) -> Result<bool> {
    let old = folder.read(files::INDEX)?;
    // Missing parts must be created, whatever changed.
    let whole = !old.as_ref().is_some_and(|old| page::has_parts(&old.text));
    let tasks = match board {
        Some(board) => Some(page::tasks(board)),
        None if whole => Some(page::tasks(&state.files.board_in(folder)?.0)),
        None => None,
    };
    let adrs = match adrs || whole {
        true => {
            let all = state.files.adrs()?;
            let all: Vec<_> = all.iter().map(|adr| (**adr).clone()).collect();
            Some(page::adrs(&all))
        }
        false => None,
    };
    let text = old.as_ref().map(|old| &*old.text);
    let Ok(new) = page::update(text, tasks.as_deref(), adrs.as_deref()) else {
        tracing::warn!("index.md has no valid pair of markers and is not updated");
        return Ok(false);
    };
    if text == Some(&new) {
        return Ok(false);
    }
    let failed = |error| errors::io(&Folder::shown(files::INDEX), true, error);
    let path = folder.path(files::INDEX)?;
    if fs::metadata(&path).is_ok_and(|metadata| !files::is_writable(&path, &metadata)) {
        return Ok(false);
    }
    let prepared = PreparedFile::new(&path, &new).map_err(failed)?;
    let placed = match old {
        Some(old) => {
            let there = FileVersion::read(&old);
            let shown = Folder::shown(files::INDEX);
            let done = match replace(&path, &shown, there, prepared, &new.into())? {
                Some(done) => done.settle(&path, &shown)?,
                None => None,
            };
            done.map(|done| done.now.stamp)
        }
        None => match prepared.place(None).map_err(failed)? {
            PlaceOutcome::Done { stamp, .. } => Some(stamp),
            PlaceOutcome::Raced { .. } => None,
        },
    };
    // If somebody saves it at the same time, their version stays. Ours
    // follows with the next change.
    if placed.is_some() {
        state.wrote(files::INDEX, placed);
    }
    Ok(placed.is_some())
}
