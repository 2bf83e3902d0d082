//! The counter's page in the console: what people at it have booked, the programme by
//! day, and the hall of one screening with its bookings.

mod bookings;
mod hall_plan;
mod screenings;
mod wording;

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Sql, Store,
    console::{ConsolePage, PageQuery, Part, Section, pick},
    sql::Budget,
};

use crate::{state::CounterState, store};

pub struct CinemaPage {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
}

impl CinemaPage {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
        }
    }
}

impl ConsolePage for CinemaPage {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>> {
        let (state, context, query) = (Arc::clone(&self.state), context.clone(), query.clone());
        Box::pin(self.store.query(Budget::default(), move |sql| {
            sections(&state, &context, sql, &query)
        }))
    }
}

fn sections(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if let Some(wanted) = query.get("show") {
        match store::show(sql, wanted)? {
            Some(show) => {
                sections.push(hall_plan::section(state, context, sql, &show)?);
                sections.push(bookings::of_show(state, context, sql, &show)?);
            }
            None => sections.push(Section {
                title: pick(context, "Seats", "座席").into(),
                parts: vec![Part::Text(
                    pick(
                        context,
                        "There is no such screening.",
                        "その上映はありません。",
                    )
                    .into(),
                )],
            }),
        }
    }
    let shown = query.get("show");
    sections.push(bookings::at_console(state, context, sql, shown)?);
    sections.push(screenings::section(state, context, sql, query)?);
    sections.push(bookings::cancelling(context));
    Ok(sections)
}
