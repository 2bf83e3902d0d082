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

use kit::{Context, Effect, Hints, Reply, Result, Rule, Run, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{errors, house::House, model::names::RoomName, store::Listed};

/// A tool that only looks.
const LOOKS: Hints = Hints {
    read_only: true,
    destructive: false,
    idempotent: true,
    open_world: false,
};

/// A tool that adds something.
const ADDS: Hints = Hints {
    read_only: false,
    destructive: false,
    idempotent: false,
    open_world: false,
};

/// A tool that throws something away.
const REMOVES: Hints = Hints {
    read_only: false,
    destructive: true,
    idempotent: true,
    open_world: false,
};

/// Arguments that hold what somebody wrote, in whichever tool they are.
const WORDS: &[&str] = &["message", "metadata", "profile", "description", "query"];

/// Does the same in every room, or in the one that is asked for. One of all that
/// cannot be read does not hide the others; what was wrong with it is said.
fn in_rooms<T>(
    house: &House,
    only: Option<&str>,
    mut work: impl FnMut(Listed) -> Result<T>,
) -> Result<(Vec<T>, Vec<String>)> {
    if let Some(name) = only {
        let listed = house.store.listed(&RoomName::parse(name)?)?;
        return Ok((vec![work(listed)?], Vec::new()));
    }
    let (mut done, mut warnings) = (Vec::new(), Vec::new());
    for listed in house.store.rooms()? {
        let name = listed.name.clone();
        match work(listed) {
            Ok(result) => done.push(result),
            Err(error) if error.code == errors::STORAGE_ERROR => {
                tracing::error!(%error, cause = ?error.cause, room = %name, "a room cannot be read");
                warnings.push(format!("{name}: {}", error.message));
            }
            // Deleted meanwhile.
            Err(error) if error.code == errors::ROOM_NOT_FOUND => {}
            Err(error) => return Err(error),
        }
    }
    Ok((done, warnings))
}

/// What differs from tool to tool.
struct Definition {
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    description: &'static str,
    input: Value,
    hints: Hints,
    rules: &'static [Rule],
    run: Run,
}

/// A tool that answers with an `O`.
fn define<O: JsonSchema>(definition: Definition) -> Tool {
    Tool {
        name: definition.name,
        aliases: definition.aliases,
        title: definition.title,
        description: definition.description,
        input: definition.input,
        output: kit::schema::output::<O>(),
        effect: match definition.hints.read_only {
            true => Effect::Read,
            false => Effect::Write,
        },
        hints: definition.hints,
        time_limit: kit::tool::TIME_LIMIT,
        // clientMessageId is kept with the message itself, for as long as that
        // is kept and for every process on the directory.
        idempotency_key: None,
        rules: definition.rules,
        normalise: arguments::tidy,
        meta: None,
        personal: WORDS,
        card: None,
        inner_calls: None,
        run: definition.run,
    }
}

/// The answer of a tool that has nothing more to say.
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

/// A handler that works on files from beginning to end.
fn blocking<I, O>(house: &Arc<House>, handler: fn(&House, &Context, I) -> Result<O>) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
{
    let house = Arc::clone(house);
    Run::Async(Arc::new(move |context, arguments| {
        let house = Arc::clone(&house);
        Box::pin(async move {
            let input: I = kit::handler::typed(arguments)?;
            let result = house
                .blocking(move |house| handler(house, &context, input))
                .await;
            answer(&house, result)
        })
    }))
}

/// A handler that waits for others.
fn task<I, O, F>(house: &Arc<House>, handler: fn(Arc<House>, Context, I) -> F) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    F: Future<Output = Result<O>> + Send + 'static,
{
    let house = Arc::clone(house);
    Run::Async(Arc::new(move |context, arguments| {
        let house = Arc::clone(&house);
        Box::pin(async move {
            let input: I = kit::handler::typed(arguments)?;
            let result = handler(Arc::clone(&house), context, input).await;
            answer(&house, result)
        })
    }))
}

fn answer<O: Serialize>(house: &Arc<House>, result: Result<O>) -> Result<Reply> {
    house.write_counts_soon();
    match &result {
        // The caller is not told what exactly the disk said; the operator is.
        Err(error) if error.code == errors::STORAGE_ERROR => {
            tracing::error!(%error, cause = ?error.cause, "the data directory made trouble");
        }
        _ => {}
    }
    Reply::structured(&result?)
}
