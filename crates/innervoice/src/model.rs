//! Rules without any I/O.
//!
//! - `moment`: a time as it is written; `time_words`, `zone_words`, `duration`: as it is
//!   said; `spoken`: as it is told to people
//! - `repeat`: repetition rules; `repeat_words`: as they are said; `series`, `exceptions`:
//!   the times that follow
//! - `names`, `romaji`: which names are the same; `address`: e-mail and phone
//! - `ics`, `ics_read`, `vcard`: files of calendars and contacts

pub mod address;
pub mod duration;
pub mod exceptions;
pub mod ics;
pub mod ics_read;
pub mod moment;
pub mod names;
#[cfg(test)]
mod property_tests;
pub mod repeat;
pub mod repeat_words;
pub mod romaji;
pub mod series;
pub mod spoken;
pub mod time_words;
pub mod vcard;
mod zone_words;
