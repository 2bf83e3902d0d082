//! One room: what was said, who is there, and how the person who looks takes part.

use kit::{
    Context, Result,
    console::{
        Action, Input, ListItem, Message, Messages, PageLink, PageQuery, Part, Section, Tag,
        TextInput, TextKind, Tone, pick,
    },
    context::Language,
};
use serde_json::json;

use super::own_names::OwnNames;
use crate::{
    errors,
    model::{members::Status, message::MessageLine, names::RoomName},
    store::{Call, Member, MessageRef, Page, Pick, RoomStore, Start},
};

/// How many messages are shown at once.
const MESSAGES: usize = 50;

pub async fn sections(
    store: &dyn RoomStore,
    context: &Context,
    own_names: &OwnNames,
    name: &str,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let Ok(room) = RoomName::parse(name) else {
        return Ok(no_such_room(context));
    };
    let members = store.members(Call::of(context), room.clone()).await;
    let mut members = match members {
        Err(error) if error.code == errors::ROOM_NOT_FOUND => return Ok(no_such_room(context)),
        members => members?,
    };
    members.sort_by(|a, b| {
        let order = |member: &Member| (member.status == Status::Offline, !member.is_waiting);
        (order(a), &a.name).cmp(&(order(b), &b.name))
    });
    let before = query.get("before").filter(|cursor| !cursor.is_empty());
    let start = before.map_or(Start::Offset(0), |cursor| {
        Start::Cursor(MessageRef::from_cursor(cursor))
    });
    let wanted = Pick {
        start,
        after: None,
        since: None,
        limit: MESSAGES,
        mentions_of: None,
    };
    let page = store.page(Call::of(context), room.clone(), None, wanted);
    let (page, _) = page.await?;
    let own_member = members.iter().find(|member| own_names.has(&member.name));
    let to = query.get("to").unwrap_or_default();
    let to = members.iter().find(|member| member.name == to);
    let writing_section = match own_member {
        Some(own_member) => writing(context, own_names, &room, own_member, to),
        None => entering(context, own_names, &room),
    };
    Ok(vec![
        conversation(context, own_names, &room, page, before.is_some()),
        writing_section,
        people(context, &room, &members),
    ])
}

fn no_such_room(context: &Context) -> Vec<Section> {
    let text = pick(
        context,
        "There is no such room.",
        "そのルームはありません。",
    );
    vec![Section {
        title: pick(context, "Room", "ルーム").into(),
        parts: vec![Part::Text(text.into())],
    }]
}

fn conversation(
    context: &Context,
    own_names: &OwnNames,
    room: &RoomName,
    page: Page,
    is_older: bool,
) -> Section {
    let this = || vec![("room", room.to_string())];
    let next = page.next.filter(|_| page.has_more);
    let older = next.map(|next| {
        let mut query = this();
        query.push(("before", next.to_cursor()));
        PageLink::new(pick(context, "Older messages", "以前のメッセージ"), query)
    });
    let newest = pick(context, "Newest messages", "最新のメッセージ");
    let lines = page.messages;
    let items = lines.iter().rev();
    let items = items.map(|line| message(own_names, line, &lines)).collect();
    Section {
        title: room.to_string(),
        parts: vec![Part::Messages(Messages {
            label: match context.language {
                Language::English => format!("Messages in {room}"),
                Language::Japanese => format!("{room} のメッセージ"),
            },
            items,
            older,
            newest: is_older.then(|| PageLink::new(newest, this())),
        })],
    }
}

fn message(own_names: &OwnNames, line: &MessageLine, others: &[MessageLine]) -> Message {
    let answers = line.reply_to.as_ref().map(|id| {
        let answered = others.iter().find(|other| other.id == *id);
        answered.map_or_else(
            || id.clone(),
            |other| format!("{}: {}", other.agent_name, other.message),
        )
    });
    Message {
        id: line.id.clone(),
        author: line.agent_name.clone(),
        at_ms: line.time().map(|at| at.as_millisecond()),
        text: line.message.clone(),
        mentions: line.mentions.clone(),
        answers,
        is_own: own_names.has(&line.agent_name),
    }
}

