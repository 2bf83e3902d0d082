//! `delete_room`: a room and everything in it.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Definition, Done, REMOVES, arguments::Confirmed, blocking, define};
use crate::{errors, house::House, resources, store::Remover};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    #[serde(flatten)]
    done: Done,
    deleted_messages: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/delete_room",
        aliases: &["agent_communication_delete_room", "delete_room"],
        title: "Delete a room",
        description: "Delete a room with its members and messages for good.",
        input: Confirmed::schema(),
        hints: REMOVES,
        rules: &[errors::ROOM, errors::CONFIRM],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Confirmed) -> Result<Output> {
    let name = input.room()?;
    let deleted_messages = house.store.delete(&Remover::of(context), &name)?;
    context.changed(Change::ResourceList);
    context.changed(Change::Resource(resources::room_uri(&name)));
    context.changed(Change::Resource(resources::messages_uri(&name)));
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
