//! The desk's rows about changes, written in the same transaction as the change.
//!
//! `desk_writes` says which call changed what. A row survives a crash exactly when
//! its change does, and other processes on the same store read there what changed.
//! `desk_replies` keeps the answers to calls with an idempotency key, so that a retry
//! gets the first answer and does not repeat the work.

use std::{num::NonZeroU32, sync::Arc};

use jiff::Timestamp;
use kit::{
    Caller, Context, Error, Param, Reply, Result, Sql, Store,
    counter::Migrations,
    sql::{Budget, Migration, Statement},
    usage,
};
use serde_json::Value;

use crate::{
    desk::Desk,
    digest, events,
    served_counter::{PreparedTool, ServedCounter},
};

/// How long rows are kept, in milliseconds. A retry with an idempotency key must come
/// within this time.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// Longer keys are stored as their digest.
const LONGEST_KEY: usize = 200;

pub const MIGRATIONS: Migrations = Migrations {
    owner: "desk",
    steps: &[
        Migration {
            version: 1,
            name: "writes and replies",
            sql: include_str!("migrations/0001.sql"),
        },
        Migration {
            version: 2,
            name: "keys, limits and approvals",
            sql: include_str!("migrations/0002.sql"),
        },
        Migration {
            version: 3,
            name: "audit",
            sql: include_str!("migrations/0003.sql"),
        },
        Migration {
            version: 4,
            name: "keys for files",
            sql: include_str!("migrations/0004.sql"),
        },
        Migration {
            version: 5,
            name: "limits by time",
            sql: include_str!("migrations/0005.sql"),
        },
        Migration {
            version: 6,
            name: "policies",
            sql: include_str!("migrations/0006.sql"),
        },
    ],
};

/// What is stored about one call that changes something.
pub struct LedgerEntry {
    at_ms: i64,
    counter: &'static str,
    tool: &'static str,
    digest: String,
    key: Option<String>,
    process: String,
    /// How many answers are kept for one caller.
    most_kept: NonZeroU32,
}

impl LedgerEntry {
    pub fn new(
        desk: &Desk,
        served: &ServedCounter,
        tool: &PreparedTool,
        arguments: &Value,
    ) -> Self {
        let key = tool
            .tool
            .idempotency_key
            .and_then(|field| arguments.get(field))
            .and_then(Value::as_str)
            // Models send "" for a missing value.
            .filter(|key| !key.trim().is_empty())
            .map(|key| match key.len() {
                0..=LONGEST_KEY => key.to_owned(),
                _ => digest::of_json(&Value::String(key.to_owned())),
            });
        Self {
            at_ms: desk.clock.now().as_millisecond(),
            counter: served.counter.about.name,
            tool: tool.tool.name,
            digest: digest::of_json(arguments),
            key,
            process: desk.process.clone(),
            most_kept: desk.settings.limits.kept_answers_per_caller,
        }
    }
}

impl LedgerEntry {
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }
}

/// The answer of an earlier call with the same key and arguments. An error if the key
/// was used with other arguments.
pub fn kept_reply(
    entry: &LedgerEntry,
    caller: &Caller,
    sql: &mut dyn Sql,
) -> Result<Option<Reply>> {
    let Some(key) = &entry.key else {
        return Ok(None);
    };
    first_reply(entry, caller, key, sql)
}

/// The answer of the first call with this key.
fn first_reply(
    entry: &LedgerEntry,
    caller: &Caller,
    key: &str,
    sql: &mut dyn Sql,
) -> Result<Option<Reply>> {
    let row = sql.query_one(
        "SELECT arguments_digest, reply FROM desk_replies
         WHERE caller = $1 AND counter = $2 AND tool = $3 AND idempotency_key = $4
           AND at_ms >= $5",
        &[
            (&*caller.id).into(),
            entry.counter.into(),
            entry.tool.into(),
            key.into(),
            (entry.at_ms - KEPT_MS).into(),
        ],
    )?;
    let Some(row) = row else {
        return Ok(None);
    };
    if row.text(0)? != entry.digest {
        return Err(reused());
    }
    Ok(row.opt_text(1)?.map(Reply::Structured))
}

fn reused() -> Error {
    Error::new(
        "IDEMPOTENCY_KEY_REUSED",
        "This idempotency key was used for a call with other arguments.",
    )
    .next("Use a new key for a new call, and the same key only to retry.")
}