/// For somebody who is in the room.
fn writing(
    context: &Context,
    own_names: &OwnNames,
    room: &RoomName,
    own_member: &Member,
    to: Option<&Member>,
) -> Section {
    let who = vec![
        ("roomName", json!(room.as_str())),
        ("agentName", json!(own_member.name)),
    ];
    let message = TextInput {
        argument: "message",
        label: match context.language {
            Language::English => format!("Message from {}", own_member.name),
            Language::Japanese => format!("{} からのメッセージ", own_member.name),
        },
        hint: pick(
            context,
            "Everybody can read it. @name mentions somebody, and wakes who waits for it.",
            "全員が読めます。@名前 でメンションすると、待っている相手に届きます。",
        )
        .into(),
        value: to.map_or_else(String::new, |to| format!("@{} ", to.name)),
        is_required: true,
        kind: TextKind::Lines,
    };
    let action = |tool, label: &str, inputs| {
        Part::Action(Action {
            tool,
            label: label.into(),
            fixed: who.clone(),
            inputs,
        })
    };
    let mut parts = vec![action(
        "send_message",
        pick(context, "Send", "送信"),
        vec![Input::Text(message)],
    )];
    if own_names
        .unread(room.as_str())
        .is_some_and(|unread| unread > 0)
    {
        let label = pick(context, "Mark all as read", "すべて既読にする");
        parts.push(action("mark_read", label, Vec::new()));
    }
    let label = pick(context, "Leave the room", "退室");
    parts.push(action("leave_room", label, Vec::new()));
    Section {
        title: pick(context, "Write", "書く").into(),
        parts,
    }
}

/// For somebody who is not in the room yet.
fn entering(context: &Context, own_names: &OwnNames, room: &RoomName) -> Section {
    let name = TextInput {
        argument: "agentName",
        label: pick(context, "Your name in this room", "このルームでの名前").into(),
        hint: pick(
            context,
            "Agents see it. From then on nobody else can use it.",
            "エージェントに表示されます。以後、ほかの人は使えません。",
        )
        .into(),
        value: own_names.usual_name().to_owned(),
        is_required: true,
        ..TextInput::default()
    };
    Section {
        title: pick(context, "Take part", "参加").into(),
        parts: vec![Part::Action(Action {
            tool: "enter_room",
            label: pick(context, "Enter the room", "入室").into(),
            fixed: vec![("roomName", json!(room.as_str()))],
            inputs: vec![Input::Text(name)],
        })],
    }
}

fn people(context: &Context, room: &RoomName, members: &[Member]) -> Section {
    let items = members.iter().map(|member| {
        let (tone, text) = match (member.is_waiting, member.status) {
            (true, _) => (
                Tone::Good,
                pick(context, "waits for messages", "メッセージ待ち"),
            ),
            (false, Status::Online) => (Tone::Good, pick(context, "online", "オンライン")),
            (false, Status::Offline) => (Tone::Neutral, pick(context, "offline", "オフライン")),
        };
        let mention = vec![("room", room.to_string()), ("to", member.name.clone())];
        let profile = member.profile.as_ref();
        let role = profile.and_then(|profile| profile.role.clone());
        ListItem {
            label: member.name.clone(),
            tags: vec![Tag::new(tone, text)],
            note: role.unwrap_or_default(),
            at_ms: member.active_at.map(|at| at.as_millisecond()),
            more: vec![(pick(context, "Mention", "メンション").into(), mention)],
            ..ListItem::default()
        }
    });
    Section {
        title: pick(context, "Members", "メンバー").into(),
        parts: vec![match members.is_empty() {
            true => Part::Text(pick(context, "Nobody is here.", "誰もいません。").into()),
            false => Part::List(items.collect()),
        }],
    }
}
