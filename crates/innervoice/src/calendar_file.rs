//! Events as iCalendar files: for subscribers, readers and a CalDAV server.

use jiff::tz::TimeZone;
use kit::{Result, Sql};

use crate::{
    answers::timestamp,
    model::ics::{self, IcsEvent},
    store::events::{self, Event},
};

/// Events that ended longer ago are neither in the feed nor written to a server.
pub const PAST_MS: i64 = 366 * 24 * 60 * 60_000;
const MOST_IN_FEED: i64 = 5_000;

/// The whole calendar as a file to subscribe to.
pub fn feed(sql: &mut dyn Sql, now: i64) -> Result<String> {
    let events = events::for_feed(sql, now - PAST_MS, MOST_IN_FEED)?;
    Ok(file(&events))
}

/// These events as one file.
pub fn file(events: &[Event]) -> String {
    let zones: Vec<_> = events.iter().map(Event::zone).collect();
    let entries = events.iter().zip(&zones);
    let entries: Vec<IcsEvent<'_>> = entries.map(|(event, zone)| entry(event, zone)).collect();
    ics::calendar("InnerVoice", &entries)
}

/// One event as a CalDAV server keeps it.
pub fn object(event: &Event) -> String {
    ics::object(entry(event, &event.zone()))
}

fn entry<'a>(event: &'a Event, zone: &'a TimeZone) -> IcsEvent<'a> {
    IcsEvent {
        id: &event.id,
        title: &event.title,
        description: &event.description,
        location: &event.location,
        starts_at: event.start(),
        ends_at: timestamp(event.ends_at),
        zone,
        sequence: event.sequence,
        is_cancelled: event.cancelled_at.is_some(),
        created_at: timestamp(event.created_at),
        updated_at: timestamp(event.updated_at),
        rule: event.rule.as_deref(),
        all_day: event.all_day,
        exceptions: &event.exceptions,
    }
}
