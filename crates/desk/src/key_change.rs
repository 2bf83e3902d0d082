//! People create, rotate and revoke API keys. Each attempt leaves a record, which has
//! the name and the id of the key and never its secret.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Caller, Error, Result, Sql, sql::Budget};
use serde_json::{Map, Value, json};

use crate::{
    audit::acts::{DESK, KEY_CREATE, KEY_REVOKE, KEY_ROTATE},
    desk::Desk,
    desk_act::DeskAct,
    keys::{self, NAME_TAKEN, NewKey, StoredKey},
    state,
};

/// Creates a key. The second part of the result is the key itself, which is stored
/// nowhere.
pub async fn create(
    desk: &Arc<Desk>,
    caller: Caller,
    wanted: NewKey,
) -> Result<(StoredKey, String)> {
    insert_if(desk, caller, wanted, |sql, wanted, now| {
        keys::check_name_is_free(sql, &wanted.name, now)
    })
    .await
}

/// Creates a key unless there is or ever was one. If several desks start on one
/// database at the same time, one of them creates it.
pub async fn create_first(desk: &Arc<Desk>, wanted: NewKey) -> Result<Option<(StoredKey, String)>> {
    let store = &desk.state.get().await?.store;
    if store.query(Budget::default(), keys::exist).await? {
        return Ok(None);
    }
    let created = insert_if(desk, Caller::desk(), wanted, |sql, wanted, _| {
        // A second desk has waited for the first, and finds its key.
        match keys::exist(sql)? {
            true => Err(keys::name_taken(&wanted.name, "Another key")),
            false => Ok(()),
        }
    });
    match created.await {
        Err(error) if error.code == NAME_TAKEN => Ok(None),
        created => created.map(Some),
    }
}

async fn insert_if(
    desk: &Arc<Desk>,
    caller: Caller,
    wanted: NewKey,
    check: impl Fn(&mut dyn Sql, &NewKey, i64) -> Result<()> + Send + 'static,
) -> Result<(StoredKey, String)> {
    // First: the database may set the clock.
    let keyed = desk.state.get().await?.keys.clone();
    let now = desk.clock.now().as_millisecond();
    let wanted = keys::checked(wanted, now)?;
    let id = keys::new_id();
    let expires_at = wanted.expires_at.and_then(time);
    let mut arguments = named(&wanted.name, &id);
    arguments.extend([
        ("counters".to_owned(), json!(wanted.counters)),
        ("tools".to_owned(), json!(wanted.tools)),
        ("read_only".to_owned(), json!(wanted.read_only)),
        (
            "trust_client_prompts".to_owned(),
            json!(wanted.trust_client_prompts),
        ),
        ("expires_at".to_owned(), json!(expires_at)),
        ("file".to_owned(), json!(wanted.file)),
    ]);
    let act = act(caller, KEY_CREATE, arguments);
    recorded(desk, act, move |sql| {
        check(sql, &wanted, now)?;
        keys::insert(sql, &keyed, &id, &wanted, now)
    })
    .await
}

/// Makes a new secret for a key. The old one stays valid for `grace_ms`.
pub async fn rotate(
    desk: &Arc<Desk>,
    caller: Caller,
    id_or_name: &str,
    grace_ms: i64,
) -> Result<(StoredKey, String)> {
    let (found, now) = find(desk, id_or_name).await?;
    let until = now + grace_ms;
    let mut arguments = named(&found.name, &found.id);
    arguments.insert("old_valid_until".into(), json!(time(until)));
    let keyed = desk.state.get().await?.keys.clone();
    let act = act(caller, KEY_ROTATE, arguments);
    recorded(desk, act, move |sql| {
        keys::rotate(sql, &keyed, &found.id, until)
    })
    .await
}

/// Finds the key by id, or by name if it is still valid.
pub async fn revoke(desk: &Arc<Desk>, caller: Caller, id_or_name: &str) -> Result<StoredKey> {
    let (found, now) = find(desk, id_or_name).await?;
    let act = act(caller, KEY_REVOKE, named(&found.name, &found.id));
    recorded(desk, act, move |sql| keys::revoke(sql, &found.id, now)).await
}

/// Before anything is recorded: people may give the key itself, which is a secret.
async fn find(desk: &Desk, id_or_name: &str) -> Result<(StoredKey, i64)> {
    let store = &desk.state.get().await?.store;
    let now = desk.clock.now().as_millisecond();
    let wanted = id_or_name.to_owned();
    let find = move |sql: &mut dyn Sql| keys::find(sql, &wanted, now);
    Ok((store.query(Budget::default(), find).await?, now))
}

fn act(caller: Caller, name: &'static str, arguments: Map<String, Value>) -> DeskAct {
    DeskAct {
        caller,
        counter: DESK,
        name,
        arguments,
        rows: state::KEYS,
    }
}

fn named(name: &str, id: &str) -> Map<String, Value> {
    Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("id".to_owned(), json!(id)),
    ])
}

fn time(at_ms: i64) -> Option<String> {
    let at = Timestamp::from_millisecond(at_ms).ok();
    at.map(|at| at.to_string())
}

/// It goes on when the browser leaves, so that the record says what was done.
async fn recorded<T: Send + 'static>(
    desk: &Arc<Desk>,
    act: DeskAct,
    work: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
) -> Result<T> {
    let own = Arc::clone(desk);
    let work = async move { act.run(&own, Ok(()), work).await };
    desk.in_flight.spawn(work).await.map_err(Error::internal)?
}
