//! The tables as a [`RoomStore`]: each method is one job on the database.

use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use kit::{BoxFuture, Error, Warning, counter::Announce, error::INVALID_ARGUMENT, sql::Budget};

use super::{
    names,
    news::Waiter,
    rooms,
    rounds::{Rounds, limited},
    search::search,
    send::Unsent,
    sql_rooms::SqlRooms,
    tables::Tables,
    wake::RoomChange,
};
use crate::{
    errors,
    model::{
        members::Profile,
        message::Draft,
        names::RoomName,
        owners::{Holder, KeyRef, NameStatus},
    },
    store::{
        call::Call,
        messages::{Page, Pick, Sent},
        room_store::{Done, RoomStore},
        rooms::{Entered, Entrance, Listed, Marked, Member, NewRoom, RoomList, StatusReport},
        searching::{Search, SearchHits},
        waiting::{LookedUpTo, News, Reached, WaitFilter, Waiting, Wakeups},
    },
};

impl RoomStore for SqlRooms {
    fn rooms(&self, budget: Budget) -> Done<'_, Vec<Listed>> {
        self.read(budget, |_, sql| rooms::listed(sql))
    }

    fn list_rooms(&self, call: Call, agent: Option<String>) -> Done<'_, RoomList> {
        Box::pin(async move {
            let (whom, caller) = (agent.clone(), call.clone());
            let read = self.read(call.budget.clone(), move |tables, sql| {
                let list = tables.list_rooms(sql, &caller, whom.as_deref())?;
                let due = match &whom {
                    Some(agent) => tables.is_due_somewhere(sql, agent, caller.now())?,
                    None => false,
                };
                Ok((list, due))
            });
            let (list, due) = read.await?;
            if let (Some(agent), true) = (agent, due) {
                self.note_life(&call, agent, None).await?;
            }
            Ok(list)
        })
    }

    fn status(&self, call: Call, only: Option<RoomName>) -> Done<'_, StatusReport> {
        self.read(call.budget.clone(), move |tables, sql| {
            tables.status(sql, &call, only.as_ref())
        })
    }

    fn create_room(&self, call: Call, new: NewRoom) -> Done<'_, ()> {
        let created = (new.name.clone(), RoomChange::Rooms);
        self.change(call, created, move |tables, sql, call, _| {
            tables.create_room(sql, call, &new)
        })
    }

    fn delete_room(&self, call: Call, room: RoomName) -> Done<'_, usize> {
        self.change(call, (room, RoomChange::Rooms), Tables::delete_room)
    }

    fn clear_room(&self, call: Call, room: RoomName) -> Done<'_, usize> {
        self.change(call, (room, RoomChange::Messages), Tables::clear_room)
    }

    fn members(&self, call: Call, room: RoomName) -> Done<'_, Vec<Member>> {
        self.read(call.budget.clone(), move |tables, sql| {
            tables.members(sql, &call, &room)
        })
    }

    fn enter(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        profile: Option<Profile>,
    ) -> Done<'_, Entered> {
        Box::pin(async move {
            let name = room.clone();
            let entered = self.serve(call.budget.clone(), move |tables, sql| {
                tables.enter(sql, &call, (&name, agent.as_str()), profile.as_ref())
            });
            let entered = entered.await?;
            if entered.entrance != Entrance::AlreadyIn {
                self.wake.changed(&room, RoomChange::Members);
            }
            Ok(entered)
        })
    }

    fn leave(&self, call: Call, room: RoomName, agent: String) -> Done<'_, ()> {
        let left = (room, RoomChange::Members);
        self.change(call, left, move |tables, sql, call, room| {
            tables.leave(sql, call, room, &agent)
        })
    }

    /// The name is checked in the transaction that writes the message.
    fn may_send(&self, _: Call, _: RoomName, _: String) -> Done<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn send(&self, call: Call, room: RoomName, draft: Draft) -> Done<'_, Sent> {
        Box::pin(async move {
            // Checked before it is among the messages of others.
            let has_nul = |text: &Option<String>| text.as_ref().is_some_and(|it| it.contains('\0'));
            if let Some(id) = draft.reply_to.as_ref().filter(|id| id.contains('\0')) {
                return Err(errors::message_not_found(id));
            }
            if has_nul(&draft.client_id) {
                let message = "clientMessageId has the character U+0000.";
                return Err(Error::new(INVALID_ARGUMENT, message).next("Choose another."));
            }
            self.outgoing.send(room, Unsent { call, draft }).await
        })
    }

    fn page(
        &self,
        call: Call,
        room: RoomName,
        reader: Option<String>,
        pick: Pick,
    ) -> Done<'_, (Page, Option<usize>)> {
        Box::pin(async move {
            let (agent, caller) = (reader.clone(), call.clone());
            let shown = self.read(call.budget.clone(), move |tables, sql| {
                tables.page(sql, &caller, &room, agent.as_deref(), &pick)
            });
            let shown = shown.await?;
            if let (Some(agent), Some(room)) = (reader, shown.life_due) {
                self.note_life(&call, agent, Some(room)).await?;
            }
            Ok((shown.page, shown.unread))
        })
    }

    fn mark_read(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        up_to: Option<String>,
    ) -> Done<'_, Marked> {
        self.serve(call.budget.clone(), move |tables, sql| {
            tables.mark_read(sql, &call, (&room, agent.as_str()), up_to.as_deref())
        })
    }

    fn search(
        &self,
        call: Call,
        only: Option<RoomName>,
        wanted: Search,
    ) -> Done<'_, (SearchHits, Vec<Warning>)> {
        self.read(call.budget, move |_, sql| {
            Ok((search(sql, only.as_ref(), &wanted)?, Vec::new()))
        })
    }

    fn is_known(&self, call: Call, agent: String) -> Done<'_, bool> {
        self.read(call.budget, move |_, sql| rooms::is_known(sql, &agent))
    }

    fn begin_wait(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
    ) -> Done<'_, (Wakeups, News)> {
        Box::pin(async move {
            // First subscribe, then look.
            let wakeups = self.wake.subscribe(&room);
            let (caller, name, whom) = (call.clone(), room.clone(), agent.clone());
            let looked = self.read(call.budget.clone(), move |tables, sql| {
                let waiter = Waiter {
                    room: &name,
                    agent: &whom,
                    wanted: &wanted,
                };
                let news = tables.news(sql, &caller, waiter, None)?;
                let is_free = names::name_status(sql, &caller.actor, &whom)? == NameStatus::Free;
                Ok((news, is_free))
            });
            let (news, is_free) = looked.await?;
            if is_free && call.actor.has_key() {
                let claimed = self.serve(call.budget.clone(), move |tables, sql| {
                    tables.act(sql, &call, &room, &agent)
                });
                claimed.await?;
            }
            Ok((wakeups, news))
        })
    }

    fn look(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        wanted: WaitFilter,
        looked: Option<LookedUpTo>,
    ) -> Done<'_, News> {
        self.read(call.budget.clone(), move |tables, sql| {
            let waiter = Waiter {
                room: &room,
                agent: &agent,
                wanted: &wanted,
            };
            let mut news = tables.news(sql, &call, waiter, looked)?;
            if news.messages.is_empty() {
                news.everybody = tables.who_waits(sql, &call, news.looked.generation)?;
            }
            Ok(news)
        })
    }

    fn mark_waiting(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        until: Timestamp,
    ) -> Done<'_, Waiting> {
        Box::pin(async move {
            self.waiting.begin(&room, &agent);
            let mark = self.waiting_mark(call.clone(), room.clone(), agent.clone());
            let (name, now) = (room.clone(), call.now());
            let noted = self.serve(call.budget, move |tables, sql| {
                tables.note_waiting(sql, (&name, agent.as_str()), until, now)
            });
            noted.await?;
            self.wake.changed(&room, RoomChange::Presence);
            Ok(mark)
        })
    }

    fn deliver(
        &self,
        call: Call,
        room: RoomName,
        agent: String,
        reached: Reached,
    ) -> Done<'_, bool> {
        let Reached::InRow(to) = reached else {
            return Box::pin(std::future::ready(Ok(false)));
        };
        Box::pin(async move {
            let others_wait = self.waiting.others_wait(&room, &agent);
            let whom = agent.clone();
            let delivered = self.serve(call.budget.clone(), move |tables, sql| {
                tables.deliver(sql, &call, &whom, (&to, others_wait))
            });
            let delivered = delivered.await?;
            if delivered && !others_wait {
                self.waiting.is_cleared(&room, &agent);
            }
            Ok(delivered)
        })
    }

    fn held_names(&self) -> Done<'_, Vec<Holder>> {
        self.read(Budget::default(), |_, sql| names::held(sql))
    }

    fn release_name(&self, name: String) -> Done<'_, Holder> {
        self.write(limited(), move |_, sql| names::release(sql, &name))
    }

    fn share_name(&self, name: String, key: KeyRef) -> Done<'_, Holder> {
        self.write(limited(), move |_, sql| {
            names::change_sharing(sql, &name, |holder| {
                holder.share(&key);
                true
            })
        })
    }

    fn unshare_name(&self, name: String, key: String) -> Done<'_, Holder> {
        self.write(limited(), move |_, sql| {
            names::change_sharing(sql, &name, |holder| holder.unshare(&key))
        })
    }

    fn start(&self, announce: Announce) {
        self.wake.announce_to(Some(Arc::clone(&announce)));
        self.wake.listen();
        let rounds = Rounds {
            database: Arc::clone(&self.database),
            tables: Arc::clone(&self.tables),
            wake: Arc::clone(&self.wake),
            announce,
        };
        let task = tokio::spawn(rounds.run());
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        *rounds = Some(task.abort_handle());
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.wake.announce_to(None);
        let rounds = self.rounds.lock();
        if let Some(rounds) = rounds.unwrap_or_else(PoisonError::into_inner).take() {
            rounds.abort();
        }
        Box::pin(async move {
            if !self.tables.has_served() {
                return;
            }
            match self
                .write(limited(), |tables, sql| tables.retire(sql))
                .await
            {
                Ok(rooms) => {
                    for room in rooms {
                        self.wake.changed(&room, RoomChange::Presence);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, cause = ?error.cause, "agents could not be taken offline");
                }
            }
        })
    }
}
