//! The console: pages for people on the main port.
//!
//! It opens with a one-time link ([`links`]) and then knows its visitor by a
//! cookie and a token (`session`). API keys never open it, so no agent can
//! approve its own call over the network.
//!
//! - `router`: its addresses; `act`: what visitors do there
//! - `visitor`: who looks; `language`: in which language; `words`: all texts
//! - `inbox`: what is shown; `live` keeps it up to date; `page` is around it
//! - `text`: makes text of agents safe to show

mod act;
mod inbox;
mod language;
pub mod links;
mod live;
mod page;
mod response;
mod router;
mod session;
pub mod text;
mod visitor;
mod words;

pub use router::router;
