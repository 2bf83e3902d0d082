//! `sign_guestbook`: adds an entry, and says who signed before.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::state::CounterState;

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Who signs
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// What the entry says
    #[schemars(length(min = 1, max = 500))]
    greeting: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// One sentence for the visitor
    message: String,
    /// Who signed before, latest first
    earlier: Vec<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "sign_guestbook",
            title: "Sign the guestbook",
            description: "Adds an entry to the guestbook, and returns the names before it.",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let rows = sql.query(
        "SELECT name FROM guestbook_entries ORDER BY signed_at DESC LIMIT $1",
        &[i64::from(state.settings.names_shown).into()],
    )?;
    let earlier = rows.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
    let signed_at = context.clock.now().as_millisecond();
    sql.execute(
        "INSERT INTO guestbook_entries (name, greeting, signed_at) VALUES ($1, $2, $3)",
        &[
            (&input.name).into(),
            (&input.greeting).into(),
            signed_at.into(),
        ],
    )?;
    let message = format!("Thank you, {}.", input.name);
    Ok(Output { message, earlier })
}
