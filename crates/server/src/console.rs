//! The console: pages for people on the main port.
//!
//! It opens with a one-time link ([`links`]) and then knows its visitor by a
//! cookie and a token (`session`). API keys never open it, so no agent can
//! approve its own call over the network.
//!
//! - `router`: its addresses; `pages/`: what is at each; `handlers`: how pages are
//!   shown and forms answered; `act`: signing in and deciding
//! - `visitor`: who looks; `language`, `reader_zone`: in which language and zone;
//!   `words`: texts of all pages
//! - `page`: the frame; `navigation`: the list of pages; `parts`: tables, forms, notices
//! - `inbox`: what waits for a decision; `live` keeps it and other pages up to date,
//!   `open_pages` says how often
//! - `facts`: what the program tells the console besides the desk
//! - `own_page`: what a counter shows of itself; `markdown`: its documents
//! - `schema_form`: the form of a tool; `fields`: what a form sends; `person`: the call that
//!   follows; `readable`: its answer; `snippets`: the same call to be copied
//! - `records`: records of the audit; `changes`: what a call changed; `health`: what `doctor` says
//! - `view`, `response`: a page before and after it is drawn
//! - `text`: makes text of agents safe to show

mod act;
mod changes;
pub mod facts;
mod fields;
mod handlers;
mod health;
mod inbox;
mod language;
pub mod links;
mod live;
mod markdown;
mod navigation;
mod open_pages;
mod own_page;
mod page;
mod pages;
mod parts;
mod person;
mod readable;
mod reader_zone;
mod records;
mod response;
mod router;
mod schema_form;
mod session;
mod snippets;
pub mod text;
mod view;
mod visitor;
mod words;

pub use router::router;
