//! Requests counted in rows, for desks that share a PostgreSQL. This SQL is for
//! that engine alone: the embedded database counts in files.
//!
//! Each request that a caller makes in a minute is a row, a slot that one request takes
//! for a minute, by the server's clock, which all desks share. Slots are added when they
//! are needed, until there are as many as the limit allows.
//!
//! A commit does not wait for the disk, nor for a standby: if the server crashes, requests
//! of its last second may be forgotten.

use std::sync::Arc;

use kit::{
    Result, Store,
    sql::{Budget, Sql},
};

use super::{
    admission::{Admission, CallerAtCounter},
    ring::WINDOW_MS,
};

/// A slot that somebody else is taking at this moment is not waited for: it is as
/// good as taken.
const TAKE_SLOT: &str = "WITH fast AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true))
    UPDATE desk_slots AS taken
    SET at_ms = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) FROM fast
    WHERE (taken.caller, taken.counter, taken.slot) = (
        SELECT caller, counter, slot FROM desk_slots
        WHERE caller = $1 AND counter = $2 AND slot < $3
          AND at_ms <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT) - $4
        ORDER BY at_ms LIMIT 1 FOR UPDATE SKIP LOCKED)";

/// When the next slot is free, and how many there are.
const KNOWN_SLOTS: &str = "SELECT MIN(at_ms) + $4
        - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), MAX(slot) + 1
    FROM desk_slots WHERE caller = $1 AND counter = $2 AND slot < $3";

/// One request at a time adds slots: those that wait for it take what it left.
const LOCK_ADDING: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended(concat($1::text, ' ', $2::text), 0))::text";

/// Adds as many as there are, at least 64 and at most 1,000.
const ADD_SLOTS: &str = "INSERT INTO desk_slots (caller, counter, slot, at_ms)
    SELECT $1, $2, slot, 0
    FROM (SELECT COALESCE(MAX(slot) + 1, 0) AS next FROM desk_slots
          WHERE caller = $1 AND counter = $2) AS known,
        generate_series(next, LEAST(next + LEAST(GREATEST(next, 64), 1000), $3) - 1) AS slot
    ON CONFLICT DO NOTHING";

pub async fn take(store: &Arc<dyn Store>, who: &CallerAtCounter, limit: u64) -> Result<Admission> {
    let ((caller, counter), limit) = (who.clone(), i64::try_from(limit).unwrap_or(i64::MAX));
    store
        .transaction(Budget::default(), move |sql| {
            let slots = [(&*caller).into(), counter.into(), limit.into()];
            let [who, at, most] = slots;
            let in_window = [who, at, most, WINDOW_MS.into()];
            let take = |sql: &mut dyn Sql| Ok(sql.execute(TAKE_SLOT, &in_window)? == 1);
            if take(sql)? {
                return Ok(Admission::Admitted);
            }
            let known = sql.query_one(KNOWN_SLOTS, &in_window)?;
            let of = |column| known.as_ref().map_or(Ok(None), |row| row.opt_int(column));
            let (wait, count) = (of(0)?.unwrap_or_default(), of(1)?.unwrap_or_default());
            // A refused request takes no lock, so a flood of them waits for nothing.
            let has_all_slots = count >= limit;
            if has_all_slots && let Ok(wait @ 1..) = u64::try_from(wait) {
                return Ok(Admission::RetryAfter(wait));
            }
            // The caller's first requests, or more in a minute than ever before.
            sql.query_one(LOCK_ADDING, &[who, at])?;
            if take(sql)? || (sql.execute(ADD_SLOTS, &slots)? > 0 && take(sql)?) {
                return Ok(Admission::Admitted);
            }
            // Every slot is taken, or locked by a request that is taking it.
            Ok(Admission::RetryAfter(1))
        })
        .await
}
