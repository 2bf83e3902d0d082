//! Who is in a room and who is there right now: entering, leaving, and signs of
//! life. What happens when those stop coming is in `absence`.

use jiff::Timestamp;
use kit::Result;

use super::{
    Room, Store,
    files::PRESENCE,
    lock::{self, Held},
    process::lives,
    registry::FirstSeen,
    room::remember,
};
use crate::{
    errors,
    model::{
        members::{Activities, Activity, Presence, Profile, Status, User},
        message::written,
        names,
    },
};

/// A sign of life is written down when the last one is this much older than
/// a part of the idle time, so that busy agents cost next to nothing.
const NOTED_PER_IDLE: i64 = 8;

/// How many agents that ever entered a room are remembered: the latest.
const REMEMBERED: usize = 10_000;

pub struct Member {
    pub name: String,
    pub status: Status,
    pub message_count: u64,
    pub profile: Option<Profile>,
    pub is_waiting: bool,
}

impl Store {
    /// Why `agent` could not enter at this moment, if it could not. Asked before
    /// its name becomes a key's, so that a refused caller takes no name.
    pub fn may_enter(&self, room: &Room, agent: &str, now: Timestamp) -> Result<()> {
        let members = room.members()?;
        match members.users.get(agent) {
            Some(user) => self.refuse_online(room, agent, user, &*room.activities()?, now),
            None => self.admit(room, &members, agent),
        }
    }

    fn refuse_online(
        &self,
        room: &Room,
        agent: &str,
        user: &User,
        activities: &Activities,
        now: Timestamp,
    ) -> Result<()> {
        let mut lives = lives(&self.dir, self.process.id());
        let idle = self.settings.idle_ms();
        match user.status(activities.get(agent), now, idle, &mut lives) {
            Status::Online => Err(errors::agent_already_in_room(agent, room.name.as_str())),
            Status::Offline => Ok(()),
        }
    }

    fn admit(&self, room: &Room, members: &Presence, agent: &str) -> Result<()> {
        names::check_newcomer(agent)?;
        let most = self.settings.max_members.get();
        if members.users.len() >= most as usize {
            return Err(errors::room_is_full(room.name.as_str(), most));
        }
        Ok(())
    }

    /// Returns whether the agent was a member already, and had been offline.
    pub fn enter(
        &self,
        room: &Room,
        agent: &str,
        profile: Option<Profile>,
        now: Timestamp,
    ) -> Result<bool> {
        self.process
            .announce(&self.dir, self.settings.lock_timeout())?;
        let again = {
            let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
            self.require(&room.name)?;
            // Whoever took the directory away left the room on the list.
            std::fs::create_dir_all(room.directory()?).map_err(errors::storage)?;
            let mut entered: Option<User> = None;
            let mut again = false;
            self.edit_presence(&held, room, |presence| {
                if entered.is_none() {
                    let known = presence.users.get(agent).cloned();
                    again = known.is_some();
                    entered = Some(self.entering(room, presence, agent, profile.clone(), now)?);
                }
                if let Some(user) = &entered {
                    presence.users.set(agent, user.clone());
                }
                Ok(true)
            })?;
            again
        };
        self.remember(agent, now)?;
        self.mark_dirty(&room.name);
        room.bump();
        Ok(again)
    }

    /// The entry of somebody who may enter, of whom a sign of life is noted.
    fn entering(
        &self,
        room: &Room,
        presence: &Presence,
        agent: &str,
        profile: Option<Profile>,
        now: Timestamp,
    ) -> Result<User> {
        if let Some(profile) = &profile {
            refuse_crowded(room, presence, agent, profile)?;
        }
        let mut activities = Activities::clone(&*room.activities()?);
        let user = match presence.users.get(agent) {
            Some(user) => {
                self.refuse_online(room, agent, user, &activities, now)?;
                let mut user = user.clone();
                user.status = Status::Online;
                user.profile = profile.or(user.profile.take());
                user
            }
            None => {
                self.admit(room, presence, agent)?;
                User::new(&written(now), profile)
            }
        };
        self.note(room, &mut activities, agent, now)?;
        Ok(user)
    }

