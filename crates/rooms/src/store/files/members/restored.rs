//! The members of a room whose `presence.json` is damaged, by its copy, the
//! messages, the read positions and the signs of life.

use std::{collections::HashMap, io};

use jiff::Timestamp;

use crate::{
    model::{
        members::{Activities, Presence, Status, User},
        message::{SearchedLine, written},
        names::{SYSTEM, canonical},
        reads::Reads,
    },
    store::files::{
        cached::Copied,
        log::index::{Files, Index},
    },
};

/// How many of the newest messages are looked through for members,
const LOOKED_THROUGH: usize = 100_000;
/// and how many members are found at most: the last who spoke.
const MOST_MEMBERS: usize = 2_000;

/// The members in the copy of the file, and everybody who has since spoken (in the order
/// in which they first did), read or been active. Without a copy somebody who left may be
/// among them: better than losing a member.
pub fn members(
    room: &str,
    copy: Option<Copied<Presence>>,
    (index, files): (&Index, &Files),
    activities: &Activities,
    reads: &Reads,
) -> io::Result<Presence> {
    let since = copy.as_ref().map(|copy| copy.at);
    let is_new = |time: Option<Timestamp>| since.is_none_or(|since| time > Some(since));
    let mut presence = copy.map(|copy| copy.value).unwrap_or_default();
    room.clone_into(&mut presence.room_name);
    let mut spoke: HashMap<String, (usize, Option<Timestamp>)> = HashMap::new();
    let mut reader = index.reader(files);
    let oldest = index.count().saturating_sub(LOOKED_THROUGH);
    for number in (oldest..index.count()).rev() {
        let text = reader.text(number)?.unwrap_or_default();
        let Some(line) = SearchedLine::parse(text) else {
            continue;
        };
        let name = canonical(&line.agent_name);
        if name == SYSTEM || !is_new(line.time()) {
            continue;
        }
        if let Some(first) = spoke.get_mut(&*name) {
            *first = (number, line.time());
        } else if spoke.len() < MOST_MEMBERS {
            spoke.insert(name.into_owned(), (number, line.time()));
        }
    }
    let mut spoke: Vec<_> = spoke.into_iter().collect();
    spoke.sort_by_key(|(_, (number, _))| *number);
    let users = &mut presence.users;
    let member = |since: Option<Timestamp>| {
        let mut user = User::new(&since.map(written).unwrap_or_default(), None);
        user.status = Status::Offline;
        user
    };
    for (name, (_, since)) in &spoke {
        if users.get(name).is_none() {
            users.set(name, member(*since));
        }
    }
    for (name, status) in reads.iter() {
        if users.get(name).is_none() && users.len() < MOST_MEMBERS && is_new(status.time()) {
            users.set(name, member(None));
        }
    }
    // Leaving removes these, so everybody with one is a member, and maybe online.
    for (name, activity) in activities.iter() {
        if users.get(name).is_none() {
            users.set(name, member(Some(activity.last_active_at)));
        }
        if let Some(user) = users.get_mut(name) {
            user.status = Status::Online;
        }
    }
    Ok(presence)
}
