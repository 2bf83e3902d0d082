//! Removes screenings of the demo that are long over. The programme gets a new day every
//! day, so that they would pile up for as long as the demo runs.

use std::sync::Arc;

use jiff::{ToSpan, civil::Date};
use kit::{Error, Param, Result, Sql, Store, sql::Budget};

/// How many days a screening can be looked up after it is over.
const DAYS_REMEMBERED: i64 = 7;

/// What somebody really booked stays, and with it the screening.
const REAL: &str = "EXISTS (SELECT 1 FROM cinema_reservations r \
     WHERE r.show_id = s.id AND r.is_demo = 0)";
const SAMPLE: &str = "EXISTS (SELECT 1 FROM cinema_reservations r \
     WHERE r.show_id = s.id AND r.is_demo = 1)";

pub async fn forget(store: &Arc<dyn Store>, today: Date) -> Result<()> {
    let first = today
        .checked_sub(DAYS_REMEMBERED.days())
        .map_err(Error::internal)?
        .to_string();
    // One day in a transaction: after years there may be many.
    loop {
        let first = first.clone();
        let forget = move |sql: &mut dyn Sql| forget_a_day(sql, &first);
        if !store.transaction(Budget::default(), forget).await? {
            return Ok(());
        }
    }
}

/// Returns whether there was one.
fn forget_a_day(sql: &mut dyn Sql, before: &str) -> Result<bool> {
    let oldest = sql.query_one(
        &format!(
            "SELECT MIN(s.show_date) FROM cinema_shows s WHERE s.is_demo = 1 \
             AND s.show_date < $1 AND ({SAMPLE} OR NOT {REAL})"
        ),
        &[before.into()],
    )?;
    let Some(day) = oldest.map_or(Ok(None), |row| row.opt_text(0))? else {
        return Ok(false);
    };
    let of_day = "SELECT s.id FROM cinema_shows s WHERE s.is_demo = 1 AND s.show_date = $1";
    for statement in [
        format!(
            "DELETE FROM cinema_taken_seats WHERE show_id IN ({of_day}) AND reservation_id IN \
             (SELECT id FROM cinema_reservations WHERE is_demo = 1 AND show_id IN ({of_day}))"
        ),
        format!("DELETE FROM cinema_reservations WHERE is_demo = 1 AND show_id IN ({of_day})"),
        format!("DELETE FROM cinema_waiting WHERE show_id IN ({of_day} AND NOT {REAL})"),
        "DELETE FROM cinema_shows WHERE is_demo = 1 AND show_date = $1 AND NOT EXISTS \
         (SELECT 1 FROM cinema_reservations r WHERE r.show_id = cinema_shows.id)"
            .to_owned(),
    ] {
        sql.execute(&statement, &[Param::Text(&day)])?;
    }
    Ok(true)
}
