//! Limits how much one caller may have stored.
//!
//! Each caller has a few rows per hour with sums, so that a call costs two statements
//! however much is stored. A row stops counting when everything stored in its hour
//! has expired; nothing is ever subtracted.
//!
//! On PostgreSQL a row stays locked until the commit of whoever added to it. One row per
//! caller would let only one call of a caller commit at a time, on all desks together. So
//! an hour has [`PARTS`] rows there. Far below the bound, a call adds to one of them and
//! ignores what others have not committed yet: their number is limited by the rows. Near
//! the bound calls of a caller take turns and count exactly.

use crate::{
    error::Result,
    sql::{Migration, Migrations, Param, Row, Sql},
};

pub const MIGRATIONS: Migrations = Migrations {
    owner: "usage",
    steps: &[Migration {
        version: 1,
        name: "usage by hour",
        sql: "CREATE TABLE usage_by_hour (
            subject TEXT NOT NULL,
            caller TEXT NOT NULL,
            hour BIGINT NOT NULL,
            items BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            PRIMARY KEY (subject, caller, hour)
        );
        CREATE INDEX usage_by_expiry ON usage_by_hour (expires_at)",
    }],
};

/// Adds to the row that is there.
const ADD: &str = "ON CONFLICT (subject, caller, hour) DO UPDATE \
     SET items = usage_by_hour.items + excluded.items, \
     bytes = usage_by_hour.bytes + excluded.bytes, expires_at = excluded.expires_at";

const SUM: &str = "SELECT CAST(SUM(items) AS BIGINT), CAST(SUM(bytes) AS BIGINT), MIN(expires_at) \
     FROM usage_by_hour WHERE subject = $1 AND caller = $2 AND expires_at > $3";

/// The number of the lock with which calls of one caller take turns.
const TURN: &str = "hashtextextended($1 || '/' || $2, 0)";

/// Average size that the bound on bytes allows.
const BYTES_PER_ITEM: i64 = 4096;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// How many rows an hour has on PostgreSQL. Part N of an hour is in the column `hour` as
/// the hour plus N times [`PART`]: older programs, which know one row per hour, add to
/// part 0 and sum all.
const PARTS: i64 = 16;
const PART: i64 = 1 << 32;

/// How many calls of a caller may have added something that others don't see yet: one in
/// each part, of this hour and of the last.
const UNSEEN: i64 = 2 * PARTS;
/// What takes more bytes than this is counted exactly, so that unseen bytes are limited too.
const LARGE: i64 = 16 * 1024;

/// What one caller may have stored of one kind of thing.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// What is counted. Each subject has its own sums.
    pub subject: &'static str,
    /// How long one item is kept, in milliseconds.
    pub kept_ms: i64,
    /// How many items. On average each may take 4 kB.
    pub items: i64,
}

/// The bound is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// When the first items stop counting, in milliseconds since 1970.
    pub free_at: i64,
}

/// What a caller has stored.
struct Sums {
    items: i64,
    bytes: i64,
    free_at: i64,
}

impl Sums {
    fn read(rows: Option<&Vec<Row>>) -> Result<Self> {
        let row = rows.and_then(|rows| rows.first());
        let of = |column| row.map_or(Ok(None), |row| row.opt_int(column));
        Ok(Self {
            items: of(0)?.unwrap_or_default(),
            bytes: of(1)?.unwrap_or_default(),
            free_at: of(2)?.unwrap_or_default(),
        })
    }
}

fn add_to_hour() -> String {
    format!(
        "INSERT INTO usage_by_hour (subject, caller, hour, items, bytes, expires_at) \
         VALUES ($1, $2, $3, 1, $4, $5) {ADD}"
    )
}

/// For PostgreSQL. Answers whether nobody else of this caller can add before the commit,
/// which is so near the bound.
fn add_to_part() -> String {
    format!(
        "WITH known AS MATERIALIZED ( \
             SELECT $4 > {LARGE} OR COALESCE(SUM(items), 0) > $7 \
                 OR COALESCE(SUM(bytes), 0) > $8 AS is_near \
             FROM usage_by_hour WHERE subject = $1 AND caller = $2 AND expires_at > $6 \
         ), turn AS MATERIALIZED ( \
             SELECT is_near, CASE WHEN is_near THEN pg_advisory_xact_lock({TURN})::text \
                 ELSE pg_advisory_xact_lock_shared({TURN})::text END FROM known \
         ), added AS ( \
             INSERT INTO usage_by_hour (subject, caller, hour, items, bytes, expires_at) \
             SELECT $1, $2, $3 + pg_backend_pid() % {PARTS} * {PART}, 1, $4, $5 FROM turn {ADD} \
         ) \
         SELECT is_near FROM turn"
    )
}

