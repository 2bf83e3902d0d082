//! Names that keys hold.

use jiff::Timestamp;
use kit::{Result, Row, Sql};

use super::{
    rows,
    tables::{Tables, count, lock_all},
};
use crate::{
    errors,
    model::{
        message::written,
        names::{self, RoomName},
        owners::{Actor, Holder, KeyRef, NameStatus},
    },
    store::call::Call,
};

macro_rules! holder_columns {
    () => {
        "name, key_id, key_name, since, shared_with"
    };
}

fn holder(row: &Row) -> Result<Holder> {
    let key = KeyRef {
        id: row.text(1)?,
        name: row.text(2)?,
    };
    let shared_with = serde_json::from_str(&row.text(4)?).unwrap_or_default();
    Ok(Holder::new(row.text(0)?, key, row.text(3)?, shared_with))
}

/// Every name that a key holds, by name.
pub fn held(sql: &mut dyn Sql) -> Result<Vec<Holder>> {
    let all = concat!(
        "SELECT ",
        holder_columns!(),
        " FROM rooms_names ORDER BY visible"
    );
    sql.query(all, &[])?.iter().map(holder).collect()
}

fn holder_of(sql: &mut dyn Sql, name: &str) -> Result<Option<Holder>> {
    let one = concat!(
        "SELECT ",
        holder_columns!(),
        " FROM rooms_names WHERE visible = $1"
    );
    let row = sql.query_one(one, &[(&names::visible(name)).into()])?;
    row.as_ref().map(holder).transpose()
}

/// Whether somebody may use a name; an error if another key holds it.
pub fn name_status(sql: &mut dyn Sql, actor: &Actor, agent: &str) -> Result<NameStatus> {
    if *actor == Actor::Local {
        return Ok(NameStatus::Theirs);
    }
    match Holder::name_status(holder_of(sql, agent)?.as_ref(), actor) {
        NameStatus::Taken => Err(errors::agent_name_taken(agent, actor.has_key())),
        name_status => Ok(name_status),
    }
}

/// An error if `agent` is a name that another key holds.
pub fn may_use(sql: &mut dyn Sql, actor: &Actor, agent: &str) -> Result<()> {
    name_status(sql, actor, agent).map(drop)
}

impl Tables {
    /// Makes a name belong to the key, if there is one and the name is free. Under
    /// [`lock_all`].
    pub fn claim(
        &self,
        sql: &mut dyn Sql,
        actor: &Actor,
        agent: &str,
        now: Timestamp,
    ) -> Result<()> {
        // Another may have been quicker.
        let name_status = name_status(sql, actor, agent)?;
        let Actor::Key(key) = actor else {
            return Ok(());
        };
        if name_status == NameStatus::Theirs {
            return Ok(());
        }
        let held = "SELECT COUNT(*), COUNT(CASE WHEN key_id = $1 THEN 1 END) FROM rooms_names";
        let held = sql.query_one(held, &[(&key.id).into()])?;
        let (all, own) = match &held {
            Some(row) => (count(row.int(0)?), count(row.int(1)?)),
            None => (0, 0),
        };
        let most = self.settings.max_names_per_key.get();
        if own >= most as usize {
            return Err(errors::too_many_names_of_key(most));
        }
        let most = self.settings.max_names.get();
        if all >= most as usize {
            return Err(errors::too_many_names(most));
        }
        let holder = Holder::new(agent.to_owned(), key.clone(), written(now), Vec::new());
        insert(sql, &holder)
    }

    /// Call it before a member acts, and before its room is locked. A free name then
    /// belongs to the caller's key; a name of another key is an error.
    pub fn act(&self, sql: &mut dyn Sql, call: &Call, room: &RoomName, agent: &str) -> Result<()> {
        if name_status(sql, &call.actor, agent)? == NameStatus::Free {
            require_member(sql, room, agent)?;
            if call.actor.has_key() {
                lock_all(sql)?;
                self.claim(sql, &call.actor, agent, call.now())?;
            }
        }
        Ok(())
    }
}

/// An error unless `agent` is a member.
fn require_member(sql: &mut dyn Sql, room: &RoomName, agent: &str) -> Result<()> {
    let room = rows::room(sql, room)?;
    let member = "SELECT 1 FROM rooms_members WHERE room = $1 AND agent = $2 AND is_member = 1";
    match sql.query_one(member, &[room.id.into(), agent.into()])? {
        Some(_) => Ok(()),
        None => Err(names::not_in_room(agent, room.name())),
    }
}

pub fn insert(sql: &mut dyn Sql, holder: &Holder) -> Result<()> {
    let shared = serde_json::to_string(&holder.shared_with).map_err(kit::Error::internal)?;
    sql.execute(
        "INSERT INTO rooms_names (visible, name, key_id, key_name, since, shared_with)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (visible) DO UPDATE SET shared_with = excluded.shared_with",
        &[
            (&names::visible(&holder.name)).into(),
            (&holder.name).into(),
            (&holder.key.id).into(),
            (&holder.key.name).into(),
            (&holder.since).into(),
            (&shared).into(),
        ],
    )?;
    Ok(())
}

/// Makes a name free for whichever key uses it next.
pub fn release(sql: &mut dyn Sql, name: &str) -> Result<Holder> {
    lock_all(sql)?;
    let holder = holder_of(sql, name)?.ok_or_else(|| errors::name_not_held(name))?;
    let visible = names::visible(name);
    sql.execute(
        "DELETE FROM rooms_names WHERE visible = $1",
        &[(&visible).into()],
    )?;
    Ok(holder)
}

/// Changes who may use a name besides its holder. `change` returns whether it did.
pub fn change_sharing(
    sql: &mut dyn Sql,
    name: &str,
    change: impl FnOnce(&mut Holder) -> bool,
) -> Result<Holder> {
    lock_all(sql)?;
    let holder = holder_of(sql, name)?;
    let mut holder = holder.ok_or_else(|| errors::name_not_held(name))?;
    if !change(&mut holder) {
        return Err(errors::name_not_shared(name));
    }
    insert(sql, &holder)?;
    Ok(holder)
}
