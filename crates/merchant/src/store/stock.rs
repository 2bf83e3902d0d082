//! What may still be sold: the stock, less what live carts have reserved.
//!
//! A reservation is a row with an expiry time. After that time it no longer counts,
//! so nothing has to happen when it expires. A product's row is locked before its
//! stock is read: two carts never get the same last piece.

use std::collections::HashMap;

use kit::{Param, Result, Sql};

use super::{
    change_numbers::number_changes,
    sql_text::{VALUES_PER_LIST, placeholders},
};
use crate::model::errors::Shortage;

/// The largest stock of one product; more is a mistake.
pub const MOST_STOCK: i64 = 1_000_000_000;

/// Subtracted from `p.stock`; `$1` is now.
pub(super) const RESERVED: &str = "COALESCE((SELECT CAST(SUM(r.quantity) AS BIGINT) \
     FROM merchant_reservations r WHERE r.product_id = p.id AND r.expires_at > $1), 0)";

/// What is available of each product that exists.
pub fn inventory(sql: &mut dyn Sql, ids: &[i64], now: i64) -> Result<HashMap<i64, i64>> {
    let mut available = HashMap::with_capacity(ids.len());
    for chunk in ids.chunks(VALUES_PER_LIST) {
        let mut params = vec![Param::Int(now)];
        params.extend(chunk.iter().map(|id| Param::Int(*id)));
        let rows = sql.query(
            &format!(
                "SELECT p.id, p.stock - {RESERVED} FROM merchant_products p WHERE p.id IN ({})",
                placeholders(2, chunk.len())
            ),
            &params,
        )?;
        for row in rows {
            available.insert(row.int(0)?, row.int(1)?.max(0));
        }
    }
    Ok(available)
}

/// Reserves all of `lines` (product and quantity) for the cart, or returns what is
/// short; then the caller must let the transaction fail.
pub fn reserve(
    sql: &mut dyn Sql,
    cart_id: &str,
    lines: &[(i64, i64)],
    now: i64,
    until: i64,
) -> Result<Vec<Shortage>> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    let ids: Vec<i64> = lines.iter().map(|(id, _)| *id).collect();
    for id in &ids {
        // Locks the row: PostgreSQL would otherwise let two carts read the same stock.
        sql.execute(
            "UPDATE merchant_products SET stock = stock WHERE id = $1",
            &[Param::Int(*id)],
        )?;
    }
    let available = inventory(sql, &ids, now)?;
    let short: Vec<Shortage> = lines
        .iter()
        .map(|(id, quantity)| Shortage {
            product_id: *id,
            requested: *quantity,
            available: available.get(id).copied().unwrap_or(0),
        })
        .filter(|line| line.requested > line.available)
        .collect();
    if !short.is_empty() {
        return Ok(short);
    }
    for (id, quantity) in &lines {
        sql.execute(
            "INSERT INTO merchant_reservations (product_id, cart_id, quantity, expires_at) \
             VALUES ($1, $2, $3, $4)",
            &[
                Param::Int(*id),
                Param::Text(cart_id),
                Param::Int(*quantity),
                Param::Int(until),
            ],
        )?;
    }
    Ok(Vec::new())
}

/// The stock before and after a change.
pub struct StockChange {
    pub before: i64,
    pub after: i64,
}

/// Changes the stock by `to` and records who did it. `None` for an unknown product;
/// `Err(before)` when `to` refuses the change or the stock would be negative.
pub fn set_stock(
    sql: &mut dyn Sql,
    product_id: i64,
    to: impl Fn(i64) -> Option<i64>,
    (reason, caller, now): (Option<&str>, &str, i64),
) -> Result<Option<std::result::Result<StockChange, i64>>> {
    let locked = sql.query_one(
        "UPDATE merchant_products SET stock = stock WHERE id = $1 RETURNING stock",
        &[Param::Int(product_id)],
    )?;
    let Some(row) = locked else {
        return Ok(None);
    };
    let before = row.int(0)?;
    let Some(after) = to(before).filter(|after| *after >= 0) else {
        return Ok(Some(Err(before)));
    };
    // A search only needs to know whether there is any stock.
    let crosses = (before > 0) != (after > 0);
    if crosses {
        let number = number_changes(sql, 1)?;
        sql.execute(
            "UPDATE merchant_products SET stock = $2, change_number = $3 WHERE id = $1",
            &[
                Param::Int(product_id),
                Param::Int(after),
                Param::Int(number),
            ],
        )?;
    } else {
        sql.execute(
            "UPDATE merchant_products SET stock = $2 WHERE id = $1",
            &[Param::Int(product_id), Param::Int(after)],
        )?;
    }
    sql.execute(
        "INSERT INTO merchant_stock_changes \
         (id, product_id, stock_before, stock_after, reason, caller, changed_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            Param::Text(&kit::ids::random("stk_", 20)),
            Param::Int(product_id),
            Param::Int(before),
            Param::Int(after),
            Param::from(reason),
            Param::Text(caller),
            Param::Int(now),
        ],
    )?;
    Ok(Some(Ok(StockChange { before, after })))
}

/// The stock of a product, including what is reserved.
pub fn whole_stock(sql: &mut dyn Sql, product_id: i64) -> Result<Option<i64>> {
    sql.query_one(
        "SELECT stock FROM merchant_products WHERE id = $1",
        &[Param::Int(product_id)],
    )?
    .map(|row| row.int(0))
    .transpose()
}

/// A change of the stock that was made by hand.
pub struct LoggedChange {
    pub before: i64,
    pub after: i64,
    pub reason: Option<String>,
    pub caller: String,
    pub changed_at: i64,
}

/// The last changes of a product's stock, newest first.
pub fn stock_changes(sql: &mut dyn Sql, product_id: i64, most: i64) -> Result<Vec<LoggedChange>> {
    sql.query(
        "SELECT stock_before, stock_after, reason, caller, changed_at \
         FROM merchant_stock_changes WHERE product_id = $1 \
         ORDER BY changed_at DESC, id LIMIT $2",
        &[Param::Int(product_id), Param::Int(most)],
    )?
    .iter()
    .map(|row| {
        Ok(LoggedChange {
            before: row.int(0)?,
            after: row.int(1)?,
            reason: row.opt_text(2)?,
            caller: row.text(3)?,
            changed_at: row.int(4)?,
        })
    })
    .collect()
}
