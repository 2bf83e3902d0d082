//! `delete_room`: deletes a room and everything in it.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Done, arguments::Confirmed, asking, define, tool_names};
use crate::{model::uris, state::CounterState, store::Call};

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
        asking(state, handle),
    )
    .in_japanese("ルームの削除")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Confirmed) -> Result<Output> {
    let name = input.room()?;
    let deleted = state.store.delete_room(Call::of(&context), name.clone());
    let deleted_messages = deleted.await?;
    context.changed(Change::ResourceList);
    context.changed(Change::Resource(uris::room(&name)));
    context.changed(Change::Resource(uris::messages(&name)));
    Ok(Output {
        done: Done::new(
            &context,
            &name,
            format!("Room '{name}' was deleted."),
            format!("ルーム「{name}」を削除しました。"),
        ),
        deleted_messages,
    })
}
