//! All rooms: who is in them, what was said last, and what is unread.

use kit::{
    Context, Result,
    console::{Action, Input, ListItem, Part, Section, Tag, TextInput, Tone, pick},
    context::Language,
};

use super::own_names::OwnNames;
use crate::{
    model::{message::MessageLine, names::RoomName},
    store::{Call, Pick, RoomStore, RoomSummary, Start},
};

/// How many rooms are listed.
const MOST_ROOMS: usize = 200;

/// `open`: the room that the page shows. The list is short then.
pub async fn sections(
    store: &dyn RoomStore,
    context: &Context,
    own_names: &OwnNames,
    open: Option<&str>,
) -> Result<Vec<Section>> {
    let list = store.list_rooms(Call::of(context), None).await?;
    let more = list.rooms.len().saturating_sub(MOST_ROOMS);
    let mut items = Vec::new();
    for room in list.rooms.into_iter().take(MOST_ROOMS) {
        let last = match open {
            Some(_) => None,
            None => last_message(store, context, &room.listed.name).await,
        };
        items.push(item(context, own_names, room, last, open));
    }
    // Those in which something was said lately come first.
    items.sort_by_key(|item| std::cmp::Reverse(item.at_ms));
    let mut parts = vec![match items.is_empty() {
        true => Part::Text(
            pick(
                context,
                "There are no rooms yet.",
                "ルームはまだありません。",
            )
            .into(),
        ),
        false => Part::List(items),
    }];
    if more > 0 {
        parts.push(Part::Text(match context.language {
            Language::English => format!("{more} more rooms are not listed."),
            Language::Japanese => format!("ほかに{more}のルームがあります。"),
        }));
    }
    let warnings = list.warnings.into_iter();
    parts.extend(warnings.map(|warning| Part::Text(warning.message)));
    Ok(vec![
        Section {
            title: pick(context, "Rooms", "ルーム").into(),
            parts,
        },
        new_room(context),
    ])
}

/// `None` if there is none, or the room can't be read.
async fn last_message(
    store: &dyn RoomStore,
    context: &Context,
    room: &RoomName,
) -> Option<MessageLine> {
    let newest = Pick {
        start: Start::Offset(0),
        after: None,
        since: None,
        limit: 1,
        mentions_of: None,
    };
    let page = store.page(Call::of(context), room.clone(), None, newest);
    page.await.ok()?.0.messages.pop()
}

fn item(
    context: &Context,
    own_names: &OwnNames,
    room: RoomSummary,
    last: Option<MessageLine>,
    open: Option<&str>,
) -> ListItem {
    let name = room.listed.name.as_str();
    let (people, messages) = (room.users, room.messages);
    let size = match context.language {
        Language::English => {
            format!(
                "{}, {}",
                counted(people, "member"),
                counted(messages, "message")
            )
        }
        Language::Japanese => format!("メンバー{people}、メッセージ{messages}"),
    };
    let mut tags = vec![Tag::new(Tone::Neutral, size)];
    if let Some(unread) = own_names.unread(name).filter(|unread| *unread > 0) {
        tags.push(Tag::new(
            Tone::Good,
            match context.language {
                Language::English => format!("{unread} unread"),
                Language::Japanese => format!("未読{unread}"),
            },
        ));
    }
    ListItem {
        label: name.to_owned(),
        query: Some(vec![("room", name.to_owned())]),
        is_current: open == Some(name),
        tags,
        at_ms: last
            .as_ref()
            .and_then(|line| Some(line.time()?.as_millisecond())),
        note: match last {
            Some(line) => format!("{}: {}", line.agent_name, line.message),
            None => room.listed.description.unwrap_or_default(),
        },
        more: Vec::new(),
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn new_room(context: &Context) -> Section {
    let name = TextInput {
        argument: "roomName",
        label: pick(context, "Name", "名前").into(),
        hint: pick(
            context,
            "Letters, digits, - and _",
            "英数字、ハイフン、アンダースコア",
        )
        .into(),
        is_required: true,
        ..TextInput::default()
    };
    let description = TextInput {
        argument: "description",
        label: pick(context, "What it is for", "説明").into(),
        ..TextInput::default()
    };
    Section {
        title: pick(context, "New room", "新しいルーム").into(),
        parts: vec![Part::Action(Action {
            tool: "create_room",
            label: pick(context, "Create it", "作成").into(),
            fixed: Vec::new(),
            inputs: vec![Input::Text(name), Input::Text(description)],
        })],
    }
}
