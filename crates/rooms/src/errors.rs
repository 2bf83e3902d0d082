//! Every error of the counter, with its code and what to do next.

use kit::{
    Error, Rule,
    error::INVALID_ARGUMENT,
    tool::{UNKNOWN, rule},
};
use serde_json::json;

mod storage;

pub use storage::{
    Obstacle, STORAGE_ERROR, is_disk_full, rooms_left_in_files, rooms_moved, storage,
};

const INVALID_ROOM_NAME: &str = "INVALID_ROOM_NAME";
const INVALID_ROOM_NAME_MESSAGE: &str =
    "A room's name is 1 to 50 letters, digits, hyphens and underscores (a-z, A-Z, 0-9, -, _).";
const INVALID_AGENT_NAME: &str = "INVALID_AGENT_NAME";
const INVALID_AGENT_NAME_MESSAGE: &str =
    "An agent's name is 1 to 50 characters of any script, without control characters, / and \\.";
pub const AGENT_ALREADY_IN_ROOM: &str = "AGENT_ALREADY_IN_ROOM";
const AGENT_NOT_IN_ROOM: &str = "AGENT_NOT_IN_ROOM";
const INVALID_MESSAGE_FORMAT: &str = "INVALID_MESSAGE_FORMAT";
const MESSAGE_MESSAGE: &str = "A message is a text of 1 to 10,000 characters.";
const MESSAGE_TOO_LONG: &str = "The message is longer than 10,000 characters; nothing was sent. Split it: send each part as a message of its own, marked (1/3), (2/3) and so on, the later ones with replyTo set to the messageId of the first.";
const NO_RECIPIENT: &str = "There are no private messages: everybody can read what is sent to a room. Mention somebody with @name in the text.";
const METADATA_MESSAGE: &str = "The metadata must be a JSON object of at most 10,000 bytes.";
const CONFIRMATION_REQUIRED: &str = "CONFIRMATION_REQUIRED";
const CONFIRMATION_MESSAGE: &str = "This cannot be undone, so `confirm` must be true.";
const AGENT_NAME_LIMIT_EXCEEDED: &str = "AGENT_NAME_LIMIT_EXCEEDED";
const FILE_LOCK_TIMEOUT: &str = "FILE_LOCK_TIMEOUT";
pub const ROOM_NOT_FOUND: &str = "ROOM_NOT_FOUND";

/// The codes of broken schema rules, the same in every tool.
pub const RULES: &[Rule] = &[
    missing("roomName", INVALID_ROOM_NAME, "`roomName` is missing."),
    any("roomName", INVALID_ROOM_NAME, INVALID_ROOM_NAME_MESSAGE),
    missing("agentName", INVALID_AGENT_NAME, "`agentName` is missing."),
    any("agentName", INVALID_AGENT_NAME, INVALID_AGENT_NAME_MESSAGE),
    missing("message", INVALID_MESSAGE_FORMAT, "`message` is missing."),
    rule(
        "message",
        "maxLength",
        INVALID_MESSAGE_FORMAT,
        MESSAGE_TOO_LONG,
    ),
    any("message", INVALID_MESSAGE_FORMAT, MESSAGE_MESSAGE),
    any("metadata", INVALID_MESSAGE_FORMAT, METADATA_MESSAGE),
    any("confirm", CONFIRMATION_REQUIRED, CONFIRMATION_MESSAGE),
    rule("to", UNKNOWN, "UNKNOWN_ARGUMENT", NO_RECIPIENT),
    rule("recipient", UNKNOWN, "UNKNOWN_ARGUMENT", NO_RECIPIENT),
];

const fn any(field: &'static str, code: &'static str, message: &'static str) -> Rule {
    rule(field, "*", code, message)
}

const fn missing(field: &'static str, code: &'static str, message: &'static str) -> Rule {
    rule(field, "required", code, message)
}

/// What happened, and what to do next.
fn error(code: &'static str, message: impl Into<String>, next: impl Into<String>) -> Error {
    Error::new(code, message).next(next)
}

