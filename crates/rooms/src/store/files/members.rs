//! Who is in a room: `presence.json`, and `activity.json` with their signs of
//! life (`signs_of_life`).

mod absence;
mod restored;
mod signs_of_life;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kit::Result;

use super::{
    cached::{Cached, State},
    dir::{ACTIVITY, LOG, PRESENCE, Stamp},
    lock::{Guarded, Held},
    log::Log,
    read_positions::ReadPositions,
    room_dir::RoomDir,
};
use crate::{
    errors,
    model::{
        members::{Activities, MAX_PROFILES, Presence, Profile, Status, User},
        message::written,
        names,
    },
    store::rooms::Member,
};

pub struct Members {
    at: Arc<RoomDir>,
    log: Arc<Log>,
    reads: Arc<ReadPositions>,
    presence: Cached<Presence>,
    activity: Cached<Activities>,
    restored: Mutex<Option<RestoredPresence>>,
    local: Mutex<Local>,
}

/// The members of a room whose presence file is damaged, as of this state of
/// that file, its copy and the log.
struct RestoredPresence {
    of: [Option<Stamp>; 3],
    presence: Arc<Presence>,
}

/// What only this process knows.
#[derive(Default)]
struct Local {
    /// When each agent was last heard of through this process; the file says so
    /// only now and then.
    heard: HashMap<String, Timestamp>,
    /// How many calls of each agent wait.
    waiting: HashMap<String, u32>,
    /// The presence file as subscribers last heard of it.
    told: Option<Stamp>,
}

impl Members {
    /// Touches no file.
    pub fn new(at: &Arc<RoomDir>, log: &Arc<Log>, reads: &Arc<ReadPositions>) -> Self {
        let guard = Guarded::Room(at.name.clone());
        Self {
            presence: Cached::new(PRESENCE).with_copy(&at.data.dir, guard),
            activity: Cached::new(ACTIVITY).or_empty(),
            at: Arc::clone(at),
            log: Arc::clone(log),
            reads: Arc::clone(reads),
            restored: Mutex::default(),
            local: Mutex::default(),
        }
    }

    /// What `presence.json` says, or what it should say if it is damaged.
    pub fn load(&self) -> Result<Arc<Presence>> {
        let state = self.presence.state(&self.at.path()?);
        match state.map_err(errors::storage)? {
            State::Read(presence) => Ok(presence),
            State::Absent => Ok(Arc::default()),
            State::Damaged => self.restore(),
        }
    }

    fn is_damaged(&self) -> Result<bool> {
        let state = self.presence.state(&self.at.path()?);
        Ok(matches!(state, Ok(State::Damaged)))
    }

    fn restore(&self) -> Result<Arc<Presence>> {
        let directory = self.at.path()?;
        let of = [PRESENCE, &self.presence.copy_name(), LOG];
        let of = of.map(|file| Stamp::at(&directory.join(file)));
        let mut restored = self.restored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*restored
            && known.of == of
        {
            return Ok(Arc::clone(&known.presence));
        }
        let activities = self.activities()?;
        let reads = self.reads.load()?;
        let name = self.at.name.as_str();
        let copy = self.presence.copy(&directory);
        let presence = self.log.look(|index, files| {
            restored::members(name, copy, (index, files), &activities, &reads).map(Arc::new)
        })?;
        *restored = Some(RestoredPresence {
            of,
            presence: Arc::clone(&presence),
        });
        Ok(presence)
    }

    pub fn activities(&self) -> Result<Arc<Activities>> {
        let activities = self.activity.load(&self.at.path()?);
        activities.map_err(errors::storage)
    }

    fn save_activities(&self, activities: &Activities) -> Result<()> {
        let saved = self.activity.save(&self.at.path()?, activities, false);
        saved.map_err(errors::storage)
    }

    fn local(&self) -> MutexGuard<'_, Local> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `agent` is a member.
    pub fn has(&self, agent: &str) -> Result<bool> {
        Ok(self.load()?.users.get(agent).is_some())
    }

    /// An error unless `agent` is a member.
    pub fn require(&self, agent: &str) -> Result<()> {
        match self.has(agent)? {
            true => Ok(()),
            false => Err(self.not_in_room(agent)),
        }
    }

    /// The refusal for somebody who is not a member.
    pub fn not_in_room(&self, agent: &str) -> kit::Error {
        names::not_in_room(agent, &self.at.name)
    }

