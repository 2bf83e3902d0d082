//! The counter's tools, one file each: input, output, description, handler.

mod arguments;
pub mod calendar_cancel;
pub mod calendar_create;
pub mod calendar_list;
pub mod calendar_update;
mod cancel;
pub mod contacts_search;
mod event;
mod event_changes;
mod first_step;
pub mod free_slots;
pub mod message_cancel;
pub mod message_list;
pub mod message_send;
mod occurrence;
mod range;
mod reminder;
pub mod reminder_cancel;
pub mod reminder_create;
pub mod reminder_list;
pub mod reminder_update;

use kit::Hints;

/// Adds something that people outside this program see.
const ADDS_OUTSIDE: Hints = Hints {
    open_world: true,
    ..Hints::ADDS
};

/// Overwrites what is there; a second call changes nothing more.
const OVERWRITES: Hints = Hints::REMOVES;

/// 100 bits, so that nobody can guess an id.
const ID_LENGTH: usize = 20;

const OK: &str = "ok";

/// Shortens a list that was read one longer than its limit. Returns whether there
/// was more.
fn cut_to<T>(found: &mut Vec<T>, limit: i64) -> bool {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > limit;
    found.truncate(limit);
    has_more
}