pub fn invalid_room_name() -> Error {
    let next = "Choose such a name, for example dev-team.";
    error(INVALID_ROOM_NAME, INVALID_ROOM_NAME_MESSAGE, next)
        .details(json!({ "field": "roomName" }))
}

pub fn invalid_agent_name() -> Error {
    let next = "Choose such a name.";
    error(INVALID_AGENT_NAME, INVALID_AGENT_NAME_MESSAGE, next)
        .details(json!({ "field": "agentName" }))
}

pub fn reserved_agent_name(reserved: &str) -> Error {
    let message = format!("`{reserved}` and names that look like it are reserved.");
    error(INVALID_AGENT_NAME, message, "Choose another name.")
}

pub fn invisible_in_agent_name() -> Error {
    error(
        INVALID_AGENT_NAME,
        "The name contains an invisible character, such as a zero-width space.",
        "Write the name again without it.",
    )
}

pub fn at_before_agent_name() -> Error {
    error(
        INVALID_AGENT_NAME,
        "A name can't begin with @, which marks a mention.",
        "Leave out the @.",
    )
}

pub fn empty_message() -> Error {
    let message = "The message is empty.";
    error(INVALID_MESSAGE_FORMAT, message, "Write a text.").details(json!({ "field": "message" }))
}

pub fn message_too_long(length: usize, most: usize) -> Error {
    let next = format!(
        "It has {length}; {} parts are enough.",
        length.div_ceil(most)
    );
    error(INVALID_MESSAGE_FORMAT, MESSAGE_TOO_LONG, next)
}

pub fn metadata_too_large() -> Error {
    let next = "Shorten it, or move some of it into the message.";
    error(INVALID_MESSAGE_FORMAT, METADATA_MESSAGE, next)
}

pub fn metadata_too_deep(most: usize) -> Error {
    too_deep(INVALID_MESSAGE_FORMAT, "The metadata", most)
}

pub fn profile_too_deep(most: usize) -> Error {
    too_deep(INVALID_ARGUMENT, "The profile's metadata", most)
}

fn too_deep(code: &'static str, what: &str, most: usize) -> Error {
    let message = format!("{what} is nested more than {most} levels deep.");
    error(code, message, "Make it flatter.")
}

pub fn profile_too_large() -> Error {
    let message = "The profile is larger than 10,000 bytes.";
    error(INVALID_ARGUMENT, message, "Shorten it.")
}

pub fn profiles_too_large(room: &str, most: usize) -> Error {
    error(
        INVALID_ARGUMENT,
        format!("The profiles in `{room}` would take more than {most} bytes together."),
        "Enter with a shorter profile, or without one.",
    )
}

pub fn room_not_found(name: &str, nearest: Option<&str>) -> Error {
    let next = match nearest {
        Some(nearest) => {
            format!("Did you mean `{nearest}`? list_rooms lists all; create_room creates one.")
        }
        None => "Use a room of list_rooms, or create it with create_room.".to_owned(),
    };
    error(ROOM_NOT_FOUND, format!("There is no room `{name}`."), next)
}

pub fn room_already_exists(name: &str) -> Error {
    error(
        "ROOM_ALREADY_EXISTS",
        format!("The room `{name}` already exists."),
        "Enter it with enter_room, or choose another name.",
    )
}

pub fn room_limit_exceeded(most: u32) -> Error {
    error(
        "ROOM_LIMIT_EXCEEDED",
        format!("There are already {most} rooms, which is the limit."),
        "Use a room of list_rooms, or delete one with delete_room.",
    )
    .details(json!({ "max_rooms": most }))
}

/// The caller asked about an agent that nobody knows.
pub fn agent_not_found(agent: &str) -> Error {
    error(
        "AGENT_NOT_FOUND",
        format!("`{agent}` has never entered a room or sent a message."),
        "Take a name from list_room_users, or leave out agentName.",
    )
}