    /// The members with their status of this moment, in the order they entered.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Member>> {
        let presence = self.load()?;
        let activities = self.activities()?;
        let mut lives = self.at.data.lives();
        let idle = self.at.data.settings.idle_ms();
        let heard = self.local().heard.clone();
        let members = presence.users.iter().map(|(name, user)| {
            let mut activity = activities.get(name).cloned();
            if let (Some(activity), Some(heard)) = (&mut activity, heard.get(name)) {
                activity.last_active_at = activity.last_active_at.max(*heard);
            }
            let activity = activity.as_ref();
            let status = user.status(activity, now, idle, &mut lives);
            Member {
                name: name.to_owned(),
                status,
                message_count: 0,
                profile: user.profile.clone(),
                is_waiting: status == Status::Online
                    && activity.is_some_and(|activity| activity.is_waiting(now)),
                active_at: activity.map(|activity| activity.last_active_at),
            }
        });
        let mut members: Vec<Member> = members.collect();
        self.log.look(|index, _| {
            for member in &mut members {
                member.message_count = index.sent_by(&member.name);
            }
            Ok(())
        })?;
        Ok(members)
    }

    /// An error if `agent` can't enter now. It is checked before a key claims the name, so
    /// that a refused caller takes no name.
    pub fn may_enter(&self, agent: &str, now: Timestamp) -> Result<()> {
        self.admit(&*self.load()?, agent, &*self.activities()?, now)
    }

    fn admit(
        &self,
        presence: &Presence,
        agent: &str,
        activities: &Activities,
        now: Timestamp,
    ) -> Result<()> {
        let settings = &self.at.data.settings;
        let room = self.at.name.as_str();
        if let Some(user) = presence.users.get(agent) {
            let mut lives = self.at.data.lives();
            let activity = activities.get(agent);
            return match user.status(activity, now, settings.idle_ms(), &mut lives) {
                Status::Online => Err(errors::agent_already_in_room(agent, room)),
                Status::Offline => Ok(()),
            };
        }
        names::check_newcomer(agent)?;
        let most = settings.max_members.get();
        match presence.users.len() >= most as usize {
            true => Err(errors::room_is_full(room, most)),
            false => Ok(()),
        }
    }

    /// Returns whether the agent was a member already, and had been offline.
    pub fn enter(&self, agent: &str, profile: Option<Profile>, now: Timestamp) -> Result<bool> {
        self.at.data.announce()?;
        let held = self.at.lock()?;
        // Somebody may have removed the directory and left the room on the list.
        std::fs::create_dir_all(self.at.path()?).map_err(errors::storage)?;
        let mut entered: Option<User> = None;
        let mut again = false;
        self.edit(&held, |presence| {
            let user = match &entered {
                Some(user) => user.clone(),
                None => {
                    again = presence.users.get(agent).is_some();
                    self.entering(presence, agent, profile.clone(), now)?
                }
            };
            presence.users.set(agent, user.clone());
            entered = Some(user);
            Ok(true)
        })?;
        Ok(again)
    }

    /// The entry of a newcomer, after the checks. Also notes a sign of life.
    fn entering(
        &self,
        presence: &Presence,
        agent: &str,
        profile: Option<Profile>,
        now: Timestamp,
    ) -> Result<User> {
        if let Some(profile) = &profile {
            self.refuse_large_profile(presence, agent, profile)?;
        }
        let activities = self.activities()?;
        self.admit(presence, agent, &activities, now)?;
        self.note_entered(&activities, agent, now)?;
        let Some(mut user) = presence.users.get(agent).cloned() else {
            return Ok(User::new(&written(now), profile));
        };
        user.status = Status::Online;
        user.profile = profile.or(user.profile);
        Ok(user)
    }

    fn refuse_large_profile(&self, presence: &Presence, agent: &str, new: &Profile) -> Result<()> {
        let size = |profile: &Profile| serde_json::to_string(profile).map_or(0, |text| text.len());
        let others = presence.users.iter().filter(|(name, _)| *name != agent);
        let others = others.filter_map(|(_, user)| user.profile.as_ref());
        match others.map(size).sum::<usize>() + size(new) > MAX_PROFILES {
            true => Err(errors::profiles_too_large(
                self.at.name.as_str(),
                MAX_PROFILES,
            )),
            false => Ok(()),
        }
    }

    pub fn leave(&self, agent: &str) -> Result<()> {
        let held = self.at.lock()?;
        if !self.has(agent)? {
            return Err(errors::nothing_to_leave(self.not_in_room(agent)));
        }
        self.edit(&held, |presence| Ok(presence.users.remove(agent).is_some()))?;
        let mut activities = Activities::clone(&*self.activities()?);
        if activities.remove(agent).is_some() {
            self.save_activities(&activities)?;
        }
        self.local().heard.remove(agent);
        Ok(())
    }

    /// Changes `presence.json` under its locks. `change` says whether it changed
    /// anything. It is called again if the original server took its lock away
    /// meanwhile, and may then find its change there or not.
    fn edit(
        &self,
        held: &Held,
        mut change: impl FnMut(&mut Presence) -> Result<bool>,
    ) -> Result<()> {
        let directory = self.at.path()?;
        held.change(&directory, PRESENCE, |lock| {
            let mut presence = Presence::clone(&*self.load()?);
            presence.room_name = self.at.name.to_string();
            if !change(&mut presence)? {
                return Ok(true);
            }
            let saved = self.presence.save_under(lock, &directory, &presence);
            let now = self.stamp();
            self.local().told = now;
            saved.map_err(errors::storage)
        })
    }

    /// Counts what the members sent, writes the counts where they changed, and
    /// returns the numbers of messages and members.
    pub fn write_counts(&self) -> Result<(u64, u64)> {
        let held = self.at.lock()?;
        let count = |presence: &mut Presence| {
            self.log.look(|index, _| {
                let mut changed = false;
                for (agent, user) in presence.users.iter_mut() {
                    let sent = index.sent_by(agent);
                    changed |= user.message_count != sent;
                    user.message_count = sent;
                }
                Ok((changed, index.count() as u64))
            })
        };
        let members = self.load()?;
        let (changed, messages) = count(&mut Presence::clone(&members))?;
        if changed {
            self.edit(&held, |presence| Ok(count(presence)?.0))?;
        }
        Ok((messages, members.users.len() as u64))
    }

    /// Creates the file of a new room. Whatever is there stays.
    pub fn create(&self) -> Result<()> {
        let directory = self.at.path()?;
        if Stamp::at(&directory.join(PRESENCE)).is_some() {
            return Ok(());
        }
        let presence = Presence {
            room_name: self.at.name.to_string(),
            ..Presence::default()
        };
        let saved = self.presence.save(&directory, &presence, true);
        saved.map_err(errors::storage)
    }

    /// What is wrong with the files, or was, in words.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let directory = self.at.path()?;
        let presence = self.presence.warnings(&directory);
        let mut found = presence.map_err(errors::storage)?;
        let activity = self.activity.warnings(&directory);
        found.extend(activity.map_err(errors::storage)?);
        Ok(found)
    }

    fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.at.path().ok()?.join(PRESENCE))
    }

    /// What was there at the start is not news.
    pub fn begin_watching(&self) {
        let now = self.stamp();
        let told = &mut self.local().told;
        *told = told.or(now);
    }

    /// Whether subscribers have not heard of the file as it is now.
    pub fn has_news(&self) -> bool {
        let now = self.stamp();
        std::mem::replace(&mut self.local().told, now) != now
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        Settings,
        model::{names::RoomName, owners::Actor},
        store::files::FileStore,
    };

    /// It may take our lock for stale, and write what it had read before.
    #[test]
    fn changes_of_the_original_without_a_lock_lose_no_member() {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let name = RoomName::parse("a").unwrap();
        let now = Timestamp::now();
        store.create(&Actor::Local, &name, None, now).unwrap();
        let room = store.room(&name).unwrap();
        store.enter(&room, "first", None, now).unwrap();
        let held = room.members.at.lock().unwrap();
        let path = room.members.at.path().unwrap().join(PRESENCE);
        let mut interfered = false;
        room.members
            .edit(&held, |presence| {
                if !std::mem::replace(&mut interfered, true) {
                    fs::remove_file(path.with_extension("json.lock")).unwrap();
                    let users = r#"{"first":{"status":"online"},"theirs":{"status":"online"}}"#;
                    fs::write(&path, format!(r#"{{"roomName":"a","users":{users}}}"#)).unwrap();
                }
                presence.users.set("ours", User::new("", None));
                Ok(true)
            })
            .unwrap();
        let members = room.members.load().unwrap();
        let names: Vec<&str> = members.users.names().collect();
        assert_eq!(names, ["first", "theirs", "ours"]);
    }
}
