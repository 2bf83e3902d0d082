//! Names that keys hold, and rooms that keys created. `owners.json` is guarded
//! by the registry's lock, so that of two keys that want the same name at the
//! same moment one gets it, whichever processes they come through.

use std::sync::Arc;

use jiff::Timestamp;
use kit::Result;

use super::{Room, Store, cached::State, lock};
use crate::{
    errors,
    model::{
        message::written,
        names::RoomName,
        owners::{Actor, Holder, KeyRef, Owners, Standing},
    },
};

impl Store {
    fn owners(&self) -> Result<Arc<Owners>> {
        match self
            .owners
            .state(self.dir.root())
            .map_err(errors::storage)?
        {
            State::Read(owners) => Ok(owners),
            State::Absent => Ok(Arc::default()),
            // To take it for empty would free what somebody holds.
            State::Damaged => Err(errors::owners_damaged()),
        }
    }

    /// An error if `agent` is a name that another key holds.
    pub fn may_use(&self, actor: &Actor, agent: &str) -> Result<()> {
        self.standing(actor, agent).map(drop)
    }

    fn standing(&self, actor: &Actor, agent: &str) -> Result<Standing> {
        if *actor == Actor::Local {
            return Ok(Standing::Theirs);
        }
        match self.owners()?.standing(actor, agent) {
            Standing::Taken => Err(errors::agent_name_taken(agent, actor)),
            standing => Ok(standing),
        }
    }

    /// Before a member acts: its name belongs to this key from now on, unless it
    /// belongs to another.
    pub fn act(&self, actor: &Actor, room: &Room, agent: &str, now: Timestamp) -> Result<()> {
        if self.standing(actor, agent)? == Standing::Free {
            self.require_member(room, agent)?;
            self.claim(actor, agent, now)?;
        }
        Ok(())
    }

    /// Makes a name belong to the key, if there is one and the name is free.
    pub fn claim(&self, actor: &Actor, agent: &str, now: Timestamp) -> Result<()> {
        let Actor::Key(key) = actor else {
            return self.may_use(actor, agent);
        };
        if self.standing(actor, agent)? == Standing::Theirs {
            return Ok(());
        }
        let _registry = lock::registry(&self.dir, self.settings.lock_timeout())?;
        // Another may have been quicker.
        if self.standing(actor, agent)? == Standing::Theirs {
            return Ok(());
        }
        let mut owners = Owners::clone(&*self.owners()?);
        let most = self.settings.max_names_per_key.get();
        if owners.held_by(key) >= most as usize {
            return Err(errors::too_many_names_of_key(most));
        }
        let most = self.settings.max_names.get();
        if owners.count() >= most as usize {
            return Err(errors::too_many_names(most));
        }
        owners.hold(agent, key, written(now));
        self.save_owners(&owners)
    }

    fn save_owners(&self, owners: &Owners) -> Result<()> {
        self.owners
            .save(self.dir.root(), owners, true)
            .map_err(errors::storage)
    }

    /// An error unless `remover` may delete or clear a room.
    pub(super) fn may_remove(&self, remover: &Remover, room: &RoomName) -> Result<()> {
        if remover.actor == Actor::Local || remover.is_named {
            return Ok(());
        }
        match self.owners()?.may_remove(&remover.actor, room) {
            true => Ok(()),
            false => Err(errors::room_of_another_key(room.as_str())),
        }
    }

    /// Notes who creates a room. Under the registry's lock, before the room is there.
    pub(super) fn note_creator(
        &self,
        room: &RoomName,
        actor: &Actor,
        exists: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let known = match self.owners() {
            Ok(known) => known,
            // The user's own processes work without the file.
            Err(_) if *actor == Actor::Local => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut owners = Owners::clone(&known);
        match owners.created(room, actor, exists) {
            true => self.save_owners(&owners),
            false => Ok(()),
        }
    }

    /// Forgets who created a room, under the registry's lock. Should it fail,
    /// [`Self::note_creator`] does it for the next room of that name.
    pub(super) fn forget_creator(&self, room: &RoomName) {
        let forgotten = self.owners().and_then(|known| {
            let mut owners = Owners::clone(&known);
            match owners.deleted(room) {
                true => self.save_owners(&owners),
                false => Ok(()),
            }
        });
        if let Err(error) = forgotten {
            tracing::warn!(%error, cause = ?error.cause, %room, "who created a deleted room is still noted");
        }
    }

    /// Every name that a key holds.
    pub fn held_names(&self) -> Result<Vec<Holder>> {
        Ok(self.owners()?.holders().cloned().collect())
    }

    /// Makes a name free for whichever key uses it next.
    pub fn release_name(&self, name: &str) -> Result<Holder> {
        self.change_holder(name, |owners| owners.release(name))
    }

    /// Lets another key use a name too.
    pub fn share_name(&self, name: &str, key: &KeyRef) -> Result<Holder> {
        self.change_holder(name, |owners| {
            let holder = owners.holder_mut(name)?;
            holder.shared_with.retain(|known| known.id != key.id);
            if holder.key.id != key.id {
                holder.shared_with.push(key.clone());
            }
            Some(holder.clone())
        })
    }

    /// Takes a name back from a key that it was shared with, by its id or name.
    pub fn unshare_name(&self, name: &str, key: &str) -> Result<Holder> {
        self.change_holder(name, |owners| {
            let holder = owners.holder_mut(name)?;
            let before = holder.shared_with.len();
            holder
                .shared_with
                .retain(|known| known.id != key && known.name != key);
            (holder.shared_with.len() < before).then(|| holder.clone())
        })
    }

    fn change_holder(
        &self,
        name: &str,
        change: impl FnOnce(&mut Owners) -> Option<Holder>,
    ) -> Result<Holder> {
        if self.owners()?.holder(name).is_none() {
            return Err(errors::name_not_held(name));
        }
        let _registry = lock::registry(&self.dir, self.settings.lock_timeout())?;
        let mut owners = Owners::clone(&*self.owners()?);
        let holder = change(&mut owners).ok_or_else(|| errors::name_not_shared(name))?;
        self.save_owners(&owners)?;
        Ok(holder)
    }
}

/// Who wants to throw a room or its messages away.
pub struct Remover {
    pub actor: Actor,
    /// Whether its key's scope names the tool that does it.
    pub is_named: bool,
}

impl Remover {
    pub fn of(context: &kit::Context) -> Self {
        Self {
            actor: Actor::of(context),
            is_named: context.key_names_tool,
        }
    }
}
