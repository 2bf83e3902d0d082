//! What clients can read and watch: each room with its members, and its latest
//! messages.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{
    BoxFuture, Context, Result,
    page::Page,
    resource::{
        Contents, Question, Reference, Resource, Resources, Shows, Template, completions, list_page,
    },
};

use crate::{
    errors,
    model::{names::RoomName, uris},
    state::CounterState,
    store::Listed,
    tools::{get_messages, list_room_users},
};

const ROOM: &str = "rooms://{roomName}";
const MESSAGES: &str = "rooms://{roomName}/messages";
const JSON: &str = "application/json";
const MEMBER_DATA: Shows = Shows {
    read: &["list_room_users"],
    listed: &["list_rooms"],
};
const MESSAGE_DATA: Shows = Shows {
    read: &["get_messages"],
    listed: &["list_rooms"],
};

pub struct RoomResources {
    state: Arc<CounterState>,
}

impl RoomResources {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }

    async fn rooms(&self) -> Result<Vec<Listed>> {
        self.state.blocking(|state| state.store.rooms()).await
    }
}

impl Resources for RoomResources {
    fn shows(&self, uri: &str) -> Option<Shows> {
        uris::parse(uri).map(|(_, messages)| if messages { MESSAGE_DATA } else { MEMBER_DATA })
    }

    fn list<'a>(
        &'a self,
        _: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(async move {
            let rooms = self.rooms().await?;
            let all: Vec<Resource> = rooms.iter().flat_map(resources_of).collect();
            list_page(&all, cursor, |resource| resource)
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![
            Template {
                uri_template: ROOM,
                name: "room",
                title: "A room",
                description: "Its members, as list_room_users answers them.",
                mime_type: JSON,
                shows: MEMBER_DATA,
            },
            Template {
                uri_template: MESSAGES,
                name: "messages",
                title: "Messages of a room",
                description: "The latest messages, as get_messages answers them.",
                mime_type: JSON,
                shows: MESSAGE_DATA,
            },
        ]
    }

    fn read<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(async move {
            let Some((name, messages)) = uris::parse(uri) else {
                return Ok(None);
            };
            let now = context.clock.now();
            self.state
                .blocking(move |state| read(state, &name, messages, now))
                .await
        })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let known = matches!(&question.about, Reference::Template(template)
                if template == ROOM || template == MESSAGES);
            if !known || question.argument != "roomName" {
                return Ok(Vec::new());
            }
            let rooms = self.rooms().await?.into_iter();
            let names: Vec<String> = rooms.map(|listed| listed.name.to_string()).collect();
            Ok(completions(&names, &question.typed))
        })
    }

    /// Rooms change at any moment; subscribers hear of it.
    fn ttl_ms(&self) -> u64 {
        0
    }
}

fn resources_of(listed: &Listed) -> [Resource; 2] {
    let resource = |uri, name, title| Resource {
        uri,
        name,
        title: Some(title),
        description: listed.description.clone(),
        mime_type: JSON,
    };
    let name = &listed.name;
    [
        resource(uris::room(name), name.to_string(), format!("Room {name}")),
        resource(
            uris::messages(name),
            format!("{name} messages"),
            format!("Messages of {name}"),
        ),
    ]
}

fn read(
    state: &CounterState,
    name: &RoomName,
    messages: bool,
    now: Timestamp,
) -> Result<Option<Contents>> {
    let room = match state.store.room(name) {
        Ok(room) => room,
        Err(error) if error.code == errors::ROOM_NOT_FOUND => return Ok(None),
        Err(error) => return Err(error),
    };
    let contents = match messages {
        true => Contents::json(&get_messages::latest(&room)?),
        false => Contents::json(&list_room_users::users(&room, now)?),
    };
    contents.map(Some)
}
