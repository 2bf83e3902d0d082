//! `owners.json`: names that keys hold, and rooms that keys created. The
//! registry's lock guards it, so that only one of two keys gets a name that both
//! want at the same moment, whichever processes they call.

use std::sync::Arc;

use jiff::Timestamp;
use kit::Result;

use super::{
    cached::{Cached, State},
    data::DataDir,
    dir::OWNERS,
};
use crate::{
    errors,
    model::{
        message::written,
        names::RoomName,
        owners::{Actor, Holder, KeyRef, NameStatus, Owners},
    },
    store::call::Call,
};

pub struct NameOwners {
    data: Arc<DataDir>,
    file: Cached<Owners>,
}

impl NameOwners {
    /// Touches no file.
    pub fn new(data: &Arc<DataDir>) -> Self {
        Self {
            data: Arc::clone(data),
            file: Cached::new(OWNERS),
        }
    }

    pub fn load(&self) -> Result<Arc<Owners>> {
        let state = self.file.state(self.data.dir.root());
        match state.map_err(errors::storage)? {
            State::Read(owners) => Ok(owners),
            State::Absent => Ok(Arc::default()),
            // To take it for empty would free what somebody holds.
            State::Damaged => Err(errors::owners_damaged()),
        }
    }

    /// An error if `agent` is a name that another key holds.
    pub fn may_use(&self, actor: &Actor, agent: &str) -> Result<()> {
        self.name_status(actor, agent).map(drop)
    }

    pub fn name_status(&self, actor: &Actor, agent: &str) -> Result<NameStatus> {
        if *actor == Actor::Local {
            return Ok(NameStatus::Theirs);
        }
        match self.load()?.name_status(actor, agent) {
            NameStatus::Taken => Err(errors::agent_name_taken(agent, actor.has_key())),
            name_status => Ok(name_status),
        }
    }

    /// Makes a name belong to the key, if there is one and the name is free.
    pub fn claim(&self, actor: &Actor, agent: &str, now: Timestamp) -> Result<()> {
        let Actor::Key(key) = actor else {
            return self.may_use(actor, agent);
        };
        if self.name_status(actor, agent)? == NameStatus::Theirs {
            return Ok(());
        }
        let _registry = self.data.lock_registry()?;
        // Another may have been quicker.
        if self.name_status(actor, agent)? == NameStatus::Theirs {
            return Ok(());
        }
        let mut owners = Owners::clone(&*self.load()?);
        let most = self.data.settings.max_names_per_key.get();
        if owners.held_by(key) >= most as usize {
            return Err(errors::too_many_names_of_key(most));
        }
        let most = self.data.settings.max_names.get();
        if owners.count() >= most as usize {
            return Err(errors::too_many_names(most));
        }
        owners.hold(agent, key, written(now));
        self.save(&owners)
    }

    fn save(&self, owners: &Owners) -> Result<()> {
        let saved = self.file.save(self.data.dir.root(), owners, true);
        saved.map_err(errors::storage)
    }

    /// An error unless the caller may delete or clear a room.
    pub fn may_remove(&self, call: &Call, room: &RoomName) -> Result<()> {
        if call.actor == Actor::Local || call.key_names_tool {
            return Ok(());
        }
        match self.load()?.may_remove(&call.actor, room) {
            true => Ok(()),
            false => Err(errors::room_of_another_key(room.as_str())),
        }
    }

    /// Notes who creates a room. Under the registry's lock, before the room is there.
    pub fn note_creator(
        &self,
        room: &RoomName,
        actor: &Actor,
        exists: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let known = match self.load() {
            Ok(known) => known,
            // The user's own processes work without the file.
            Err(_) if *actor == Actor::Local => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut owners = Owners::clone(&known);
        match owners.created(room, actor, exists) {
            true => self.save(&owners),
            false => Ok(()),
        }
    }

    /// Forgets who created a room, under the registry's lock. Should it fail,
    /// [`Self::note_creator`] does it for the next room of that name.
    pub fn forget_creator(&self, room: &RoomName) {
        let forgotten = self.load().and_then(|known| {
            let mut owners = Owners::clone(&known);
            match owners.deleted(room) {
                true => self.save(&owners),
                false => Ok(()),
            }
        });
        if let Err(error) = forgotten {
            tracing::warn!(%error, cause = ?error.cause, %room, "who created a deleted room is still noted");
        }
    }

    /// What is wrong with the file, or was, in words.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let root = self.data.dir.root();
        Ok(match self.file.state(root).map_err(errors::storage)? {
            State::Absent => Vec::new(),
            State::Damaged => vec![format!(
                "{OWNERS} is damaged: agents that call over a network are refused until it is \
                 repaired."
            )],
            State::Read(_) => self.file.warnings(root).map_err(errors::storage)?,
        })
    }

    /// Every name that a key holds.
    pub fn held(&self) -> Result<Vec<Holder>> {
        Ok(self.load()?.holders().cloned().collect())
    }

    /// Makes a name free for whichever key uses it next.
    pub fn release(&self, name: &str) -> Result<Holder> {
        self.change_holder(name, |owners| owners.release(name))
    }

    /// Lets another key use a name too.
    pub fn share(&self, name: &str, key: &KeyRef) -> Result<Holder> {
        self.change_holder(name, |owners| {
            let holder = owners.holder_mut(name)?;
            holder.share(key);
            Some(holder.clone())
        })
    }

    /// Takes a name back from a key that it was shared with, by its id or name.
    pub fn unshare(&self, name: &str, key: &str) -> Result<Holder> {
        self.change_holder(name, |owners| {
            let holder = owners.holder_mut(name)?;
            holder.unshare(key).then(|| holder.clone())
        })
    }

    fn change_holder(
        &self,
        name: &str,
        change: impl FnOnce(&mut Owners) -> Option<Holder>,
    ) -> Result<Holder> {
        if self.load()?.holder(name).is_none() {
            return Err(errors::name_not_held(name));
        }
        let _registry = self.data.lock_registry()?;
        let mut owners = Owners::clone(&*self.load()?);
        let holder = change(&mut owners).ok_or_else(|| errors::name_not_shared(name))?;
        self.save(&owners)?;
        Ok(holder)
    }
}
