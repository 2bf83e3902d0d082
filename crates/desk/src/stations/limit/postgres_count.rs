//! Requests counted in rows, for desks that share a PostgreSQL. This SQL is for
//! that engine alone: the embedded database counts in files.
//!
//! Each request that a caller may make in a minute is a row, a slot that one
//! request takes for a minute, by the server's clock, which all desks share.

use std::sync::Arc;

use kit::{Result, Store, sql::Budget};

use super::{
    admission::{Admission, CallerAtCounter},
    ring::WINDOW_MS,
};

/// A slot that somebody else is taking at this moment is not waited for: it is as
/// good as taken.
const TAKE_SLOT: &str = "UPDATE desk_slots
    SET at_ms = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
    WHERE (caller, counter, slot) = (
        SELECT caller, counter, slot FROM desk_slots
        WHERE caller = $1 AND counter = $2 AND slot < $3
          AND at_ms <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $4
        ORDER BY at_ms LIMIT 1 FOR UPDATE SKIP LOCKED)";

const ADD_SLOTS: &str = "INSERT INTO desk_slots (caller, counter, slot, at_ms)
    SELECT $1, $2, slot, 0 FROM generate_series(0, $3 - 1) AS slot
    ON CONFLICT DO NOTHING";

const MS_UNTIL_FREE: &str = "SELECT MIN(at_ms) + $4
        - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
    FROM desk_slots WHERE caller = $1 AND counter = $2 AND slot < $3";

pub async fn take(store: &Arc<dyn Store>, who: &CallerAtCounter, limit: u64) -> Result<Admission> {
    let ((caller, counter), limit) = (who.clone(), i64::try_from(limit).unwrap_or(i64::MAX));
    store
        .transaction(Budget::default(), move |sql| {
            let slots = [(&*caller).into(), counter.into(), limit.into()];
            let [caller, counter, limit] = slots;
            let in_window = [caller, counter, limit, WINDOW_MS.into()];
            if sql.execute(TAKE_SLOT, &in_window)? == 1 {
                return Ok(Admission::Admitted);
            }
            // A caller's first request, or a limit that was raised.
            sql.execute(ADD_SLOTS, &slots)?;
            if sql.execute(TAKE_SLOT, &in_window)? == 1 {
                return Ok(Admission::Admitted);
            }
            let row = sql.query_one(MS_UNTIL_FREE, &in_window)?;
            let wait = row.map(|row| row.opt_int(0)).transpose()?.flatten();
            // Negative: slots are free that others hold locked for a moment.
            let wait = wait.and_then(|wait| u64::try_from(wait).ok()).unwrap_or(0);
            Ok(Admission::RetryAfter(wait.max(1)))
        })
        .await
}
