//! One-time links into the console. Whoever can make one has the data: the desk
//! itself, or the user at a shell. Only a keyed digest is kept of each.

use desk::{digest::hex, state::OpenState};
use kit::{Result, sql::Budget};

/// How long an unused link is valid.
pub const LASTS_MS: i64 = 10 * 60 * 1000;

/// 160 bits.
const LENGTH: usize = 32;

fn hash(state: &OpenState, token: &str) -> String {
    hex(&state.secret.mac("console link", token.as_bytes()))
}

/// Makes a link's token.
pub async fn create(state: &OpenState, now: i64) -> Result<String> {
    let token = kit::ids::random("", LENGTH);
    let hash = hash(state, &token);
    state
        .store
        .transaction(Budget::default(), move |sql| {
            sql.execute(
                "DELETE FROM desk_links WHERE expires_at <= $1",
                &[now.into()],
            )?;
            sql.execute(
                "INSERT INTO desk_links (hash, expires_at) VALUES ($1, $2)",
                &[(&hash).into(), (now + LASTS_MS).into()],
            )
        })
        .await?;
    Ok(token)
}

/// Whether it would open the console. This does not use it up: browsers and
/// messengers fetch links before anybody follows them.
pub async fn is_good(state: &OpenState, token: &str, now: i64) -> Result<bool> {
    let hash = hash(state, token);
    state
        .store
        .query(Budget::default(), move |sql| {
            let row = sql.query_one(
                "SELECT 1 FROM desk_links WHERE hash = $1 AND expires_at > $2",
                &[(&hash).into(), now.into()],
            )?;
            Ok(row.is_some())
        })
        .await
}

/// Uses it up. Of several who try at once, one gets in.
pub async fn redeem(state: &OpenState, token: &str, now: i64) -> Result<bool> {
    let hash = hash(state, token);
    state
        .store
        .transaction(Budget::default(), move |sql| {
            let row = sql.query_one(
                "DELETE FROM desk_links WHERE hash = $1 RETURNING expires_at",
                &[(&hash).into()],
            )?;
            let expires_at = row.map(|row| row.int(0)).transpose()?;
            Ok(expires_at.is_some_and(|at| at > now))
        })
        .await
}

/// The link itself, to the console at this address.
pub fn address(console: &str, token: &str) -> String {
    format!("{console}/console/open?token={token}")
}
