//! The counter's page in the console: the board, one task with its context, and the
//! decisions.

mod adrs;
mod board_view;
mod document_view;
mod editable;
mod one_task;

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Tool,
    console::{ConsolePage, PageQuery, Section},
};

use crate::{
    model::TaskId,
    state::CounterState,
    tools::{edit_document, published},
};

pub struct TodoPage {
    state: Arc<CounterState>,
}

impl TodoPage {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl ConsolePage for TodoPage {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>> {
        let (context, query) = (context.clone(), query.clone());
        Box::pin(
            self.state
                .run_blocking(move |state| sections(state, &context, &query)),
        )
    }

    fn tools(&self) -> Vec<Arc<Tool>> {
        vec![published(edit_document::tool(&self.state))]
    }
}

fn sections(state: &CounterState, context: &Context, query: &PageQuery) -> Result<Vec<Section>> {
    if let Some(id) = query.get("task").and_then(TaskId::parse) {
        return one_task::sections(state, context, id, query);
    }
    if let Some(number) = query.get("adr").and_then(|number| number.parse().ok()) {
        return adrs::one(state, context, number, query);
    }
    let mut sections = board_view::sections(state, context, query)?;
    sections.push(adrs::list(state, context, query)?);
    sections.push(adrs::new_adr(context));
    Ok(sections)
}
