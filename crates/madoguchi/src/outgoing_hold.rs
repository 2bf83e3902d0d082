//! Tells that a restore holds back what would go to the outside.

use std::sync::Arc;

use kit::{Store, hold, hold::Hold};

use crate::{cli::Global, invocation, locale};

/// What is held, since when, and how to release it; `None` if nothing is held.
pub async fn notice(global: &Global, store: &Arc<dyn Store>) -> Option<String> {
    // A database that fails is reported elsewhere.
    let hold = hold::of(store, hold::OUTSIDE).await.ok().flatten()?;
    Some(in_words(global, &hold))
}

fn in_words(global: &Global, hold: &Hold) -> String {
    format!(
        "Messages, reminders and calendar changes are held since {}: {}. Look through what waits, \
         then release it: {}",
        locale::written(hold.since),
        hold.reason,
        invocation::command(global, "restore --release")
    )
}