impl Bound {
    /// Counts one more item of this size. If that exceeds the bound, the transaction
    /// must fail.
    ///
    /// Call this late in a transaction: on PostgreSQL it locks a row until the commit.
    pub fn add(
        &self,
        sql: &mut dyn Sql,
        caller: &str,
        bytes: usize,
        now: i64,
    ) -> Result<std::result::Result<(), Exceeded>> {
        let hour = now.div_euclid(HOUR_MS);
        let of_caller = [Param::Text(self.subject), Param::Text(caller)];
        let [subject, owner] = of_caller;
        let mut added = vec![
            subject,
            owner,
            Param::Int(hour),
            Param::Int(i64::try_from(bytes).unwrap_or(i64::MAX)),
            Param::Int((hour + 1) * HOUR_MS + self.kept_ms),
        ];
        let has_others = sql.has_other_writers();
        if has_others {
            added.extend([
                Param::Int(now),
                Param::Int(self.items - 2 * UNSEEN),
                Param::Int(self.most_bytes() - 2 * UNSEEN * LARGE),
            ]);
        }
        let add = if has_others {
            add_to_part()
        } else {
            add_to_hour()
        };
        let summed = [subject, owner, Param::Int(now)];
        let answers = sql.query_all(&[(&add, &added), (SUM, &summed)])?;
        let near = answers.first().and_then(|rows| rows.first());
        let is_exact = near.map_or(Ok(true), |row| row.int(0).map(|near| near == 1))?;
        let mut sums = Sums::read(answers.get(1))?;
        if !is_exact && !self.allows(&sums, 1) {
            // Many others were quicker since it looked far from the bound.
            let turn = format!("SELECT pg_advisory_xact_lock({TURN})::text");
            sql.query(&turn, &of_caller)?;
            sums = Sums::read(Some(&sql.query(SUM, &summed)?))?;
        }
        Ok(match self.allows(&sums, 0) {
            true => Ok(()),
            false => Err(Exceeded {
                free_at: sums.free_at,
            }),
        })
    }

    fn most_bytes(&self) -> i64 {
        self.items * BYTES_PER_ITEM
    }

    /// Whether these fit, together with so many times what others may have added unseen.
    fn allows(&self, sums: &Sums, unseen: i64) -> bool {
        sums.items + unseen * UNSEEN <= self.items
            && sums.bytes + unseen * UNSEEN * LARGE <= self.most_bytes()
    }
}

/// Deletes expired sums, and joins the parts of hours that nobody adds to any more.
pub fn purge(sql: &mut dyn Sql, now: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM usage_by_hour WHERE expires_at <= $1",
        &[Param::Int(now)],
    )?;
    if sql.has_other_writers() {
        let join = format!(
            "WITH parts AS ( \
                 DELETE FROM usage_by_hour WHERE hour >= {PART} AND hour % {PART} < $1 RETURNING * \
             ) \
             INSERT INTO usage_by_hour (subject, caller, hour, items, bytes, expires_at) \
             SELECT subject, caller, hour % {PART}, SUM(items), SUM(bytes), MAX(expires_at) \
             FROM parts GROUP BY 1, 2, 3 {ADD}"
        );
        sql.execute(&join, &[Param::Int(now.div_euclid(HOUR_MS) - 1)])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_left_for_what_others_have_not_committed_yet() {
        let bound = Bound {
            subject: "notes",
            kept_ms: HOUR_MS,
            items: 1000,
        };
        let allows = |items, bytes, unseen| {
            let sums = Sums {
                items,
                bytes,
                free_at: 0,
            };
            bound.allows(&sums, unseen)
        };
        let (most, unseen) = (1000 * 4096, 32 * 16 * 1024);
        for (items, bytes, all_seen, some_unseen) in [
            (0, 0, true, true),
            (1000 - 32, most - unseen, true, true),
            (1000 - 31, 0, true, false),
            (0, most - unseen + 1, true, false),
            (1000, most, true, false),
            (1001, 0, false, false),
            (0, most + 1, false, false),
        ] {
            assert_eq!(allows(items, bytes, 0), all_seen, "{items} {bytes}");
            assert_eq!(allows(items, bytes, 1), some_unseen, "{items} {bytes}");
        }
    }
}
