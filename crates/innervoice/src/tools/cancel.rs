//! What the three tools that cancel something have in common.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool,
    approval::{Card, describe},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::arguments;
use crate::{answers::Done, cards::CardLines, state::CounterState};

pub struct Cancel {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    pub description: &'static str,
}

type Work<I, O> = fn(&CounterState, &Context, &mut dyn Sql, I) -> Result<O>;

/// `shown` describes what `handle` would cancel.
pub fn tool<I>(
    state: &Arc<CounterState>,
    names: Cancel,
    handle: Work<I, Done>,
    shown: Work<I, Card>,
) -> Tool
where
    I: DeserializeOwned + JsonSchema + 'static,
{
    Tool::new(
        Definition {
            name: names.name,
            title: names.title,
            description: names.description,
            hints: Hints::REMOVES,
            effect: Effect::Outside,
        },
        Handler::transaction(state, handle),
    )
    .aliases(names.aliases)
    .normalise(|_, arguments| arguments::narrow(arguments, "id"))
    .card(describe(state, shown))
}

/// The card for the person who is asked. Nobody is asked about what the caller
/// made itself, or about what is already cancelled.
pub fn card(
    summary: String,
    mut lines: CardLines,
    version: String,
    is_own: bool,
    is_cancelled: bool,
) -> Card {
    if !is_own {
        lines.not_own();
    }
    Card {
        summary,
        lines: lines.done(),
        state: Some(version),
        exempt: is_own || is_cancelled,
        ..Card::default()
    }
}
