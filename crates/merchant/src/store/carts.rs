//! Carts as they were quoted, until they expire.

use kit::{Error, Param, Result, Sql};

/// A cart is kept for a day after it ends, so that its caller learns that it has
/// expired.
pub const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1000;

pub struct NewCart<'a> {
    pub id: &'a str,
    /// The cart as JSON, from which every format can be made.
    pub cart: &'a str,
    pub format: &'a str,
    pub is_reserved: bool,
    pub caller: &'a str,
    pub created_at: i64,
    pub expires_at: i64,
}

/// Stores a cart, in place of one with the same id.
pub fn save_cart(sql: &mut dyn Sql, new: &NewCart<'_>) -> Result<()> {
    sql.execute(
        "INSERT INTO merchant_carts \
         (id, cart, format, is_reserved, caller, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET cart = excluded.cart, format = excluded.format, \
         is_reserved = excluded.is_reserved, created_at = excluded.created_at, \
         expires_at = excluded.expires_at",
        &[
            Param::Text(new.id),
            Param::Text(new.cart),
            Param::Text(new.format),
            Param::Int(new.is_reserved.into()),
            Param::Text(new.caller),
            Param::Int(new.created_at),
            Param::Int(new.expires_at),
        ],
    )?;
    Ok(())
}

pub struct StoredCart {
    pub cart: String,
    pub format: String,
    pub is_reserved: bool,
    pub caller: String,
    pub expires_at: i64,
    pub is_cancelled: bool,
}

pub fn cart(sql: &mut dyn Sql, id: &str) -> Result<Option<StoredCart>> {
    sql.query_one(
        "SELECT cart, format, is_reserved, caller, expires_at, cancelled_at FROM merchant_carts \
         WHERE id = $1",
        &[Param::Text(id)],
    )?
    .map(|row| {
        Ok(StoredCart {
            cart: row.text(0)?,
            format: row.text(1)?,
            is_reserved: row.int(2)? == 1,
            caller: row.text(3)?,
            expires_at: row.int(4)?,
            is_cancelled: row.opt_int(5)?.is_some(),
        })
    })
    .transpose()
}

/// A cart in a list.
pub struct ListedCart {
    pub cart: String,
    pub is_reserved: bool,
    pub caller: String,
    pub created_at: i64,
    pub expires_at: i64,
    pub is_cancelled: bool,
}

/// A page of all carts. Those that expire last come first, which are the newest.
pub fn listed_carts(sql: &mut dyn Sql, (offset, limit): (usize, usize)) -> Result<Vec<ListedCart>> {
    let number = |count: usize| i64::try_from(count).map_err(Error::internal);
    sql.query(
        "SELECT cart, is_reserved, caller, created_at, expires_at, cancelled_at \
         FROM merchant_carts ORDER BY expires_at DESC, id LIMIT $1 OFFSET $2",
        &[Param::Int(number(limit)?), Param::Int(number(offset)?)],
    )?
    .iter()
    .map(|row| {
        Ok(ListedCart {
            cart: row.text(0)?,
            is_reserved: row.int(1)? == 1,
            caller: row.text(2)?,
            created_at: row.int(3)?,
            expires_at: row.int(4)?,
            is_cancelled: row.opt_int(5)?.is_some(),
        })
    })
    .collect()
}

/// Ends the cart and releases what it has reserved.
pub fn cancel_cart(sql: &mut dyn Sql, id: &str, now: i64) -> Result<()> {
    sql.execute(
        "UPDATE merchant_carts SET cancelled_at = $2 WHERE id = $1 AND cancelled_at IS NULL",
        &[Param::Text(id), Param::Int(now)],
    )?;
    release(sql, id)
}

/// Releases what the cart has reserved.
pub fn release(sql: &mut dyn Sql, id: &str) -> Result<()> {
    sql.execute(
        "DELETE FROM merchant_reservations WHERE cart_id = $1",
        &[Param::Text(id)],
    )?;
    Ok(())
}

/// Deletes reservations that ended before `reserved_before`, and carts that ended
/// before `carts_before`.
pub fn drop_expired(sql: &mut dyn Sql, reserved_before: i64, carts_before: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM merchant_reservations WHERE expires_at <= $1",
        &[Param::Int(reserved_before)],
    )?;
    sql.execute(
        "DELETE FROM merchant_carts WHERE expires_at <= $1",
        &[Param::Int(carts_before)],
    )?;
    Ok(())
}
