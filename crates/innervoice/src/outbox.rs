//! How messages and reminders are sent.
//!
//! `mail`, `sms`, `ntfy` and `webhook` say of each attempt whether it was sent, can be
//! tried again, can never succeed, or may have been sent; `sending` keeps the rows.

mod channels;
mod http;
mod mail;
mod ntfy;
mod sending;
mod sms;
#[cfg(test)]
mod tests;
mod webhook;

pub use channels::{Channels, subject_of};
