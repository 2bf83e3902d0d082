//! Writes events to a calendar on a CalDAV server, when one is configured.

mod remote_calendar;
mod rounds;

pub use remote_calendar::Server;
