//! The counter's page in the console: all rooms, and one of them to read and write in.
//!
//! A person can be in a room, with a name like an agent's. Names that were first used
//! in the console belong to the console, as names of agents belong to their keys.

mod one_room;
mod own_names;
mod room_list;

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result,
    console::{ConsolePage, PageQuery, Section},
};

use self::own_names::OwnNames;
use crate::state::CounterState;

/// Members come and go without an announcement.
const LOOK_AGAIN_SECONDS: u32 = 15;

pub struct RoomsPage {
    state: Arc<CounterState>,
}

impl RoomsPage {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }

    async fn sections(&self, context: &Context, query: &PageQuery) -> Result<Vec<Section>> {
        let store = &*self.state.store;
        let own_names = OwnNames::read(store, context).await?;
        let open = query.get("room");
        let mut sections = match open {
            Some(name) => one_room::sections(store, context, &own_names, name, query).await?,
            None => Vec::new(),
        };
        sections.extend(room_list::sections(store, context, &own_names, open).await?);
        Ok(sections)
    }
}

impl ConsolePage for RoomsPage {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>> {
        Box::pin(self.sections(context, query))
    }

    fn look_again_seconds(&self) -> Option<u32> {
        Some(LOOK_AGAIN_SECONDS)
    }
}
