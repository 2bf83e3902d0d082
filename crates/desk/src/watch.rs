//! Notices what other processes on the same store change, within [`EVERY`]: changes
//! of resources, for subscribers, and changes of keys and approvals. On PostgreSQL the
//! latter are announced, and noticed at once.

use std::{collections::HashMap, sync::Arc, time::Duration};

use kit::{Announcement, Result, announcement, sql::Budget};
use tokio::sync::broadcast;

use crate::{
    desk::Desk,
    events, keys,
    state::{APPROVALS, KEYS, TOPICS, versions},
    window::Window,
};

/// How often the store is polled.
const EVERY: Duration = Duration::from_millis(250);

/// How far back each poll looks: transactions commit later than they begin, and the
/// clocks of machines differ a little.
const OVERLAP_MS: i64 = 10_000;

/// Runs until the desk stops.
pub async fn watch(desk: Arc<Desk>) {
    let mut seen: HashMap<String, i64> = HashMap::new();
    let mut listening_since = None;
    let mut rows = SeenVersions::default();
    let mut announcements = None;
    loop {
        if announcements.is_none()
            && let Some(state) = desk.state.opened()
        {
            announcements = Some(state.store.announcements());
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = announced(&mut announcements) => {}
            () = desk.stopping.cancelled() => return,
        }
        desk.audit.report_refusals(desk.clock.now());
        rows.refresh(&desk).await;
        let now = desk.clock.now().as_millisecond();
        let listened_to: Vec<_> = desk
            .windows
            .iter()
            .filter(|window| window.events.receiver_count() > 0)
            .collect();
        if listened_to.is_empty() {
            listening_since = None;
            continue;
        }
        let since = *listening_since.get_or_insert(now - EVERY.as_millis() as i64);
        let from = since.max(now - OVERLAP_MS);
        for window in listened_to {
            match changes_of_others(&desk, window, from).await {
                Ok(rows) => {
                    for (call, at, changes) in rows {
                        if seen.insert(call, at).is_none() {
                            window.publish(events::decode(&changes));
                        }
                    }
                }
                Err(error) => {
                    tracing::debug!(cause = ?error.cause, "changes by other processes could not be read");
                }
            }
        }
        seen.retain(|_, at| *at >= now - 2 * OVERLAP_MS);
    }
}

/// Waits until some process announces a change of the desk's own rows.
async fn announced(receiver: &mut Option<broadcast::Receiver<Announcement>>) {
    if let Some(receiver) = receiver {
        while let Some(heard) = announcement::next(receiver).await {
            match heard {
                Announcement::Topic(topic) if !topic.starts_with(TOPICS) => {}
                Announcement::Topic(_) | Announcement::Missed => return,
            }
        }
    }
    std::future::pending().await
}

/// Which version of the desk's own rows this process has seen.
#[derive(Default)]
struct SeenVersions {
    approvals: Option<i64>,
    use_noted: i64,
}

/// How often the last use of keys is stored, in milliseconds.
const NOTE_USE_EVERY: i64 = 60_000;

impl SeenVersions {
    /// Reads keys and approvals that other processes changed.
    async fn refresh(&mut self, desk: &Desk) {
        let Some(state) = desk.state.opened() else {
            return;
        };
        desk.keyring.sweep();
        match state.store.query(Budget::default(), versions).await {
            Ok(now) => {
                let of = |what| now.get(what).copied().unwrap_or_default();
                if desk.keyring.version() != Some(of(KEYS))
                    && let Err(error) = desk.keyring.refresh().await
                {
                    tracing::warn!(cause = ?error.cause, "keys could not be read");
                }
                if self.approvals.replace(of(APPROVALS)) != Some(of(APPROVALS)) {
                    desk.approvals.announce();
                }
            }
            Err(error) => {
                tracing::debug!(cause = ?error.cause, "changes by other processes could not be read");
            }
        }
        let now = desk.clock.now().as_millisecond();
        if now - self.use_noted >= NOTE_USE_EVERY {
            let used = desk.keyring.used_since(self.use_noted);
            self.use_noted = now;
            if !used.is_empty()
                && let Err(error) = keys::note_use(state, used).await
            {
                tracing::debug!(cause = ?error.cause, "the last use of keys could not be stored");
            }
        }
    }
}

async fn changes_of_others(
    desk: &Desk,
    window: &Window,
    from_ms: i64,
) -> Result<Vec<(String, i64, String)>> {
    let Some(store) = &window.counter.store else {
        return Ok(Vec::new());
    };
    let (process, counter) = (desk.process.clone(), window.counter.about.name);
    let budget = Budget::default();
    store
        .query(budget, move |sql| {
            sql.query(
                "SELECT call_id, at_ms, changes FROM desk_writes
                 WHERE at_ms >= $1 AND process <> $2 AND counter = $3 AND changes <> ''
                 ORDER BY at_ms, call_id",
                &[from_ms.into(), (&process).into(), counter.into()],
            )?
            .iter()
            .map(|row| Ok((row.text(0)?, row.int(1)?, row.text(2)?)))
            .collect()
        })
        .await
}
