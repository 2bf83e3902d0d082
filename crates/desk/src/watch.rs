//! Notices what other processes on the same store change, within [`EVERY`]: changes
//! of resources, for subscribers, and changes of keys, approvals and policies. On
//! PostgreSQL the latter are announced, and noticed at once.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Announcement, Result, announcement, sql::Budget};
use tokio::sync::broadcast;

use crate::{
    desk::Desk,
    events, keys,
    served_counter::ServedCounter,
    state::{APPROVALS, KEYS, OpenState, POLICIES, TOPICS, versions},
};

/// How often the store is polled.
const EVERY: Duration = Duration::from_millis(250);
/// How often the desk's own rows are polled while changes of them are announced. By then
/// those of a process are noticed that died between its commit and the announcement.
const SELDOM: Duration = Duration::from_secs(2);

/// How far each poll looks back beyond the poll before it: transactions commit later
/// than they begin, and the clocks of machines differ a little.
const OVERLAP_MS: i64 = 10_000;
/// The same after the database was away: calls began before, waited, and committed then.
const LONG_OVERLAP_MS: i64 = 60_000;
/// A poll never looks further back than this, however long the polls before it failed.
const LONGEST_LOOK_BACK_MS: i64 = 2 * LONG_OVERLAP_MS;

/// Runs until the desk stops.
pub async fn watch(desk: Arc<Desk>) {
    let mut seen: HashMap<String, i64> = HashMap::new();
    let mut polled_ms = desk.clock.now().as_millisecond();
    let mut rows = SeenVersions::default();
    let mut announcements = None;
    loop {
        if announcements.is_none()
            && let Some(state) = desk.state.opened()
        {
            announcements = Some(state.store.announcements());
        }
        let is_announced = tokio::select! {
            () = tokio::time::sleep(EVERY) => false,
            () = announced(&mut announcements) => true,
            () = desk.stopping.cancelled() => return,
        };
        desk.audit.report_counts(desk.clock.now());
        rows.refresh(&desk, is_announced).await;
        let now = desk.clock.now().as_millisecond();
        let mut has_failed = false;
        let listened_to = desk.counters.iter();
        for served in listened_to.filter(|served| served.events.receiver_count() > 0) {
            // A new subscriber also hears of changes shortly before it came. If this
            // looked back less, a slow machine would miss changes.
            let from = (polled_ms.min(now) - overlap_ms(served)).max(now - LONGEST_LOOK_BACK_MS);
            match changes_of_others(&desk, served, from).await {
                Ok(rows) => {
                    for (call, at, changes) in rows {
                        if seen.insert(call, at).is_none() {
                            served.publish(events::decode(&changes));
                        }
                    }
                }
                Err(error) => {
                    has_failed = true;
                    tracing::debug!(cause = ?error.cause, "changes by other processes could not be read");
                }
            }
        }
        if !has_failed {
            polled_ms = now;
        }
        seen.retain(|_, at| *at >= now - LONGEST_LOOK_BACK_MS);
    }
}

fn overlap_ms(served: &ServedCounter) -> i64 {
    let long = Duration::from_millis(LONG_OVERLAP_MS.unsigned_abs());
    let store = served.counter.store.as_ref();
    match store.is_some_and(|store| store.was_away_within(long)) {
        true => LONG_OVERLAP_MS,
        false => OVERLAP_MS,
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
    /// When this process last tried to open the rows.
    tried: Option<Instant>,
    read: Option<Instant>,
    approvals: Option<i64>,
    use_noted: i64,
}

/// How often the last use of keys is stored, in milliseconds.
const NOTE_USE_EVERY: i64 = 60_000;

impl SeenVersions {
    /// Reads keys, approvals and policies that other processes changed.
    async fn refresh(&mut self, desk: &Desk, is_announced: bool) {
        if desk.state.opened().is_none() {
            self.open(desk).await;
        }
        let Some(state) = desk.state.opened() else {
            return;
        };
        desk.keyring.sweep();
        let is_recent = self.read.is_some_and(|read| read.elapsed() < SELDOM);
        if is_announced || !is_recent || !state.store.hears_others() {
            self.read = Some(Instant::now());
            self.read_versions(desk, state).await;
        }
        self.note_use(desk, state).await;
    }

    /// Opens the rows as soon as there are some: they may deny a tool.
    async fn open(&mut self, desk: &Desk) {
        if self.tried.is_some_and(|tried| tried.elapsed() < SELDOM) {
            return;
        }
        match desk.policies.look_again().await {
            Ok(()) => self.tried = None,
            Err(error) => {
                self.tried = Some(Instant::now());
                tracing::warn!(%error, cause = ?error.cause, "the policies could not be read");
            }
        }
    }

    async fn read_versions(&mut self, desk: &Desk, state: &OpenState) {
        match state.store.query(Budget::default(), versions).await {
            Ok(now) => {
                desk.clients.learn(&now);
                let of = |what| now.get(what).copied().unwrap_or_default();
                if desk.keyring.version() != Some(of(KEYS))
                    && let Err(error) = desk.keyring.refresh().await
                {
                    tracing::warn!(cause = ?error.cause, "keys could not be read");
                }
                if desk.policies.version() != Some(of(POLICIES))
                    && let Err(error) = desk.policies.refresh().await
                {
                    tracing::warn!(cause = ?error.cause, "policies could not be read");
                }
                if self.approvals.replace(of(APPROVALS)) != Some(of(APPROVALS)) {
                    desk.approvals.announce();
                }
            }
            Err(error) => {
                tracing::debug!(cause = ?error.cause, "changes by other processes could not be read");
            }
        }
    }

    async fn note_use(&mut self, desk: &Desk, state: &OpenState) {
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
    served: &ServedCounter,
    from_ms: i64,
) -> Result<Vec<(String, i64, String)>> {
    let Some(store) = &served.counter.store else {
        return Ok(Vec::new());
    };
    let (process, counter) = (desk.process.clone(), served.counter.about.name);
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
