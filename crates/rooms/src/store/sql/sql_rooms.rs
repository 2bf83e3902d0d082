//! How jobs run on the database, and what is done around them.

use std::sync::{Arc, Mutex};

use kit::{Result, Sql, Store, sql::Budget};
use tokio::task::AbortHandle;

use super::{
    rounds::limited,
    send::Outgoing,
    tables::Tables,
    waiting_calls::WaitingCalls,
    wake::{RoomChange, Wake},
};
use crate::{
    Settings,
    model::names::RoomName,
    store::{call::Call, room_store::Done, waiting::Waiting},
};

pub struct SqlRooms {
    pub(super) database: Arc<dyn Store>,
    pub(super) tables: Arc<Tables>,
    pub(super) wake: Arc<Wake>,
    pub(super) outgoing: Arc<Outgoing>,
    pub(super) waiting: Arc<WaitingCalls>,
    pub(super) rounds: Mutex<Option<AbortHandle>>,
}

impl SqlRooms {
    /// Reads and writes nothing.
    pub fn new(settings: Settings, database: Arc<dyn Store>) -> Self {
        let tables = Arc::new(Tables::new(settings, database.clock()));
        let wake = Arc::new(Wake::new(Arc::clone(&database), tables.process.clone()));
        let outgoing = Outgoing::new(
            Arc::clone(&database),
            Arc::clone(&tables),
            Arc::clone(&wake),
        );
        Self {
            database,
            tables,
            wake,
            outgoing: Arc::new(outgoing),
            waiting: Arc::default(),
            rounds: Mutex::default(),
        }
    }

    /// Repeated if the connection is lost in the middle of it.
    pub(super) fn read<T: Send + 'static>(
        &self,
        budget: Budget,
        job: impl Fn(&Tables, &mut dyn Sql) -> Result<T> + Send + Sync + 'static,
    ) -> Done<'_, T> {
        let tables = Arc::clone(&self.tables);
        let again = self
            .database
            .query_again(budget, move |sql| job(&tables, sql));
        Box::pin(again)
    }

    pub(super) fn write<T: Send + 'static>(
        &self,
        budget: Budget,
        mut job: impl FnMut(&Tables, &mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Done<'_, T> {
        let tables = Arc::clone(&self.tables);
        Box::pin(
            self.database
                .transaction(budget, move |sql| job(&tables, sql)),
        )
    }

    /// The same for somebody who is online through this process then.
    pub(super) fn serve<T: Send + 'static>(
        &self,
        budget: Budget,
        mut job: impl FnMut(&Tables, &mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Done<'_, T> {
        let shows_life = self.tables.is_beat_due();
        let served = self.write(budget, move |tables, sql| {
            if shows_life {
                tables.show_life(sql)?;
            }
            job(tables, sql)
        });
        Box::pin(async move {
            let served = served.await?;
            if shows_life {
                self.tables.has_shown_life();
            }
            Ok(served)
        })
    }

    /// The same, which everybody who waits in the room, and other desks, are told of.
    pub(super) fn change<T: Send + 'static>(
        &self,
        call: Call,
        (room, what): (RoomName, RoomChange),
        mut job: impl FnMut(&Tables, &mut dyn Sql, &Call, &RoomName) -> Result<T> + Send + 'static,
    ) -> Done<'_, T> {
        let name = room.clone();
        let changed = self.serve(call.budget.clone(), move |tables, sql| {
            job(tables, sql, &call, &name)
        });
        Box::pin(async move {
            let changed = changed.await?;
            self.wake.changed(&room, what);
            Ok(changed)
        })
    }

    /// Writes a sign of life of somebody who only reads, in a room or in all of its rooms.
    pub(super) async fn note_life(
        &self,
        call: &Call,
        agent: String,
        room: Option<i64>,
    ) -> Result<()> {
        let now = call.now();
        self.serve(call.budget.clone(), move |tables, sql| {
            tables.note_life(sql, &agent, room, now)
        })
        .await
    }

    /// Ends a mark of [`RoomStore::mark_waiting`], where nothing may block.
    pub(super) fn waiting_mark(&self, call: Call, room: RoomName, agent: String) -> Waiting {
        let (database, tables) = (Arc::clone(&self.database), Arc::clone(&self.tables));
        let (waiting, wake) = (Arc::clone(&self.waiting), Arc::clone(&self.wake));
        Waiting::until_dropped(move || {
            let runtime = tokio::runtime::Handle::try_current();
            let (true, Ok(runtime)) = (waiting.end(&room, &agent), runtime) else {
                return;
            };
            runtime.spawn(async move {
                let (name, now) = (room.clone(), call.now());
                let ended = database.transaction(limited(), move |sql| {
                    let waits = || waiting.has(&name, &agent);
                    tables.end_waiting(sql, (&name, agent.as_str()), now, waits)
                });
                match ended.await {
                    Ok(()) => wake.changed(&room, RoomChange::Presence),
                    Err(error) => {
                        tracing::warn!(%error, cause = ?error.cause, "it could not be noted that an agent does not wait any more");
                    }
                }
            });
        })
    }
}
