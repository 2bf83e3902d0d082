//! Announcements in a table that every process reads often: for databases behind a
//! pooler, where `LISTEN` has no effect.

use std::{sync::atomic::Ordering, time::Duration};

use kit::{
    Announcement, Migration, Migrations, Result, Row, Sql,
    announcement::LocalAnnouncements,
    sql::{Budget, ReadJob},
};
use tokio::time::{Instant, sleep, sleep_until};

use super::state::{AnnouncerState, CHANNEL, Topics};
use crate::{
    job::{Script, Work},
    postgres::Postgres,
};

/// How often the table is read.
const EVERY: Duration = Duration::from_millis(100);
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// How many announcements are read at a time. When there are more, it is quicker to
/// look at everything.
const MOST: usize = 1000;
/// How long announcements are kept, in milliseconds.
const KEEP_MS: i64 = 60_000;

const MIGRATIONS: Migrations = Migrations {
    owner: "announcements",
    steps: &[Migration {
        version: 1,
        name: "announcements",
        sql: "CREATE TABLE madoguchi_announcements (
            id BIGINT PRIMARY KEY,
            message TEXT NOT NULL,
            at_ms BIGINT NOT NULL
        )",
    }],
};

/// Numbers follow the order of commits only if one process inserts at a time. The
/// number of the lock is arbitrary. Losing announcements in a crash does no harm.
const BEGIN: &str = "SELECT pg_advisory_xact_lock(7020911263104125812);
SET LOCAL synchronous_commit TO off";
const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The last announcement that was read. Its row is read again each time: if another one
/// is in its place, the server is a standby that has lost the last commits of its primary,
/// and gives their numbers to new announcements.
struct Seen {
    id: i64,
    message: String,
}

/// Reads and writes announcements until it is stopped.
pub(super) async fn run(postgres: &Postgres, state: &AnnouncerState, local: &LocalAnnouncements) {
    let mut seen = None;
    loop {
        let from = match seen {
            Some(from) => from,
            None => match begin(postgres).await {
                Ok(newest) => {
                    // Announcements may have been made before this moment.
                    state.is_listening.store(true, Ordering::Relaxed);
                    local.send(Announcement::Missed);
                    newest
                }
                Err(error) => {
                    tracing::debug!(cause = ?error.cause, "announcements can't be read yet");
                    if wait(state, PAUSE_AFTER_ERROR).await {
                        return;
                    }
                    continue;
                }
            },
        };
        let stopped = next_look(postgres, state).await;
        if stopped {
            return;
        }
        seen = look(postgres, state, local, from)
            .await
            .unwrap_or_else(|error| {
                tracing::debug!(cause = ?error.cause, "announcements could not be read");
                None
            });
        if seen.is_none() {
            state.is_listening.store(false, Ordering::Relaxed);
        }
    }
}

/// Waits until the table is to be read again, and announces meanwhile. Returns whether
/// this process stops.
async fn next_look(postgres: &Postgres, state: &AnnouncerState) -> bool {
    let next = Instant::now() + EVERY;
    loop {
        let stopped = tokio::select! {
            biased;
            () = state.stop.cancelled() => true,
            () = sleep_until(next) => return false,
            () = state.added.notified() => false,
        };
        let topics = state.take();
        if !topics.is_empty()
            && let Err(error) = announce(postgres, state, &topics).await
        {
            tracing::debug!(cause = ?error.cause, "announcements could not be made");
            state.put_back(topics);
            if !stopped && wait(state, EVERY).await {
                return true;
            }
        }
        if stopped {
            return true;
        }
    }
}

/// Returns whether this process stops.
async fn wait(state: &AnnouncerState, pause: Duration) -> bool {
    tokio::select! {
        () = sleep(pause) => false,
        () = state.stop.cancelled() => true,
    }
}

/// The newest announcement, after which reading begins. Makes the table if it is missing.
async fn begin(postgres: &Postgres) -> Result<Seen> {
    let newest = "SELECT id, message FROM madoguchi_announcements ORDER BY id DESC LIMIT 1";
    let rows = match query(postgres, newest, 0).await {
        Ok(rows) => rows,
        Err(_) => {
            postgres.migrate(MIGRATIONS).await?;
            query(postgres, newest, 0).await?
        }
    };
    match rows.first() {
        Some(row) => Seen::read(row),
        None => Ok(Seen {
            id: 0,
            message: String::new(),
        }),
    }
}

impl Seen {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.int(0)?,
            message: row.text(1)?,
        })
    }
}

/// Hands on what is new. `None`: it can't be told what is new.
async fn look(
    postgres: &Postgres,
    state: &AnnouncerState,
    local: &LocalAnnouncements,
    from: Seen,
) -> Result<Option<Seen>> {
    let sql = format!(
        "SELECT id, message FROM madoguchi_announcements WHERE id >= $1 ORDER BY id LIMIT {MOST}"
    );
    let rows = query(postgres, &sql, from.id).await?;
    let mut rows = rows.iter().map(Seen::read);
    let mut last = from;
    if last.id > 0 {
        let there = rows.next().transpose()?;
        if there.is_none_or(|there| there.id != last.id || there.message != last.message) {
            return Ok(None);
        }
    }
    let new: Vec<Seen> = rows.collect::<Result<_>>()?;
    let are_all = new.len() + 1 < MOST;
    if !are_all {
        local.send(Announcement::Missed);
    }
    for announcement in new {
        if are_all {
            state.hand_on(&announcement.message, local);
        }
        last = announcement;
    }
    Ok(Some(last))
}

async fn query(postgres: &Postgres, sql: &str, from: i64) -> Result<Vec<Row>> {
    let sql = sql.to_owned();
    let (send, receive) = std::sync::mpsc::channel();
    let job: ReadJob<'static> = Box::new(move |session| {
        let params = [from.into()];
        let params = if sql.contains("$1") { &params[..] } else { &[] };
        let _ = send.send(session.query(&sql, params)?);
        Ok(())
    });
    postgres.read(Budget::default(), job).await?;
    Ok(receive.try_recv().unwrap_or_default())
}

async fn announce(postgres: &Postgres, state: &AnnouncerState, topics: &Topics) -> Result<()> {
    let messages = state.messages(topics);
    let work: Work = Box::new(move |sql: &mut dyn Script| {
        sql.script(BEGIN)?;
        insert(sql, &messages)
    });
    postgres.write(Budget::default(), work).await
}

/// The newest row stays, since numbers continue from it.
fn insert(sql: &mut (impl Sql + ?Sized), messages: &[String]) -> Result<()> {
    for message in messages {
        sql.execute(
            &format!(
                "INSERT INTO madoguchi_announcements (id, message, at_ms)
                 SELECT COALESCE(MAX(id), 0) + 1, $1, {NOW} FROM madoguchi_announcements"
            ),
            &[message.into()],
        )?;
        // For processes that listen: a pooler lets notifications through on the way there.
        sql.execute(
            "SELECT pg_notify($1, $2)",
            &[CHANNEL.into(), message.into()],
        )?;
    }
    sql.execute(
        &format!(
            "DELETE FROM madoguchi_announcements WHERE at_ms < {NOW} - $1
             AND id < (SELECT MAX(id) FROM madoguchi_announcements)"
        ),
        &[KEEP_MS.into()],
    )?;
    Ok(())
}