pub fn agent_not_in_room(agent: &str, room: &str) -> Error {
    error(
        AGENT_NOT_IN_ROOM,
        format!("`{agent}` is not in the room `{room}`."),
        "Enter it with enter_room.",
    )
}

/// The same error for an agent that wanted to leave.
pub fn nothing_to_leave(error: Error) -> Error {
    match &*error.code {
        AGENT_NOT_IN_ROOM => error.next(
            "There is nothing to leave. list_rooms with agentName lists the rooms an agent is in.",
        ),
        _ => error,
    }
}

pub fn agent_already_in_room(agent: &str, room: &str) -> Error {
    error(
        AGENT_ALREADY_IN_ROOM,
        format!("`{agent}` is already in the room `{room}` and online."),
        "If that is you, go on with send_message or wait_for_messages. If not, choose another name.",
    )
}

/// `has_key`: whether the caller has a key of its own.
pub fn agent_name_taken(agent: &str, has_key: bool) -> Error {
    let (whose, next) = match has_key {
        true => (
            "another key",
            "Choose another agentName. If the name is yours, ask the operator to let this key use \
             it (madoguchi rooms names share) or to release it (madoguchi rooms names release).",
        ),
        false => ("a key", "Call with that key, or choose another agentName."),
    };
    let message = format!("The name `{agent}`, or one that looks like it, belongs to {whose}.");
    error("AGENT_NAME_TAKEN", message, next)
}

pub fn too_many_names_of_key(most: u32) -> Error {
    error(
        AGENT_NAME_LIMIT_EXCEEDED,
        format!("This key already holds {most} agent names, which is the limit."),
        "Use one of them, or ask the operator to release some (madoguchi rooms names release).",
    )
    .details(json!({ "max_names_per_key": most }))
}

pub fn too_many_names(most: u32) -> Error {
    error(
        AGENT_NAME_LIMIT_EXCEEDED,
        format!("Keys already hold {most} agent names, which is the limit."),
        "Ask the operator to release some (madoguchi rooms names release).",
    )
    .details(json!({ "max_names": most }))
}

pub fn name_not_held(name: &str) -> Error {
    error(
        "NAME_NOT_HELD",
        format!("No key holds the name `{name}`."),
        "List the names that keys hold with: madoguchi rooms names",
    )
}

pub fn name_not_shared(name: &str) -> Error {
    error(
        "NAME_NOT_SHARED",
        format!("The name `{name}` is not shared with that key."),
        "List the names and their keys with: madoguchi rooms names",
    )
}

pub fn owners_damaged() -> Error {
    error(
        STORAGE_ERROR,
        "The file that lists which key holds which name is damaged.",
        "Ask the operator to repair owners.json in the data directory of the rooms.",
    )
}

pub fn room_of_another_key(room: &str) -> Error {
    error(
        "FORBIDDEN",
        format!("The room `{room}` was created with another key."),
        "Ask whoever created it, or ask the operator for a key whose scope names this tool.",
    )
}

pub fn room_is_full(room: &str, most: u32) -> Error {
    error(
        "ROOM_MEMBER_LIMIT_EXCEEDED",
        format!("The room `{room}` already has {most} members, which is the limit."),
        "Wait until somebody leaves, or use another room.",
    )
    .details(json!({ "max_members": most }))
}

pub fn archive_is_full(room: &str, most_mb: u32) -> Error {
    error(
        "ROOM_ARCHIVE_FULL",
        format!("The archive of the room `{room}` has reached its limit of {most_mb} MB."),
        "Delete the messages with clear_room_messages, or ask the operator to move the archive.",
    )
    .details(json!({ "max_archive_mb": most_mb }))
}

pub fn too_many_waiting(most: u32) -> Error {
    error(
        "TOO_MANY_WAITING",
        format!("{most} calls of wait_for_messages are already waiting, which is the limit."),
        "Use get_messages now, and wait again later.",
    )
    .details(json!({ "limit": most }))
}

