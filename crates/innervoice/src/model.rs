//! Rules without any I/O: times, repetition, addresses, calendar files.

pub mod address;
pub mod ics;
pub mod ics_read;
pub mod names;
pub mod phrases;
#[cfg(test)]
mod properties;
pub mod repeat;
pub mod vcard;
pub mod when;