    pub fn leave(&self, room: &Room, agent: &str) -> Result<()> {
        {
            let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
            self.require(&room.name)?;
            if room.members()?.users.get(agent).is_none() {
                return Err(errors::nothing_to_leave(self.stranger(agent, &room.name)));
            }
            self.edit_presence(&held, room, |presence| {
                Ok(presence.users.remove(agent).is_some())
            })?;
            let mut activities = Activities::clone(&*room.activities()?);
            if activities.remove(agent).is_some() {
                save_activity(room, &activities)?;
            }
        }
        room.local().heard.remove(agent);
        self.mark_dirty(&room.name);
        room.bump();
        Ok(())
    }

    /// An error unless `agent` is a member.
    pub fn require_member(&self, room: &Room, agent: &str) -> Result<()> {
        if room.members()?.users.get(agent).is_some() {
            return Ok(());
        }
        Err(self.stranger(agent, &room.name))
    }

    /// The members with their status of this moment, in the order they entered.
    pub fn members(&self, room: &Room, now: Timestamp) -> Result<Vec<Member>> {
        let presence = room.members()?;
        let activities = room.activities()?;
        let mut lives = lives(&self.dir, self.process.id());
        let idle = self.settings.idle_ms();
        let heard = room.local().heard.clone();
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
            }
        });
        let mut members: Vec<Member> = members.collect();
        room.look(|index, _| {
            for member in &mut members {
                member.message_count = index.sent_by(&member.name);
            }
            Ok(())
        })?;
        Ok(members)
    }

    /// A sign of life from somebody who only reads. It keeps an agent of this
    /// process online and turns nobody else online.
    pub fn heard_of(&self, room: &Room, agent: &str, now: Timestamp) {
        {
            let mut local = room.local();
            let Some(heard) = local.heard.get_mut(agent) else {
                return;
            };
            *heard = now.max(*heard);
        }
        let noted = room.activities().ok().and_then(|activities| {
            let activity = activities.get(agent)?;
            Some(activity.last_active_at)
        });
        if noted.is_none_or(|noted| self.is_due(noted, now))
            && let Err(error) = self.sign_of_life(room, agent, now)
        {
            tracing::debug!(%error, "a sign of life could not be written down");
        }
    }

    fn is_due(&self, noted: Timestamp, now: Timestamp) -> bool {
        now.as_millisecond() - noted.as_millisecond() >= self.settings.idle_ms() / NOTED_PER_IDLE
    }

    fn sign_of_life(&self, room: &Room, agent: &str, now: Timestamp) -> Result<()> {
        let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
        let held = held.for_housekeeping();
        self.note_active(&held, room, [agent].into_iter(), now)
    }

    /// Notes that these members act through this process, and that they are
    /// online. Under the room's lock; writes only what has changed.
    pub(super) fn note_active<'a>(
        &self,
        held: &Held,
        room: &Room,
        agents: impl Iterator<Item = &'a str>,
        now: Timestamp,
    ) -> Result<()> {
        let known = room.activities()?;
        let mut activities = None;
        let mut back = Vec::new();
        for agent in agents {
            remember(&mut room.local().heard, agent, now);
            let members = room.members()?;
            let Some(user) = members.users.get(agent) else {
                continue;
            };
            if user.status == Status::Offline {
                back.push(agent);
            }
            let noted = known.get(agent);
            if noted.is_none_or(|noted| {
                noted.process != self.process.id() || self.is_due(noted.last_active_at, now)
            }) {
                let activities = activities.get_or_insert_with(|| Activities::clone(&known));
                activities.set(agent, self.activity(noted, now));
            }
        }
        if let Some(activities) = activities {
            save_activity(room, &activities)?;
        }
        if back.is_empty() {
            return Ok(());
        }
        self.edit_presence(held, room, |presence| {
            let mut changed = false;
            for agent in &back {
                if let Some(user) = presence.users.get_mut(agent) {
                    changed |= user.status != Status::Online;
                    user.status = Status::Online;
                }
            }
            Ok(changed)
        })
    }

    fn activity(&self, before: Option<&Activity>, now: Timestamp) -> Activity {
        Activity {
            last_active_at: now,
            process: self.process.id().to_owned(),
            waiting_until: before.and_then(|before| before.waiting_until),
        }
    }

    fn note(
        &self,
        room: &Room,
        activities: &mut Activities,
        agent: &str,
        now: Timestamp,
    ) -> Result<()> {
        let mut activity = self.activity(None, now);
        activity.waiting_until = None;
        activities.set(agent, activity);
        remember(&mut room.local().heard, agent, now);
        save_activity(room, activities)
    }

    /// Changes `presence.json` under its locks. `change` says whether it changed
    /// anything; it is asked again if the original server took its lock away
    /// meanwhile, and may then find its change there or not.
    pub(super) fn edit_presence(
        &self,
        held: &Held,
        room: &Room,
        mut change: impl FnMut(&mut Presence) -> Result<bool>,
    ) -> Result<()> {
        let directory = room.directory()?;
        held.change(&directory, PRESENCE, |lock| {
            let mut presence = Presence::clone(&*room.members()?);
            presence.room_name = room.name.to_string();
            if !change(&mut presence)? {
                return Ok(true);
            }
            let saved = room.presence.save_under(lock, &directory, &presence);
            self.told_presence(room);
            saved.map_err(errors::storage)
        })
    }

    fn remember(&self, agent: &str, now: Timestamp) -> Result<()> {
        let is_listed = || {
            let agents = self.agents.load(self.dir.root()).map_err(errors::storage)?;
            Ok(agents
                .agents
                .get(agent)
                .is_some()
                .then_some(())
                .ok_or(agents))
        };
        if let Ok(()) = is_listed()? {
            return Ok(());
        }
        let _registry = lock::registry(&self.dir, self.settings.lock_timeout())?;
        let Err(agents) = is_listed()? else {
            return Ok(());
        };
        let mut agents = super::Agents::clone(&agents);
        // They only serve to tell a stranger from somebody in the wrong room.
        agents.agents.keep_last(REMEMBERED - 1, |_| false);
        let first_seen_at = written(now);
        agents.agents.set(agent, FirstSeen { first_seen_at });
        self.agents
            .save(self.dir.root(), &agents, true)
            .map_err(errors::storage)
    }
}

