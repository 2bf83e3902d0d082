//! The counter's page in the console: calendar, reminders, outbox and address book.
//!
//! It is its owner's page. The console is open to whoever may decide the approvals of
//! this counter, and to nobody else.

mod address_book;
mod agenda;
mod event_page;
mod message_page;
mod messages;
mod new_entries;
mod reminder_list;
mod wording;

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Sql,
    console::{ConsolePage, PageQuery, Section},
};

use crate::state::CounterState;
use agenda::Agenda;

pub struct OwnerPage {
    state: Arc<CounterState>,
}

impl OwnerPage {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl ConsolePage for OwnerPage {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>> {
        let (state, inside, query) = (Arc::clone(&self.state), context.clone(), query.clone());
        Box::pin(self.state.store.query(context.budget(), move |sql| {
            sections(&state, &inside, sql, &query)
        }))
    }

    /// Days begin, and other processes send messages, without an announcement.
    fn look_again_seconds(&self) -> Option<u32> {
        Some(60)
    }
}

fn sections(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if let Some(id) = query.get("event") {
        sections.push(event_page::section(state, context, sql, id)?);
    }
    if let Some(id) = query.get("message") {
        sections.push(message_page::section(state, context, sql, id)?);
    }
    let mut agenda = Agenda::of(context, query).section(sql, context)?;
    agenda.parts.push(new_entries::new_event(state, context));
    sections.push(agenda);
    sections.push(reminder_list::section(state, context, sql, query)?);
    sections.push(messages::section(state, context, sql, query)?);
    sections.push(address_book::section(context, sql, query)?);
    Ok(sections)
}
