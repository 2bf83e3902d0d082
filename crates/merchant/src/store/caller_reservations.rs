//! What one caller has reserved: its open carts with a reservation, and their goods.

use kit::{Param, Result, Sql};

/// Locks the caller, so that its reservations can be counted reliably until the
/// transaction ends. Always called before a product's row is locked.
pub fn lock_caller(sql: &mut dyn Sql, caller: &str) -> Result<()> {
    sql.execute(
        "INSERT INTO merchant_callers (caller) VALUES ($1) \
         ON CONFLICT (caller) DO UPDATE SET caller = excluded.caller",
        &[Param::Text(caller)],
    )?;
    Ok(())
}

pub struct OpenCart {
    pub id: String,
    pub expires_at: i64,
}

/// The caller's open carts with a reservation, by expiry.
pub fn reserving_carts(sql: &mut dyn Sql, caller: &str, now: i64) -> Result<Vec<OpenCart>> {
    sql.query(
        "SELECT id, expires_at FROM merchant_carts \
         WHERE caller = $1 AND expires_at > $2 AND is_reserved = 1 AND cancelled_at IS NULL \
         ORDER BY expires_at, id",
        &[Param::Text(caller), Param::Int(now)],
    )?
    .iter()
    .map(|row| {
        Ok(OpenCart {
            id: row.text(0)?,
            expires_at: row.int(1)?,
        })
    })
    .collect()
}

/// A product in the caller's open carts.
pub struct HeldProduct {
    pub product_id: i64,
    pub quantity: i64,
    /// How many of the carts have it.
    pub carts: i64,
    /// The stock, including what is reserved.
    pub stock: i64,
}

pub fn held_products(sql: &mut dyn Sql, caller: &str, now: i64) -> Result<Vec<HeldProduct>> {
    sql.query(
        "SELECT r.product_id, CAST(SUM(r.quantity) AS BIGINT), COUNT(*), MAX(p.stock) \
         FROM merchant_carts c \
         JOIN merchant_reservations r ON r.cart_id = c.id \
         JOIN merchant_products p ON p.id = r.product_id \
         WHERE c.caller = $1 AND c.expires_at > $2 AND c.is_reserved = 1 \
         AND c.cancelled_at IS NULL \
         GROUP BY r.product_id ORDER BY r.product_id",
        &[Param::Text(caller), Param::Int(now)],
    )?
    .iter()
    .map(|row| {
        Ok(HeldProduct {
            product_id: row.int(0)?,
            quantity: row.int(1)?,
            carts: row.int(2)?,
            stock: row.int(3)?,
        })
    })
    .collect()
}
