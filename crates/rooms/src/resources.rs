//! What clients can read and watch: each room with its members, and its latest
//! messages.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result,
    page::Page,
    resource::{
        CompletionQuestion, Contents, Reference, Resource, Resources, Shows, Template, completions,
        list_page,
    },
};

use crate::{
    errors,
    model::{names::RoomName, uris},
    state::CounterState,
    store::{Call, Listed},
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

    async fn rooms(&self, context: &Context) -> Result<Vec<Listed>> {
        self.state.store.rooms(context.budget()).await
    }

    async fn contents(&self, call: Call, name: RoomName, messages: bool) -> Result<Contents> {
        let store = &self.state.store;
        if messages {
            let pick = get_messages::latest();
            let (page, _) = store.page(call, name.clone(), None, pick).await?;
            return Contents::json(&get_messages::shown_latest(&name, page));
        }
        let members = store.members(call, name.clone()).await?;
        Contents::json(&list_room_users::users(&name, members)?)
    }
}

impl Resources for RoomResources {
    fn shows(&self, uri: &str) -> Option<Shows> {
        uris::parse(uri).map(|(_, messages)| if messages { MESSAGE_DATA } else { MEMBER_DATA })
    }

    fn list<'a>(
        &'a self,
        context: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(async move {
            let rooms = self.rooms(context).await?;
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
            match self.contents(Call::of(context), name, messages).await {
                Ok(contents) => Ok(Some(contents)),
                Err(error) if error.code == errors::ROOM_NOT_FOUND => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn complete<'a>(
        &'a self,
        context: &'a Context,
        question: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let known = matches!(&question.about, Reference::Template(template)
                if template == ROOM || template == MESSAGES);
            if !known || question.argument != "roomName" {
                return Ok(Vec::new());
            }
            let rooms = self.rooms(context).await?.into_iter();
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
