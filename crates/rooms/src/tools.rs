//! The counter's tools, one file each: input, output, description, handler.

mod arguments;
pub mod clear_room_messages;
pub mod create_room;
pub mod delete_room;
pub mod enter_room;
pub mod get_messages;
pub mod get_status;
pub mod leave_room;
pub mod list_room_users;
pub mod list_rooms;
pub mod mark_read;
pub mod search_messages;
pub mod send_message;
pub mod wait_for_messages;

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Reply, Result, Run, Tool, context::Language,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{errors, model::names::RoomName, state::CounterState};

/// Arguments with texts of callers, in any tool.
const WRITTEN_BY_CALLERS: &[&str] = &["message", "metadata", "profile", "description", "query"];

/// For answers without any room.
const NO_ROOMS: &str = "There are no rooms yet; create_room makes the first.";

/// A tool's name, `agent_communication/NAME`, and two other spellings of it.
type Names = (&'static str, &'static [&'static str]);

macro_rules! tool_names {
    ($name:literal) => {
        (
            concat!("agent_communication/", $name),
            &[concat!("agent_communication_", $name), $name],
        )
    };
}
use tool_names;

/// No tool uses the desk's idempotency keys: `clientMessageId` is stored with the
/// message itself, for every process on the directory.
fn define<I: JsonSchema, O: JsonSchema>(
    (name, aliases): Names,
    title: &'static str,
    description: &'static str,
    hints: Hints,
    handler: Handler<I, O>,
) -> Tool {
    let definition = Definition {
        name,
        title,
        description,
        hints,
        effect: match hints.read_only {
            true => Effect::Read,
            false => Effect::Write,
        },
    };
    let mut tool = Tool::new(definition, handler);
    drop_defaults(&mut tool.input);
    if let Some(output) = &mut tool.output {
        shorten_output(output);
    }
    tool.aliases(aliases)
        .rules(errors::RULES)
        .normalise(arguments::tidy)
        .personal(WRITTEN_BY_CALLERS)
}

/// Removes `default: false`, which optional flags have anyway.
fn drop_defaults(input: &mut Value) {
    let properties = input.get_mut("properties").and_then(Value::as_object_mut);
    for schema in properties.into_iter().flat_map(Map::values_mut) {
        if let Some(schema) = schema.as_object_mut()
            && schema.get("default") == Some(&Value::Bool(false))
        {
            schema.shift_remove("default");
        }
    }
}

/// Removes what tells a reader of an answer nothing: which fields of an item are always
/// there, and that an object is open.
fn shorten_output(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let fields = properties.into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| *name != "warnings") {
        if let Some(field) = field.as_object_mut() {
            field.shift_remove("additionalProperties");
            if let Some(items) = field.get_mut("items").and_then(Value::as_object_mut) {
                items.shift_remove("required");
                items.shift_remove("additionalProperties");
            }
        }
        shorten_output(field);
        if let Some(items) = field.get_mut("items") {
            shorten_output(items);
        }
    }
}

/// The answer of a tool that only confirms.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Done {
    success: bool,
    room_name: String,
    message: String,
}

impl Done {
    fn new(context: &Context, room: &RoomName, english: String, japanese: String) -> Self {
        Self {
            success: true,
            room_name: room.to_string(),
            message: match context.language {
                Language::English => english,
                Language::Japanese => japanese,
            },
        }
    }
}

/// A handler that asks the store, and may wait for others.
fn asking<I, O, F>(
    state: &Arc<CounterState>,
    handle: fn(Arc<CounterState>, Context, I) -> F,
) -> Handler<I, O>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    F: Future<Output = Result<O>> + Send + 'static,
{
    let state = Arc::clone(state);
    Handler::from_run(Run::Async(Arc::new(move |context, arguments| {
        let state = Arc::clone(&state);
        Box::pin(async move {
            let input: I = kit::handler::typed(arguments)?;
            let result = handle(Arc::clone(&state), context, input).await;
            state.store.after_call();
            // The error of the disk itself is for the operator's log only.
            if let Err(error) = &result
                && error.code == errors::STORAGE_ERROR
            {
                tracing::error!(%error, cause = ?error.cause, "reading or writing the data directory failed");
            }
            Reply::structured(&result?)
        })
    })))
}
