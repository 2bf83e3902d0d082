//! What each tool asks of the files, from beginning to end.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Error, Result, Warning};

use super::{FileStore, room::Room};
use crate::{
    errors,
    model::{
        members::{Profile, Status},
        names::{self, RoomName},
    },
    store::{
        call::Call,
        messages::{Page, Pick},
        rooms::{
            Entered, Entrance, Inside, Listed, Marked, NewRoom, RoomList, RoomStatus, RoomSummary,
            StatusReport,
        },
        searching::{Search, SearchHits},
        waiting::{AllWaiting, LookedUpTo, News, WaitFilter},
    },
};

impl FileStore {
    pub fn list_rooms(&self, call: &Call, agent: Option<&str>) -> Result<RoomList> {
        if let Some(agent) = agent {
            self.names.may_use(&call.actor, agent)?;
        }
        let now = call.now();
        let (rooms, warnings) = self.in_rooms(None, |listed| self.summary(listed, agent, now))?;
        Ok(RoomList {
            rooms: rooms.into_iter().flatten().collect(),
            total: self.rooms()?.len(),
            warnings,
        })
    }

    /// `None` for a room that the agent is not in.
    fn summary(
        &self,
        listed: Listed,
        agent: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<RoomSummary>> {
        let room = self.room(&listed.name)?;
        let members = room.members.load()?;
        if agent.is_some_and(|agent| members.users.get(agent).is_none()) {
            return Ok(None);
        }
        if let Some(agent) = agent {
            room.members.heard_of(agent, now);
        }
        let unread = agent.map(|agent| room.reads.unread(agent));
        Ok(Some(RoomSummary {
            listed,
            users: members.users.len(),
            messages: room.log.count()?,
            unread: unread.transpose()?,
        }))
    }

    pub fn status(&self, call: &Call, only: Option<&RoomName>) -> Result<StatusReport> {
        let now = call.now();
        let (rooms, unreadable) = self.in_rooms(only, |listed| {
            let room = self.room(&listed.name)?;
            let online = online(&room, now)?.1;
            let health = self.health(&room)?;
            Ok(RoomStatus {
                name: listed.name,
                online,
                messages: room.log.count()?,
                bytes: health.bytes,
                damage: health.warnings,
            })
        })?;
        let damage = match only {
            None => self.warnings()?,
            Some(_) => Vec::new(),
        };
        Ok(StatusReport {
            rooms,
            damage,
            unreadable,
        })
    }

    /// Does the same in every room, or in the one that is given. A room that can't be
    /// read becomes a warning and does not hide the others.
    fn in_rooms<T>(
        &self,
        only: Option<&RoomName>,
        mut work: impl FnMut(Listed) -> Result<T>,
    ) -> Result<(Vec<T>, Vec<Warning>)> {
        if let Some(name) = only {
            let listed = self.listed(name)?;
            return Ok((vec![work(listed)?], Vec::new()));
        }
        let (mut done, mut warnings) = (Vec::new(), Vec::new());
        for listed in self.rooms()? {
            let name = listed.name.clone();
            match work(listed) {
                Ok(result) => done.push(result),
                Err(error) if error.code == errors::STORAGE_ERROR => {
                    tracing::error!(%error, cause = ?error.cause, room = %name, "a room cannot be read");
                    let message = format!("{name}: {}", error.message);
                    warnings.push(
                        Warning::new("ROOM_UNREADABLE", message).detail("roomName", name.as_str()),
                    );
                }
                // Deleted meanwhile.
                Err(error) if error.code == errors::ROOM_NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        Ok((done, warnings))
    }

    pub fn create_room(&self, call: &Call, new: NewRoom) -> Result<()> {
        if let Some(agent) = &new.agent {
            // Before the room is there: a refused call creates nothing.
            names::check_newcomer(agent)?;
            self.names.may_use(&call.actor, agent)?;
        }
        self.create(&call.actor, &new.name, new.description, call.now())?;
        if let Some(agent) = &new.agent {
            let room = self.room(&new.name)?;
            self.admit(call, &room, agent, None)?;
        }
        Ok(())
    }

    /// Returns whether the agent was a member already, and had been offline.
    fn admit(
        &self,
        call: &Call,
        room: &Room,
        agent: &str,
        profile: Option<Profile>,
    ) -> Result<bool> {
        let now = call.now();
        self.names.may_use(&call.actor, agent)?;
        room.members.may_enter(agent, now)?;
        self.names.claim(&call.actor, agent, now)?;
        self.enter(room, agent, profile, now)
    }

    pub fn enter_room(
        &self,
        call: &Call,
        name: &RoomName,
        agent: &str,
        profile: Option<Profile>,
    ) -> Result<Entered> {
        let room = self.room(name)?;
        let similar = similar_name(&room, agent)?;
        let entrance = match self.admit(call, &room, agent, profile) {
            Ok(false) => Entrance::New,
            Ok(true) => Entrance::Back,
            Err(error) if error.code == errors::AGENT_ALREADY_IN_ROOM => Entrance::AlreadyIn,
            Err(error) => return Err(error),
        };
        let (user_count, online) = online(&room, call.now())?;
        Ok(Entered {
            entrance,
            inside: Inside {
                description: self.listed(name)?.description,
                user_count,
                online,
                unread: room.reads.unread(agent)?,
            },
            similar,
        })
    }

    pub fn leave_room(&self, call: &Call, name: &RoomName, agent: &str) -> Result<()> {
        let room = self.room(name)?;
        let acts = self.act(&call.actor, &room, agent, call.now());
        acts.map_err(errors::nothing_to_leave)?;
        room.leave(agent)
    }

    pub fn page(
        &self,
        call: &Call,
        name: &RoomName,
        reader: Option<&str>,
        pick: &Pick,
    ) -> Result<(Page, Option<usize>)> {
        if let Some(agent) = reader {
            self.names.may_use(&call.actor, agent)?;
        }
        let room = self.room(name)?;
        let page = room.log.page(pick)?;
        let Some(agent) = reader else {
            return Ok((page, None));
        };
        if !room.members.has(agent)? {
            return Ok((page, None));
        }
        room.members.heard_of(agent, call.now());
        Ok((page, Some(room.reads.unread(agent)?)))
    }

    pub fn mark_read(
        &self,
        call: &Call,
        name: &RoomName,
        agent: &str,
        up_to: Option<&str>,
    ) -> Result<Marked> {
        let room = self.room(name)?;
        room.members.require(agent)?;
        let now = call.now();
        self.act(&call.actor, &room, agent, now)?;
        let before = room.reads.unread(agent)?;
        let after = room.mark_read(agent, up_to, now)?;
        room.members.heard_of(agent, now);
        Ok(Marked { before, after })
    }

    pub fn search(
        &self,
        call: &Call,
        only: Option<&RoomName>,
        search: &Search,
    ) -> Result<(SearchHits, Vec<Warning>)> {
        let keep_on = || match call.budget.cancel.is_cancelled() {
            true => Err(Error::cancelled()),
            false => Ok(()),
        };
        let mut all: Option<SearchHits> = None;
        let (_, warnings) = self.in_rooms(only, |listed| {
            let room = self.room(&listed.name)?;
            let found = room.log.search(search, keep_on)?;
            all = Some(match all.take() {
                Some(others) => others.merge(found, search.limit),
                None => found,
            });
            Ok(())
        })?;
        Ok((all.unwrap_or_default(), warnings))
    }

    /// The room that a member waits in.
    pub fn begin_wait(&self, call: &Call, name: &RoomName, agent: &str) -> Result<Arc<Room>> {
        let room = self.room(name)?;
        room.members.require(agent)?;
        let now = call.now();
        self.act(&call.actor, &room, agent, now)?;
        room.members.heard_of(agent, now);
        Ok(room)
    }

    /// `looked`: of an earlier look that found nothing.
    pub fn look(
        &self,
        call: &Call,
        name: &RoomName,
        agent: &str,
        (wanted, looked): (&WaitFilter, Option<LookedUpTo>),
    ) -> Result<News> {
        // Meanwhile the room may be gone, the agent may have left it, or a key may have
        // taken the name.
        let room = self.room(name)?;
        if !room.members.has(agent)? {
            return Err(room.why_not_in(agent));
        }
        self.names.may_use(&call.actor, agent)?;
        room.news(agent, wanted, looked)
    }

    /// The same with whether everybody waits.
    pub fn look_again(
        &self,
        call: &Call,
        name: &RoomName,
        agent: &str,
        wanted: (&WaitFilter, Option<LookedUpTo>),
    ) -> Result<News> {
        let mut news = self.look(call, name, agent, wanted)?;
        if news.messages.is_empty() {
            let members = self.room(name)?.members.list(call.now())?;
            news.everybody = AllWaiting::among(&members);
        }
        Ok(news)
    }
}

/// How many members a room has, and the names of those that are online.
fn online(room: &Room, now: Timestamp) -> Result<(usize, Vec<String>)> {
    let members = room.members.list(now)?;
    let count = members.len();
    let online = members.into_iter().filter(|m| m.status == Status::Online);
    Ok((count, online.map(|member| member.name).collect()))
}

/// Another member whose name people could take for this one.
fn similar_name(room: &Room, agent: &str) -> Result<Option<String>> {
    let members = room.members.load()?;
    let similar = names::similar(agent, members.users.names());
    Ok(similar.map(str::to_owned))
}
