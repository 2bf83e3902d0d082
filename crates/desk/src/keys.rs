//! The rows of API keys. People change them through `key_change.rs`, which records it;
//! the station that checks keys is `stations/identify.rs`.
//!
//! A key has the form `mdg_ID_SECRET`. The id is public: it names the key in lists,
//! logs and the audit trail. Only a keyed digest of the whole key is stored. So the
//! rows alone open nothing, and nobody can forge a row without the desk's secret.

use kit::{
    Error, Result, Row, Sql,
    sql::{Budget, Param},
    text::visible,
};

use crate::{
    digest::hex,
    state::{Keyed, OpenState},
};

const PREFIX: &str = "mdg_";
const ID_LENGTH: usize = 12;
/// 130 bits.
const SECRET_LENGTH: usize = 26;

/// The wanted rights of a new key.
#[derive(Debug, Clone, Default)]
pub struct NewKey {
    pub name: String,
    /// Empty: all of them.
    pub counters: Vec<String>,
    /// Empty: all except those that a key must name.
    pub tools: Vec<String>,
    pub read_only: bool,
    /// Whether the client's own prompt may answer for the user.
    pub trust_client_prompts: bool,
    pub expires_at: Option<i64>,
    /// The key is part of an address and opens only this file of its one counter.
    pub file: Option<String>,
}

/// A stored key. Times are milliseconds since 1970.
#[derive(Debug, Clone)]
pub struct StoredKey {
    pub id: String,
    pub name: String,
    pub counters: Vec<String>,
    pub tools: Vec<String>,
    pub read_only: bool,
    pub trust_client_prompts: bool,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub revoked_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub file: Option<String>,
    pub hash: String,
    /// The hash before the last rotation, and until when it is valid.
    pub previous: Option<(String, i64)>,
}

const COLUMNS: &str = "id, name, counters, tools, read_only, trust_client_prompts, created_at,
    expires_at, revoked_at, last_used_at, hash, previous_hash, previous_until, file";

/// The public id in a key.
pub fn id_of(key: &str) -> Option<&str> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    (id.len() == ID_LENGTH && secret.len() == SECRET_LENGTH).then_some(id)
}

fn new_key(id: &str) -> String {
    kit::ids::random(&format!("{PREFIX}{id}_"), SECRET_LENGTH)
}

/// The public id of a new key.
pub(crate) fn new_id() -> String {
    kit::ids::random("", ID_LENGTH)
}

/// Whether there is a key or ever was one.
pub(crate) fn exist(sql: &mut dyn Sql) -> Result<bool> {
    let row = sql.query_one("SELECT 1 FROM desk_keys LIMIT 1", &[])?;
    Ok(row.is_some())
}

/// The code of the error about a name that another key has.
pub(crate) const NAME_TAKEN: &str = "KEY_NAME_TAKEN";

pub(crate) fn name_taken(name: &str, by: &str) -> Error {
    let what = format!("{by} already has the name `{name}`.");
    Error::new(NAME_TAKEN, what).next("Choose another name, or revoke or rotate that key.")
}

/// Names tell keys apart while they are valid.
pub(crate) fn check_name_is_free(sql: &mut dyn Sql, name: &str, now: i64) -> Result<()> {
    match named(sql, name, now)? {
        None => Ok(()),
        Some(other) => Err(name_taken(name, &format!("The key {other}"))),
    }
}

/// The hint for a name that is not allowed.
pub const NAME_RULE: &str = "Name it after its user, such as claude-desktop: 1 to 100 visible characters \
     on one line, not beginning with `key:`, and not a name of callers without a key, such as \
     anonymous.";

/// Names of callers without a key. A key with such a name would be mistaken for them
/// in approvals and in the audit trail.
const OTHER_CALLERS: [&str; 8] = [
    "anonymous",
    "console",
    "desk",
    "local",
    "local user",
    "madoguchi",
    "the desk",
    "unknown",
];

/// Whether a key may have this name.
pub fn is_name(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    visible(name) == name
        && (1..=100).contains(&name.chars().count())
        && !lower.is_empty()
        && !lower.starts_with("key:")
        && !OTHER_CALLERS.contains(&lower.as_str())
}

/// Refuses names that mislead, and keys that would have expired.
pub(crate) fn checked(mut wanted: NewKey, now: i64) -> Result<NewKey> {
    wanted.name = wanted.name.trim().to_owned();
    if !is_name(&wanted.name) {
        let what = "A key can't have this name.";
        return Err(Error::new("INVALID_KEY_NAME", what).next(NAME_RULE));
    }
    if wanted.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::new(
            "ALREADY_EXPIRED",
            "The key would expire before it is created.",
        ));
    }
    Ok(wanted)
}

