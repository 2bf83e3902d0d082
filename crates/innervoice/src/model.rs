//! Rules without any I/O: times, repetition, addresses, calendar files.

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
