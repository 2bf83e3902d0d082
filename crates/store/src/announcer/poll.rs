//! Announcements in a table that every process reads often: for databases behind a
//! pooler, where `LISTEN` has no effect.

use std::time::Duration;

use kit::{
    Announcement, Migration, Migrations, Result, Row, Sql,
    announcement::LocalAnnouncements,
    sql::{Budget, ReadJob},
};
use tokio::time::{Instant, sleep, sleep_until};

use super::outbox::{CHANNEL, Outbox, Topics};
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

/// Reads and writes announcements until it is stopped.
pub(super) async fn run(postgres: &Postgres, outbox: &Outbox, local: &LocalAnnouncements) {
    let mut seen = None;
    loop {
        let from = match seen {
            Some(from) => from,
            None => match begin(postgres).await {
                Ok(newest) => {
                    // Announcements may have been made before this moment.
                    local.send(Announcement::Missed);
                    newest
                }
                Err(error) => {
                    tracing::debug!(cause = ?error.cause, "announcements can't be read yet");
                    if wait(outbox, PAUSE_AFTER_ERROR).await {
                        return;
                    }
                    continue;
                }
            },
        };
        let stopped = next_look(postgres, outbox).await;
        if stopped {
            return;
        }
        seen = match look(postgres, outbox, local, from).await {
            Ok(newest) => Some(newest),
            Err(error) => {
                tracing::debug!(cause = ?error.cause, "announcements could not be read");
                None
            }
        };
    }
}

/// Waits until the table is to be read again, and announces meanwhile. Returns whether
/// this process stops.
async fn next_look(postgres: &Postgres, outbox: &Outbox) -> bool {
    let next = Instant::now() + EVERY;
    loop {
        let stopped = tokio::select! {
            biased;
            () = outbox.stop.cancelled() => true,
            () = sleep_until(next) => return false,
            () = outbox.added.notified() => false,
        };
        let topics = outbox.take();
        if !topics.is_empty()
            && let Err(error) = announce(postgres, outbox, &topics).await
        {
            tracing::debug!(cause = ?error.cause, "announcements could not be made");
            outbox.put_back(topics);
            if !stopped && wait(outbox, EVERY).await {
                return true;
            }
        }
        if stopped {
            return true;
        }
    }
}

/// Returns whether this process stops.
async fn wait(outbox: &Outbox, pause: Duration) -> bool {
    tokio::select! {
        () = sleep(pause) => false,
        () = outbox.stop.cancelled() => true,
    }
}

/// The newest number, from which reading begins. Makes the table if it is missing.
async fn begin(postgres: &Postgres) -> Result<i64> {
    let newest = "SELECT COALESCE(MAX(id), 0) FROM madoguchi_announcements";
    let rows = match query(postgres, newest, 0).await {
        Ok(rows) => rows,
        Err(_) => {
            postgres.migrate(MIGRATIONS).await?;
            query(postgres, newest, 0).await?
        }
    };
    rows.first().map_or(Ok(0), |row| row.int(0))
}

/// Hands on what is new; returns the newest number.
async fn look(
    postgres: &Postgres,
    outbox: &Outbox,
    local: &LocalAnnouncements,
    from: i64,
) -> Result<i64> {
    let sql = format!(
        "SELECT id, message FROM madoguchi_announcements WHERE id > $1 ORDER BY id LIMIT {MOST}"
    );
    let rows = query(postgres, &sql, from).await?;
    let mut newest = from;
    if rows.len() == MOST {
        local.send(Announcement::Missed);
    }
    for row in &rows {
        newest = row.int(0)?;
        if rows.len() < MOST {
            outbox.hand_on(&row.text(1)?, local);
        }
    }
    Ok(newest)
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

async fn announce(postgres: &Postgres, outbox: &Outbox, topics: &Topics) -> Result<()> {
    let messages = outbox.messages(topics);
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
