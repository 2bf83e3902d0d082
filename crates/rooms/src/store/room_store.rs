//! What the tools ask of a store. Each method is one piece of work: it sees the rooms at
//! one moment, and changes either everything it should or nothing.

use jiff::Timestamp;
use kit::{BoxFuture, Result, Warning, counter::Announce, sql::Budget};

use super::{
    call::Call,
    messages::{Page, Pick, Sent},
    rooms::{Entered, Listed, Marked, Member, NewRoom, RoomList, StatusReport},
    searching::{Search, SearchHits},
    waiting::{LookedUpTo, News, Reached, WaitFilter, Waiting, Wakeups},
};
use crate::model::{
    members::Profile,
    message::Draft,
    names::RoomName,
    owners::{Holder, KeyRef},
};

/// The result of a method, once it is done.
pub type Done<'a, T> = BoxFuture<'a, Result<T>>;

pub trait RoomStore: Send + Sync {
    /// All rooms, oldest first.
    fn rooms(&self, budget: Budget) -> Done<'_, Vec<Listed>>;

    /// All rooms with their counts, or those that `agent` is in, with what it has not
    /// read.
    fn list_rooms(&self, call: Call, agent: Option<String>) -> Done<'_, RoomList>;

    /// One room or all, with their figures.
    fn status(&self, call: Call, only: Option<RoomName>) -> Done<'_, StatusReport>;

    fn create_room(&self, call: Call, new: NewRoom) -> Done<'_, ()>;

    /// Removes a room and everything in it; returns how many messages went.
    fn delete_room(&self, call: Call, room: RoomName) -> Done<'_, usize>;

    /// Removes all messages of a room, archived ones too; returns how many.
    fn clear_room(&self, call: Call, room: RoomName) -> Done<'_, usize>;

    /// The members of a room with their status of this moment, in the order in which they
    /// entered.
    fn members(&self, call: Call, room: RoomName) -> Done<'_, Vec<Member>>;

    /// Makes an agent a member of a room, or brings it back online.
    fn enter(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        profile: Option<Profile>,
    ) -> Done<'_, Entered>;

    fn leave(&self, call: Call, room: RoomName, agent: String) -> Done<'_, ()>;

    /// An error unless the caller may use the agent's name in this room. May leave it to
    /// [`Self::send`].
    fn may_send(&self, call: Call, room: RoomName, agent: String) -> Done<'_, ()>;

    /// Returns once the message can't be lost.
    fn send(&self, call: Call, room: RoomName, draft: Draft) -> Done<'_, Sent>;

    /// A page of messages, and what `reader` has not read if it is a member.
    fn page(
        &self,
        call: Call,
        room: RoomName,
        reader: Option<String>,
        pick: Pick,
    ) -> Done<'_, (Page, Option<usize>)>;

    /// Marks everything up to a message as read, or everything there is.
    fn mark_read(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        up_to: Option<String>,
    ) -> Done<'_, Marked>;

    /// The matching messages, newest first, and the rooms that can't be read.
    fn search(
        &self,
        call: Call,
        only: Option<RoomName>,
        search: Search,
    ) -> Done<'_, (SearchHits, Vec<Warning>)>;

    /// Whether `agent` ever entered a room or said something.
    fn is_known(&self, call: Call, agent: String) -> Done<'_, bool>;

    /// The first look of a member that waits. Nothing that arrives after it is missed by
    /// the wake-ups.
    fn begin_wait(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
    ) -> Done<'_, (Wakeups, News)>;

    /// Another look, for what came after `looked`, and whether everybody waits.
    fn look(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
        looked: Option<LookedUpTo>,
    ) -> Done<'_, News>;

    /// Notes that a member waits.
    fn mark_waiting(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        until: Timestamp,
    ) -> Done<'_, Waiting>;

    /// Moves the read position to where [`News`] said. Returns `false`, and moves nothing,
    /// if another call of the agent was quicker: look again.
    fn deliver(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        reached: Reached,
    ) -> Done<'_, bool>;

    /// Every name that a key holds.
    fn held_names(&self) -> Done<'_, Vec<Holder>>;

    /// Makes a name free for whichever key uses it next.
    fn release_name(&self, name: String) -> Done<'_, Holder>;

    /// Lets another key use a name too.
    fn share_name(&self, name: String, key: KeyRef) -> Done<'_, Holder>;

    /// Takes a name back from a key that it was shared with, by its id or name.
    fn unshare_name(&self, name: String, key: String) -> Done<'_, Holder>;

    /// Begins to notice what other processes do, and tells subscribers.
    fn start(&self, announce: Announce);

    /// Takes the agents of this process offline.
    fn stop(&self) -> BoxFuture<'_, ()>;

    /// Called after every call of a tool.
    fn after_call(&self) {}
}
