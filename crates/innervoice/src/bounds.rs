//! How much a caller may make this counter hold or work out, in one place.

use kit::{Result, Sql};

use crate::{
    errors,
    store::{events, outbox, reminders},
};

/// Events of one caller that are not over. A feed shows as many.
pub const MOST_EVENTS: i64 = 5_000;
/// Active reminders of one caller.
pub const MOST_REMINDERS: i64 = 1_000;
/// Messages of one caller that have yet to be sent.
pub const MOST_MESSAGES: i64 = 1_000;

/// Firings that are kept of one reminder, with what they sent.
pub const MOST_FIRINGS: i64 = 100;

/// Steps (days looked at, times found) that the rule of one call may take. It is
/// enough for each day of eighty years.
pub const STEPS_OF_A_CALL: u32 = 30_000;
/// For all rules of a list together. Those for which none are left show only the
/// time that is in their row.
pub const STEPS_OF_A_LIST: u32 = 100_000;
/// When a reminder fires. Rules that were accepted stay below it whenever they
/// fire, for no series is longer than from 1970 to 2260, day by day.
pub const STEPS_OF_A_FIRING: u32 = 200_000;

/// Letters of a time, an id or an idempotency key.
pub const LONGEST_TIME: usize = 100;
pub const LONGEST_ID: usize = 200;
pub const LONGEST_KEY: usize = 1_000;

/// Names that are nearly alike are looked for up to this length, letters of the
/// folded name: comparing takes the product of both lengths, for each contact.
pub const LONGEST_COMPARED: usize = 64;

/// Letters of a contact's name.
pub const LONGEST_NAME: usize = 200;
/// Other names, and addresses, of one contact.
pub const MOST_NAMES: usize = 50;
pub const MOST_ADDRESSES: usize = 50;

/// Whether the caller may have one event more.
pub fn check_events(sql: &mut dyn Sql, caller: &str, now: i64) -> Result<()> {
    let has = events::coming_of(sql, caller, now, MOST_EVENTS)?;
    within(has, MOST_EVENTS, "event", "calendar_cancel")
}

/// Whether the caller may have one reminder more.
pub fn check_reminders(sql: &mut dyn Sql, caller: &str) -> Result<()> {
    let has = reminders::active_of(sql, caller, MOST_REMINDERS)?;
    within(has, MOST_REMINDERS, "reminder", "reminder_cancel")
}

/// Whether the caller may have one message more in the outbox.
pub fn check_messages(sql: &mut dyn Sql, caller: &str) -> Result<()> {
    let has = outbox::waiting_of(sql, caller, MOST_MESSAGES)?;
    within(has, MOST_MESSAGES, "message", "message_cancel")
}

fn within(has: i64, most: i64, what: &str, cancel: &str) -> Result<()> {
    match has < most {
        true => Ok(()),
        false => Err(errors::too_many(what, most, cancel)),
    }
}