pub fn too_many_words(most: usize) -> Error {
    let message = format!("A query has at most {most} words.");
    error(INVALID_ARGUMENT, message, "Leave some out.")
}

pub fn confirmation_required() -> Error {
    error(
        CONFIRMATION_REQUIRED,
        CONFIRMATION_MESSAGE,
        "Call again with confirm: true if you are sure.",
    )
}

pub fn message_not_found(id: &str) -> Error {
    error(
        "MESSAGE_NOT_FOUND",
        format!("There is no message `{id}` in this room."),
        "Take an id from get_messages or search_messages.",
    )
}

pub fn client_message_id_reused() -> Error {
    error(
        "CLIENT_MESSAGE_ID_REUSED",
        "You used this clientMessageId for a different message in this room.",
        "Choose a new clientMessageId for a new message. Repeat one only to retry.",
    )
}

pub fn rate_limited(per_minute: u32, retry_after_ms: i64) -> Error {
    error(
        "RATE_LIMITED",
        format!("An agent may send {per_minute} messages in 60 seconds."),
        format!("Wait {retry_after_ms} ms before you send again."),
    )
    .details(json!({ "retry_after_ms": retry_after_ms, "limit_per_minute": per_minute }))
}

pub fn agent_name_missing() -> Error {
    error(
        INVALID_ARGUMENT,
        "mentionsOnly needs agentName: whose mentions are meant?",
        "Add agentName.",
    )
}

pub fn invalid_time(field: &str, now: &str) -> Error {
    error(
        INVALID_ARGUMENT,
        format!("`{field}` is not a time."),
        "Write it like 2026-11-15T09:30:00+09:00 or 2026-11-15. Without an offset it is UTC.",
    )
    .details(json!({ "field": field, "now": now, "time_zone": "UTC" }))
}

/// An error of a call that has begun to wait.
pub fn while_waiting(error: Error) -> Error {
    let (message, reason) = match &*error.code {
        ROOM_NOT_FOUND => ("The room was deleted while you waited.", "ROOM_DELETED"),
        AGENT_NOT_IN_ROOM => ("You left the room while you waited.", "LEFT"),
        _ => return error,
    };
    Error {
        message: message.to_owned(),
        details: Some(json!({ "reason": reason })),
        ..error
    }
}

/// `file`: the file whose lock of the original server did not become free.
pub fn file_lock_timeout(timeout_ms: u128, file: Option<&str>) -> Error {
    let message =
        format!("Another process held a lock for more than {timeout_ms} ms. Nothing was changed.");
    let Some(file) = file else {
        let next =
            "Try again. If it persists, check whether a process on this data directory hangs.";
        return error(FILE_LOCK_TIMEOUT, message, next)
            .details(json!({ "timeout_ms": timeout_ms }));
    };
    let next = format!(
        "Try again. If it persists, ask the operator whether the process whose number is in \
         {file}.lock hangs. If that process is no server of rooms, the file can be removed."
    );
    error(FILE_LOCK_TIMEOUT, message, next)
        .details(json!({ "timeout_ms": timeout_ms, "lock": format!("{file}.lock") }))
}

/// Another process kept taking our lock on a file away.
pub fn file_lock_lost(file: &str) -> Error {
    error(
        FILE_LOCK_TIMEOUT,
        format!(
            "Another process repeatedly took the lock on {file} away. It is uncertain whether the \
             change was made."
        ),
        "Check with list_rooms and list_room_users, and try again if it was not.",
    )
    .details(json!({ "lock": format!("{file}.lock") }))
}

/// The same error for each message of a batch. The cause stays with the original
/// error, which is logged.
pub fn again(error: &Error) -> Error {
    Error {
        code: error.code.clone(),
        message: error.message.clone(),
        next: error.next.clone(),
        japanese: error.japanese.clone(),
        spoken: error.spoken.clone(),
        details: error.details.clone(),
        cause: None,
    }
}
