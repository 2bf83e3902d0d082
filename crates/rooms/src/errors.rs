//! Every error of the counter, with its code and what to do next.

use kit::{Error, Rule};
use serde_json::json;

mod storage;

pub use storage::{Obstacle, STORAGE_ERROR, is_disk_full, storage};

const INVALID_ROOM_NAME: &str = "INVALID_ROOM_NAME";
const INVALID_ROOM_NAME_MESSAGE: &str =
    "A room's name is 1 to 50 letters, digits, hyphens and underscores (a-z, A-Z, 0-9, -, _).";
const INVALID_AGENT_NAME: &str = "INVALID_AGENT_NAME";
const INVALID_AGENT_NAME_MESSAGE: &str =
    "An agent's name is 1 to 50 characters of any script, without control characters, / and \\.";
const AGENT_NOT_FOUND: &str = "AGENT_NOT_FOUND";
const AGENT_NOT_IN_ROOM: &str = "AGENT_NOT_IN_ROOM";
const INVALID_MESSAGE_FORMAT: &str = "INVALID_MESSAGE_FORMAT";
const MESSAGE_MESSAGE: &str = "A message is a text of 1 to 10,000 characters.";
const METADATA_MESSAGE: &str = "The metadata must be a JSON object of at most 10,000 bytes.";
const CONFIRMATION_REQUIRED: &str = "CONFIRMATION_REQUIRED";
const CONFIRMATION_MESSAGE: &str = "This cannot be undone, so `confirm` must be true.";
pub const ROOM_NOT_FOUND: &str = "ROOM_NOT_FOUND";

pub const ROOM: Rule = rule(
    "roomName",
    "*",
    INVALID_ROOM_NAME,
    INVALID_ROOM_NAME_MESSAGE,
);
pub const AGENT: Rule = rule(
    "agentName",
    "*",
    INVALID_AGENT_NAME,
    INVALID_AGENT_NAME_MESSAGE,
);
pub const MESSAGE: Rule = rule("message", "*", INVALID_MESSAGE_FORMAT, MESSAGE_MESSAGE);
pub const METADATA: Rule = rule("metadata", "*", INVALID_MESSAGE_FORMAT, METADATA_MESSAGE);
pub const CONFIRM: Rule = rule("confirm", "*", CONFIRMATION_REQUIRED, CONFIRMATION_MESSAGE);

const fn rule(
    field: &'static str,
    keyword: &'static str,
    code: &'static str,
    message: &'static str,
) -> Rule {
    Rule {
        field,
        keyword,
        code,
        message,
    }
}

pub fn invalid_room_name() -> Error {
    Error::new(INVALID_ROOM_NAME, INVALID_ROOM_NAME_MESSAGE)
        .next("Choose such a name, for example dev-team.")
}

pub fn invalid_agent_name() -> Error {
    Error::new(INVALID_AGENT_NAME, INVALID_AGENT_NAME_MESSAGE).next("Choose such a name.")
}

pub fn reserved_agent_name(reserved: &str) -> Error {
    Error::new(
        INVALID_AGENT_NAME,
        format!("`{reserved}`, and what looks like it, is reserved for the program itself."),
    )
    .next("Choose another name.")
}

pub fn unseen_in_agent_name() -> Error {
    Error::new(
        INVALID_AGENT_NAME,
        "An agent's name has no invisible characters: zero-width ones, marks of direction, \
         special blanks.",
    )
    .next("Write the name again without them.")
}

pub fn at_before_agent_name() -> Error {
    Error::new(
        INVALID_AGENT_NAME,
        "An agent's name does not begin with @; that is how others mention it.",
    )
    .next("Leave out the @.")
}

pub fn empty_message() -> Error {
    Error::new(INVALID_MESSAGE_FORMAT, "The message is empty.").next("Say something.")
}

pub fn message_too_long(most: usize) -> Error {
    Error::new(INVALID_MESSAGE_FORMAT, "The message is too long.")
        .next(format!("Send it in parts of at most {most} characters."))
}

pub fn metadata_too_large() -> Error {
    Error::new(INVALID_MESSAGE_FORMAT, METADATA_MESSAGE)
        .next("Put less into it, or into the message itself.")
}