/// Stores a new key. The second part of the result is the key itself.
pub(crate) fn insert(
    sql: &mut dyn Sql,
    keyed: &Keyed,
    id: &str,
    wanted: &NewKey,
    now: i64,
) -> Result<(StoredKey, String)> {
    let key = new_key(id);
    let hash = hex(&keyed.mac(key.as_bytes()));
    sql.execute(
        "INSERT INTO desk_keys (id, name, hash, counters, tools, read_only,
             trust_client_prompts, created_at, expires_at, file)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            id.into(),
            (&wanted.name).into(),
            (&hash).into(),
            (&wanted.counters.join(",")).into(),
            (&wanted.tools.join(",")).into(),
            i64::from(wanted.read_only).into(),
            i64::from(wanted.trust_client_prompts).into(),
            now.into(),
            wanted.expires_at.into(),
            wanted.file.as_deref().into(),
        ],
    )?;
    Ok((one(sql, id)?, key))
}

impl StoredKey {
    /// The path of its file under the desk's own address.
    pub fn path(&self, key: &str) -> Option<String> {
        let (file, counter) = (self.file.as_ref()?, self.counters.first()?);
        Some(format!("/files/{counter}/{key}/{file}"))
    }
}

/// All keys, newest first, including revoked ones.
pub async fn list(state: &OpenState) -> Result<Vec<StoredKey>> {
    state.store.query(Budget::default(), all).await
}

pub fn all(sql: &mut dyn Sql) -> Result<Vec<StoredKey>> {
    let text = format!("SELECT {COLUMNS} FROM desk_keys ORDER BY created_at DESC, id");
    sql.query(&text, &[])?.iter().map(kept).collect()
}

pub(crate) fn revoke(sql: &mut dyn Sql, id: &str, now: i64) -> Result<StoredKey> {
    sql.execute(
        "UPDATE desk_keys SET revoked_at = $1, previous_hash = NULL
             WHERE id = $2 AND revoked_at IS NULL",
        &[now.into(), id.into()],
    )?;
    one(sql, id)
}

/// Makes a new secret for a key. The old one stays valid until then.
pub(crate) fn rotate(
    sql: &mut dyn Sql,
    keyed: &Keyed,
    id: &str,
    old_until: i64,
) -> Result<(StoredKey, String)> {
    let key = new_key(id);
    let hash = hex(&keyed.mac(key.as_bytes()));
    let rotated = sql.execute(
        "UPDATE desk_keys SET previous_hash = hash, previous_until = $1, hash = $2
             WHERE id = $3 AND revoked_at IS NULL",
        &[old_until.into(), (&hash).into(), id.into()],
    )?;
    if rotated == 0 {
        return Err(Error::new(
            "KEY_REVOKED",
            format!("The key {id} is revoked, which can't be undone."),
        )
        .next("Create a new one with: madoguchi keys create NAME"));
    }
    Ok((one(sql, id)?, key))
}

/// Stores when keys were last used.
pub async fn note_use(state: &OpenState, used: Vec<(String, i64)>) -> Result<()> {
    state
        .store
        .transaction(Budget::default(), move |sql| {
            for (id, at) in &used {
                sql.execute(
                    "UPDATE desk_keys SET last_used_at = $1 WHERE id = $2",
                    &[(*at).into(), id.into()],
                )?;
            }
            Ok(())
        })
        .await
}

fn named(sql: &mut dyn Sql, name: &str, now: i64) -> Result<Option<String>> {
    let row = sql.query_one(
        "SELECT id FROM desk_keys WHERE name = $1 AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > $2)",
        &[name.into(), now.into()],
    )?;
    row.map(|row| row.text(0)).transpose()
}

/// By id, or by name if it is still valid.
pub(crate) fn find(sql: &mut dyn Sql, id_or_name: &str, now: i64) -> Result<StoredKey> {
    let id = id_of(id_or_name).unwrap_or(id_or_name);
    let known = sql.query_one("SELECT id FROM desk_keys WHERE id = $1", &[id.into()])?;
    let known = known.map(|row| row.text(0)).transpose()?;
    let found = match known {
        Some(id) => Some(id),
        None => named(sql, id_or_name, now)?,
    };
    match found {
        Some(id) => one(sql, &id),
        None => Err(
            Error::new("KEY_NOT_FOUND", "There is no key with this id or name.")
                .next("List the keys with: madoguchi keys list"),
        ),
    }
}

fn one(sql: &mut dyn Sql, id: &str) -> Result<StoredKey> {
    let text = format!("SELECT {COLUMNS} FROM desk_keys WHERE id = $1");
    let row = sql.query_one(&text, &[Param::Text(id)])?;
    kept(&row.ok_or_else(|| Error::internal("a key has no row"))?)
}

fn kept(row: &Row) -> Result<StoredKey> {
    let names = |text: String| -> Vec<String> {
        let names = text.split(',').filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let previous = match (row.opt_text(11)?, row.opt_int(12)?) {
        (Some(hash), Some(until)) => Some((hash, until)),
        _ => None,
    };
    Ok(StoredKey {
        id: row.text(0)?,
        name: row.text(1)?,
        counters: names(row.text(2)?),
        tools: names(row.text(3)?),
        read_only: row.int(4)? != 0,
        trust_client_prompts: row.int(5)? != 0,
        created_at: row.int(6)?,
        expires_at: row.opt_int(7)?,
        revoked_at: row.opt_int(8)?,
        last_used_at: row.opt_int(9)?,
        hash: row.text(10)?,
        previous,
        file: row.opt_text(13)?,
    })
}
