//! `clear_room_messages`: deletes all messages of a room, archived ones too.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{arguments::Confirmed, asking, define, tool_names};
use crate::{model::uris, state::CounterState, store::Call};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    cleared_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("clear_room_messages"),
        "Clear messages",
        "Delete all messages of a room for good; members stay. ルームメッセージクリア",
        Hints::REMOVES,
        asking(state, handle),
    )
    .in_japanese("メッセージの消去")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Confirmed) -> Result<Output> {
    let name = input.room()?;
    let cleared = state.store.clear_room(Call::of(&context), name.clone());
    let cleared_count = cleared.await?;
    context.changed(Change::Resource(uris::messages(&name)));
    Ok(Output {
        success: true,
        room_name: name.to_string(),
        cleared_count,
        message: (cleared_count == 0).then_some("Nothing changed: there were no messages."),
    })
}