pub fn metadata_too_deep(most: usize) -> Error {
    Error::new(INVALID_MESSAGE_FORMAT, too_deep("The metadata", most)).next("Make it flatter.")
}

pub fn profile_too_deep(most: usize) -> Error {
    let message = too_deep("The profile's metadata", most);
    Error::new(kit::error::INVALID_ARGUMENT, message).next("Make it flatter.")
}

fn too_deep(what: &str, most: usize) -> String {
    format!("{what} is nested more than {most} levels deep.")
}

pub fn profile_too_large() -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        "The profile is larger than 10,000 bytes.",
    )
    .next("Shorten it.")
}

pub fn profiles_too_large(room: &str, most: usize) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!("The profiles of all in `{room}` would be larger than {most} bytes together."),
    )
    .next("Enter with a shorter profile, or with none.")
}

pub fn room_not_found(name: &str, nearest: Option<&str>) -> Error {
    let next = match nearest {
        Some(nearest) => {
            format!("Did you mean `{nearest}`? list_rooms shows all; create_room makes a new one.")
        }
        None => "See list_rooms, or make it with create_room.".to_owned(),
    };
    Error::new(ROOM_NOT_FOUND, format!("There is no room `{name}`.")).next(next)
}

pub fn room_already_exists(name: &str) -> Error {
    Error::new(
        "ROOM_ALREADY_EXISTS",
        format!("The room `{name}` exists already."),
    )
    .next("Go in with enter_room, or choose another name.")
}

pub fn room_limit_exceeded(most: u32) -> Error {
    Error::new(
        "ROOM_LIMIT_EXCEEDED",
        format!("There are {most} rooms already, which is the limit."),
    )
    .next("Use one of list_rooms, or make space with delete_room.")
    .details(json!({ "max_rooms": most }))
}

/// The caller asked about an agent that nobody knows.
pub fn agent_not_found(agent: &str) -> Error {
    Error::new(
        AGENT_NOT_FOUND,
        format!("`{agent}` has never entered a room nor said anything."),
    )
    .next("See list_room_users for the names, or leave out agentName.")
}

pub fn agent_not_in_room(agent: &str, room: &str) -> Error {
    Error::new(
        AGENT_NOT_IN_ROOM,
        format!("`{agent}` is not in the room `{room}`."),
    )
    .next("Enter it with enter_room.")
}

/// The same error for an agent that wanted to leave.
pub fn nothing_to_leave(error: Error) -> Error {
    match &*error.code {
        AGENT_NOT_IN_ROOM => error.next(
            "There is nothing to leave. list_rooms with agentName shows the rooms an agent is in.",
        ),
        _ => error,
    }
}

pub fn agent_already_in_room(agent: &str, room: &str) -> Error {
    Error::new(
        "AGENT_ALREADY_IN_ROOM",
        format!("`{agent}` is already in the room `{room}`, online."),
    )
    .next(
        "If that is you, go on with send_message or wait_for_messages; if not, take another name.",
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
    Error::new(
        "AGENT_NAME_TAKEN",
        format!("The name `{agent}`, or one that looks like it, belongs to {whose}."),
    )
    .next(next)
}

pub fn too_many_names_of_key(most: u32) -> Error {
    Error::new(
        "AGENT_NAME_LIMIT_EXCEEDED",
        format!("This key holds {most} agent names already, which is the limit."),
    )
    .next("Use one of them, or ask the operator to release some (madoguchi rooms names release).")
    .details(json!({ "max_names_per_key": most }))
}

pub fn too_many_names(most: u32) -> Error {
    Error::new(
        "AGENT_NAME_LIMIT_EXCEEDED",
        format!("Keys hold {most} agent names already, which is the limit."),
    )
    .next("Ask the operator to release some (madoguchi rooms names release).")
    .details(json!({ "max_names": most }))
}

pub fn name_not_held(name: &str) -> Error {
    Error::new("NAME_NOT_HELD", format!("No key holds the name `{name}`."))
        .next("See which names are held with: madoguchi rooms names")
}

pub fn name_not_shared(name: &str) -> Error {
    Error::new(
        "NAME_NOT_SHARED",
        format!("The name `{name}` is not shared with that key."),
    )
    .next("See who uses it with: madoguchi rooms names")
}

pub fn owners_damaged() -> Error {
    Error::new(
        STORAGE_ERROR,
        "The file that says which key holds which name cannot be understood.",
    )
    .next("Ask the operator to put owners.json in the rooms' data directory right.")
}

pub fn room_of_another_key(room: &str) -> Error {
    Error::new(
        "FORBIDDEN",
        format!("The room `{room}` was created with another key."),
    )
    .next("Ask whoever created it, or ask the operator for a key whose scope names this tool.")
}

pub fn room_is_full(room: &str, most: u32) -> Error {
    Error::new(
        "ROOM_MEMBER_LIMIT_EXCEEDED",
        format!("The room `{room}` has {most} members already, which is the limit."),
    )
    .next("Wait until somebody leaves, or use another room.")
    .details(json!({ "max_members": most }))
}

pub fn archive_is_full(room: &str, most_mb: u32) -> Error {
    Error::new(
        "ROOM_ARCHIVE_FULL",
        format!("The archive of the room `{room}` holds {most_mb} MB already, which is the limit."),
    )
    .next("Make space with clear_room_messages, or ask the operator to move the archive away.")
    .details(json!({ "max_archive_mb": most_mb }))
}

pub fn too_many_waiting(most: u32) -> Error {
    Error::new(
        "TOO_MANY_WAITING",
        format!("{most} calls of wait_for_messages are waiting already, which is the limit."),
    )
    .next("Use get_messages now, and wait again later.")
    .details(json!({ "limit": most }))
}

pub fn too_many_words(most: usize) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!("A query has at most {most} words."),
    )
    .next("Leave some out.")
}

