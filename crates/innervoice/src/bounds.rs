//! All limits of what a caller may store, and of the work one call may cause.

use kit::{Result, Sql};

use crate::{
    errors,
    store::{events, outbox, reminders},
};

/// Events of one caller that are not over. A feed shows the same number.
pub const MOST_EVENTS: i64 = 5_000;
/// Active reminders of one caller.
pub const MOST_REMINDERS: i64 = 1_000;
/// Messages of one caller that are not sent yet.
pub const MOST_MESSAGES: i64 = 1_000;

/// Firings kept for each reminder, with what they sent.
pub const MOST_FIRINGS: i64 = 100;

/// Steps (days examined, times found) that the rule of one call may take: enough
/// for every day of eighty years.
pub const STEPS_OF_A_CALL: u32 = 30_000;
/// For all rules of a list together. Rules without any steps left show only the
/// time in their row.
pub const STEPS_OF_A_LIST: u32 = 100_000;
/// For one firing. Accepted rules always stay below it, since no series is longer
/// than every day from 1970 to 2260.
pub const STEPS_OF_A_FIRING: u32 = 200_000;

/// How many overlapping events are listed.
pub const MOST_CONFLICTS: usize = 10;
/// Occurrences of one series that were moved or skipped.
pub const MOST_EXCEPTIONS: usize = 200;
/// Recipients of one message.
pub const MOST_RECIPIENTS: usize = 20;

/// Characters of a time, an id or an idempotency key.
pub const LONGEST_TIME: usize = 100;
pub const LONGEST_ID: usize = 200;
pub const LONGEST_KEY: usize = 1_000;

/// Characters of a folded name up to which similar names are searched. Comparing
/// takes the product of both lengths, for each contact.
pub const LONGEST_COMPARED: usize = 64;

/// Characters of a contact's name.
pub const LONGEST_NAME: usize = 200;
/// Other names and addresses of one contact.
pub const MOST_NAMES: usize = 50;
pub const MOST_ADDRESSES: usize = 50;

/// An error if the caller has too many events.
pub fn check_events(sql: &mut dyn Sql, caller: &str, now: i64) -> Result<()> {
    let has = events::coming_of(sql, caller, now, MOST_EVENTS)?;
    within(has, MOST_EVENTS, "event", "calendar_cancel")
}

/// An error if the caller has too many reminders.
pub fn check_reminders(sql: &mut dyn Sql, caller: &str) -> Result<()> {
    let has = reminders::active_of(sql, caller, MOST_REMINDERS)?;
    within(has, MOST_REMINDERS, "reminder", "reminder_cancel")
}

/// An error if the caller would have too many unsent messages with so many more.
pub fn check_messages(sql: &mut dyn Sql, caller: &str, more: usize) -> Result<()> {
    let has = outbox::waiting_of(sql, caller, MOST_MESSAGES)?;
    let more = i64::try_from(more).unwrap_or(MOST_MESSAGES);
    within(has + more - 1, MOST_MESSAGES, "message", "message_cancel")
}

fn within(has: i64, most: i64, what: &str, cancel: &str) -> Result<()> {
    match has < most {
        true => Ok(()),
        false => Err(errors::too_many(what, most, cancel)),
    }
}
