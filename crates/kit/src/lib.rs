//! The vocabulary of Madoguchi.
//!
//! A *counter* offers *tools*, prompts and resources; the desk (crate `desk`)
//! calls them with a [`Context`] and gets a [`Reply`] or an [`Error`] back.
//! Nothing here knows a network, a protocol revision or a database engine.
//!
//! Where to look: what a counter is in [`counter`], what a tool is in [`tool`],
//! what a handler gets in [`context`], what an error says in [`error`], how rows
//! are read and written in [`sql`], how a counter is tested in [`testing`].

pub mod announcement;
pub mod approval;
pub mod arguments;
pub mod blocking;
mod card;
pub mod console;
pub mod context;
pub mod counter;
pub mod durable;
pub mod error;
pub mod file_rows;
pub mod handler;
pub mod hold;
pub mod ics;
pub mod ids;
pub mod language;
pub mod lease;
pub mod lock_wait;
pub mod minute_limit;
pub mod open_files;
pub mod page;
pub mod presence;
pub mod prompt;
pub mod reply;
pub mod resource;
pub mod schema;
mod shortlist;
pub mod sql;
pub mod testing;
pub mod text;
pub mod time;
mod today;
pub mod tool;
pub mod usage;
mod view;
mod wait_limit;
mod warning;

pub use announcement::Announcement;
pub use blocking::Blocking;
pub use context::{Caller, Context};
pub use counter::{About, Conventions, Counter};
pub use error::{Error, Result};
pub use handler::{Handler, Run};
pub use language::Language;
pub use presence::Presence;
pub use reply::Reply;
pub use shortlist::{SHORTLIST, Shortlist, shortlist};
pub use sql::{Cell, Migration, Migrations, Param, Row, Sql, Store};
pub use today::Today;
pub use tool::{Definition, Effect, Hints, Rule, Tool};
pub use view::View;
pub use wait_limit::{WaitLimit, WaitPlace};
pub use warning::Warning;

pub use futures::future::BoxFuture;
