//! Statements on the rows of segments and on their leases.

use kit::{Error, Param, Result, Sql, sql::values, time::Clock};

use super::kept_heads::number;
use crate::{
    audit::{
        chain::Chain,
        record::{NOTHING, Record, RecordLine, parse},
        store::CHECKPOINTS,
    },
    state,
};

/// A process that is silent for this long counts as dead.
pub const LEASE_MS: i64 = 15_000;

/// Prefix of the names of leases on segments.
pub const PREFIX: &str = "audit:";

/// The lock under which desks add checkpoints one after the other.
const CHECKPOINT_LOCK: &str = "audit checkpoints";

pub fn now(clock: &Clock) -> i64 {
    clock.now().as_millisecond()
}

pub fn lease_of(segment: &str) -> String {
    format!("{PREFIX}{segment}")
}

/// Rows that exist already are from an attempt whose answer was lost.
pub fn insert(sql: &mut dyn Sql, segment: &str, lines: &[RecordLine]) -> Result<()> {
    for some in lines.chunks(500) {
        let mut params: Vec<Param<'_>> = Vec::with_capacity(some.len() * 7);
        for line in some {
            params.push(segment.into());
            params.push(number(line.seq).into());
            params.push(line.at.into());
            params.push(line.call.as_deref().into());
            params.push(line.caller.as_deref().into());
            params.push((&line.record).into());
            params.push(line.arguments.as_deref().into());
        }
        let text = format!(
            "INSERT INTO desk_audit (segment, seq, at_ms, call_id, caller, record, beside)
             VALUES {} ON CONFLICT DO NOTHING",
            values(some.len(), 7)
        );
        sql.execute(&text, &params)?;
    }
    Ok(())
}

pub fn renew(sql: &mut dyn Sql, segment: &str, holder: &str, clock: &Clock) -> Result<bool> {
    let renewed = sql.execute(
        "UPDATE leases SET expires_at = $1 WHERE name = $2 AND holder = $3",
        &[
            (now(clock) + LEASE_MS).into(),
            (&lease_of(segment)).into(),
            holder.into(),
        ],
    )?;
    Ok(renewed == 1)
}

pub fn last_of(sql: &mut dyn Sql, segment: &str) -> Result<Option<Record<'static>>> {
    let row = sql.query_one(
        "SELECT record FROM desk_audit WHERE segment = $1 ORDER BY seq DESC LIMIT 1",
        &[segment.into()],
    )?;
    let line = row.map(|row| row.text(0)).transpose()?;
    line.map(|line| {
        parse(&line).map_err(|what| {
            Error::new(
                "AUDIT_BROKEN",
                format!("The last record of {segment} is damaged: {what}."),
            )
            .next("Run `madoguchi audit verify`.")
        })
    })
    .transpose()
}

pub fn add_checkpoints(sql: &mut dyn Sql, records: &[(Record<'static>, i64)]) -> Result<()> {
    // The row stays locked until the commit.
    state::touch(sql, CHECKPOINT_LOCK)?;
    let mut chain = match last_of(sql, CHECKPOINTS)? {
        None => Chain::after(NOTHING),
        Some(last) => Chain {
            next: last.seq + 1,
            prev: last.hash,
        },
    };
    let lines: Vec<RecordLine> = records
        .iter()
        .map(|(record, at)| chain.add(record.clone(), *at))
        .collect::<Result<_>>()?;
    insert(sql, CHECKPOINTS, &lines)
}
