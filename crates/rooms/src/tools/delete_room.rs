//! `delete_room`: deletes a room and everything in it.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Done, arguments::Confirmed, blocking, define, tool_names};
use crate::{model::uris, state::CounterState, store::Remover};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    #[serde(flatten)]
    done: Done,
    deleted_messages: usize,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("delete_room"),
        "Delete room",
        "Delete a room for good, with its messages and whoever is in it; you need not be a member.",
        Hints::REMOVES,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Confirmed) -> Result<Output> {
    let name = input.room()?;
    let deleted_messages = state.store.delete(&Remover::of(context), &name)?;
    context.changed(Change::ResourceList);
    context.changed(Change::Resource(uris::room(&name)));
    context.changed(Change::Resource(uris::messages(&name)));
    Ok(Output {
        done: Done::new(
            context,
            &name,
            format!("Room '{name}' was deleted."),
            format!("ルーム「{name}」を削除しました。"),
        ),
        deleted_messages,
    })
}
