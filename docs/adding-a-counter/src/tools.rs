//! One file for each tool.

pub mod sign_guestbook;
