//! How messages and reminders are sent.
//!
//! `mail` and `http` say of each attempt whether it was sent, can be tried again,
//! can never succeed, or may have been sent; `sending` keeps the rows.

mod channels;
mod http;
mod mail;
mod sending;
#[cfg(test)]
mod tests;

pub use channels::{Channels, subject_of};