/// Runs `work`, unless a call with the same key already did, and stores the change.
pub fn run_once(
    entry: &LedgerEntry,
    context: &Context,
    sql: &mut dyn Sql,
    work: impl FnOnce(&mut dyn Sql) -> Result<Reply>,
) -> Result<Reply> {
    if let Some(key) = &entry.key
        && let Some(reply) = claim(entry, context, key, sql)?
    {
        return Ok(reply);
    }
    let reply = work(sql)?;
    let (call, changes) = (context.call.to_string(), context.changes());
    let changes = events::encode(&changes);
    let caller: Param<'_> = (&*context.caller.id).into();
    let (counter, tool) = (entry.counter.into(), entry.tool.into());
    let written = [
        (&call).into(),
        entry.at_ms.into(),
        caller,
        counter,
        tool,
        (&entry.digest).into(),
        (&entry.process).into(),
        (&changes).into(),
    ];
    let mut statements: Vec<Statement<'_>> = vec![(WRITTEN, &written)];
    let kept;
    if let (Some(key), Some(json)) = (&entry.key, reply.json()) {
        count_kept(entry, &context.caller, json.len(), sql)?;
        kept = [json.into(), caller, counter, tool, key.into()];
        statements.push((KEEP, &kept));
    }
    sql.query_all(&statements)?;
    Ok(reply)
}

/// What `desk_writes` gets with each change.
pub const WRITTEN: &str = "INSERT INTO desk_writes
         (call_id, at_ms, caller, counter, tool, arguments_digest, process, changes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const KEEP: &str = "UPDATE desk_replies SET reply = $1
     WHERE caller = $2 AND counter = $3 AND tool = $4 AND idempotency_key = $5";

/// Counts one more kept answer. Beyond the bound, calls with a new key are refused.
/// Dropping an older answer instead could lead to its work being done twice.
fn count_kept(entry: &LedgerEntry, caller: &Caller, bytes: usize, sql: &mut dyn Sql) -> Result<()> {
    let items = i64::from(entry.most_kept.get());
    let bound = usage::Bound {
        subject: "kept answers",
        kept_ms: KEPT_MS,
        items,
    };
    let Err(exceeded) = bound.add(sql, &caller.id, bytes, entry.at_ms)? else {
        return Ok(());
    };
    let free_at = Timestamp::from_millisecond(exceeded.free_at).map_err(Error::internal)?;
    Err(Error::new(
        "TOO_MANY_IDEMPOTENCY_KEYS",
        format!(
            "Nothing was done: the answers to {items} calls with an idempotency key, of 4 kB on \
             average, are kept for you already, and that is the limit."
        ),
    )
    .next(format!(
        "Call without a key, or wait until {free_at}. Retries with a key used before still work."
    ))
    .details(serde_json::json!({ "most": items, "free_at": free_at.to_string() })))
}

/// Claims the key for this call, or returns the answer of the call that had it.
/// Because the row is inserted first, simultaneous calls wait for each other.
fn claim(
    entry: &LedgerEntry,
    context: &Context,
    key: &str,
    sql: &mut dyn Sql,
) -> Result<Option<Reply>> {
    // A key that was used long ago is free again.
    let claimed = sql.execute(
        "INSERT INTO desk_replies (caller, counter, tool, idempotency_key, at_ms, arguments_digest)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (caller, counter, tool, idempotency_key) DO UPDATE
         SET at_ms = excluded.at_ms, arguments_digest = excluded.arguments_digest, reply = NULL
         WHERE desk_replies.at_ms < $7",
        &[
            (&*context.caller.id).into(),
            entry.counter.into(),
            entry.tool.into(),
            key.into(),
            entry.at_ms.into(),
            (&entry.digest).into(),
            (entry.at_ms - KEPT_MS).into(),
        ],
    )?;
    if claimed == 1 {
        return Ok(None);
    }
    first_reply(entry, &context.caller, key, sql)?
        .map(Some)
        .ok_or_else(|| Error::internal("a claimed idempotency key has no reply"))
}

/// Deletes rows that are no longer needed. Called every hour.
pub async fn purge(store: &Arc<dyn Store>, now_ms: i64) -> Result<()> {
    store
        .transaction(Budget::default(), move |sql| {
            for delete in [
                "DELETE FROM desk_replies WHERE at_ms < $1",
                "DELETE FROM desk_writes WHERE at_ms < $1",
                "DELETE FROM desk_redemptions WHERE at_ms < $1",
                // Of a caller who still calls, all slots are needed.
                "DELETE FROM desk_slots WHERE NOT EXISTS (
                     SELECT 1 FROM desk_slots AS other
                     WHERE other.caller = desk_slots.caller
                       AND other.counter = desk_slots.counter AND other.at_ms >= $1)",
            ] {
                sql.execute(delete, &[(now_ms - KEPT_MS).into()])?;
            }
            usage::purge(sql, now_ms)
        })
        .await
}