pub(super) fn save_activity(room: &Room, activities: &Activities) -> Result<()> {
    room.activity
        .save(&room.directory()?, activities, false)
        .map_err(errors::storage)
}

/// What the profiles of a room may take together. All of them are in memory
/// while the room is in use.
const MAX_PROFILES: usize = 256_000;

fn refuse_crowded(room: &Room, presence: &Presence, agent: &str, new: &Profile) -> Result<()> {
    let size = |profile: &Profile| serde_json::to_string(profile).map_or(0, |text| text.len());
    let others = presence.users.iter().filter(|(name, _)| *name != agent);
    let others = others.filter_map(|(_, user)| user.profile.as_ref());
    if others.map(size).sum::<usize>() + size(new) > MAX_PROFILES {
        return Err(errors::profiles_too_large(room.name.as_str(), MAX_PROFILES));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        Settings,
        model::{names::RoomName, owners::Actor},
    };

    /// It may take our lock for stale, and write what it had read before.
    #[test]
    fn what_the_original_writes_without_its_lock_costs_no_member() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let name = RoomName::parse("a").unwrap();
        let now = Timestamp::now();
        store.create(&Actor::Local, &name, None, now).unwrap();
        let room = store.room(&name).unwrap();
        store.enter(&room, "first", None, now).unwrap();
        let held = lock::room(&store.dir, &name, store.settings.lock_timeout()).unwrap();
        let path = room.directory().unwrap().join(PRESENCE);
        let mut interfered = false;
        store
            .edit_presence(&held, &room, |presence| {
                if !std::mem::replace(&mut interfered, true) {
                    fs::remove_file(path.with_extension("json.lock")).unwrap();
                    let users = r#"{"first":{"status":"online"},"theirs":{"status":"online"}}"#;
                    fs::write(&path, format!(r#"{{"roomName":"a","users":{users}}}"#)).unwrap();
                }
                presence.users.set("ours", User::new("", None));
                Ok(true)
            })
            .unwrap();
        let members = room.members().unwrap();
        let names: Vec<&str> = members.users.names().collect();
        assert_eq!(names, ["first", "theirs", "ours"]);
    }
}