pub fn confirmation_required() -> Error {
    Error::new(CONFIRMATION_REQUIRED, CONFIRMATION_MESSAGE)
        .next("Call again with confirm: true if you mean it.")
}

pub fn message_not_found(id: &str) -> Error {
    Error::new(
        "MESSAGE_NOT_FOUND",
        format!("There is no message `{id}` in this room."),
    )
    .next("Take an id from get_messages or search_messages.")
}

pub fn client_message_id_reused() -> Error {
    Error::new(
        "CLIENT_MESSAGE_ID_REUSED",
        "This clientMessageId belongs to another message of yours in this room.",
    )
    .next("Use a new clientMessageId for a new message, and the same one only to retry.")
}

pub fn rate_limited(per_minute: u32, retry_after_ms: i64) -> Error {
    Error::new(
        "RATE_LIMITED",
        format!("One agent may send {per_minute} messages in 60 seconds."),
    )
    .next(format!("Wait {retry_after_ms} ms before you send again."))
    .details(json!({ "retry_after_ms": retry_after_ms, "limit_per_minute": per_minute }))
}

pub fn agent_name_missing() -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        "mentionsOnly needs to know whose mentions are meant.",
    )
    .next("Give agentName.")
}

pub fn invalid_time(field: &str) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!("`{field}` is not a time."),
    )
    .next("Write it like 2026-11-15T09:30:00+09:00, or 2026-11-15; without an offset it is UTC.")
}

/// `file` is the one whose lock of the original server did not become free.
pub fn file_lock_timeout(timeout_ms: u128, file: Option<&str>) -> Error {
    let error = Error::new(
        "FILE_LOCK_TIMEOUT",
        format!(
            "Another process held the lock for more than {timeout_ms} ms; nothing was changed."
        ),
    );
    match file {
        None => error
            .next("Try again; if it persists, see whether a process on this data directory hangs.")
            .details(json!({ "timeout_ms": timeout_ms })),
        Some(file) => error
            .next(format!(
                "Try again; if it persists, ask the operator whether the process whose number \
                 {file}.lock holds hangs, or to remove that file if it is no server of rooms."
            ))
            .details(json!({ "timeout_ms": timeout_ms, "lock": format!("{file}.lock") })),
    }
}

/// Another process kept taking our lock on a file away.
pub fn file_lock_lost(file: &str) -> Error {
    Error::new(
        "FILE_LOCK_TIMEOUT",
        format!(
            "Another process took the lock on {file} away again and again; whether the change was \
             made is uncertain."
        ),
    )
    .next("See with list_rooms and list_room_users whether it was, and try again if not.")
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
        details: error.details.clone(),
        cause: None,
    }
}
