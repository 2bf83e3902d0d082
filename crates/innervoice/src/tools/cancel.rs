//! What the three tools that cancel something have in common.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Tool,
    approval::{self, Card, describe},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{OK, arguments};
use crate::{
    answers::Done,
    cards::CardLines,
    state::{CounterState, here},
};

/// Something that can be cancelled.
pub trait Cancel: Sized + 'static {
    type Input: DeserializeOwned + JsonSchema + 'static;

    /// Finds what the call names, unless it is too late to cancel it.
    fn find(context: &Context, sql: &mut dyn Sql, input: Self::Input) -> Result<Self>;
    fn id(&self) -> &str;
    /// The version that the user approves.
    fn version(&self) -> String;
    /// Whether this caller made it and nobody else changed it.
    fn is_of(&self, caller: &str) -> bool;
    fn is_cancelled(&self) -> bool;
    /// Cancels it; `false` if it changed meanwhile.
    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool>;
    /// What the user is asked.
    fn question(&self, language: Language) -> String;
    fn add_lines(&self, lines: &mut CardLines);
    /// Says that it is cancelled.
    fn message(&self, state: &CounterState, context: &Context) -> String;
}

pub fn tool<C: Cancel>(
    state: &Arc<CounterState>,
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    description: &'static str,
) -> Tool {
    let definition = Definition {
        name,
        title,
        description,
        hints: Hints::REMOVES,
        effect: Effect::Outside,
    };
    Tool::new(definition, Handler::transaction(state, handle::<C>))
        .aliases(aliases)
        .normalise(|_, arguments| {
            arguments::narrow(arguments, "id");
            arguments::narrow(arguments, "date");
        })
        .card(describe(state, card::<C>))
}

fn handle<C: Cancel>(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: C::Input,
) -> Result<Done> {
    let found = C::find(context, sql, input)?;
    context.check_card(None, Some(&found.version()))?;
    // A retry cancels twice, and succeeds.
    if !found.is_cancelled() && !found.cancel(context, sql)? {
        return Err(approval::state_changed());
    }
    Ok(Done {
        status: OK,
        id: found.id().to_owned(),
        message: found.message(state, context),
    })
}

/// The card for the person who is asked. Nobody is asked about what the caller
/// made itself, or about what is already cancelled.
fn card<C: Cancel>(
    _: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: C::Input,
) -> Result<Card> {
    let found = C::find(context, sql, input)?;
    let is_own = found.is_of(&context.caller.id);
    let mut lines = CardLines::new(context.language);
    found.add_lines(&mut lines);
    if !is_own {
        lines.not_own();
    }
    Ok(Card {
        summary: found.question(context.language),
        lines: lines.done(),
        state: Some(found.version()),
        exempt: is_own || found.is_cancelled(),
        asked_at: Some(here(context).now.as_millisecond()),
        ..Card::default()
    })
}
