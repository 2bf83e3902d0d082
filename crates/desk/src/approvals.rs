//! What waits for the user, what was decided, and what is allowed for good.
//!
//! An approval is a row: asked for by the station (`stations/approve.rs`),
//! decided by a person (the console, `madoguchi approvals`, or the client's own
//! prompt), used by the call it is about, in that call's own transaction
//! ([`redemption`]). Every change of state is one `UPDATE` that names the state
//! it expects, so that of two people who decide at once one is told so.

mod approval;
mod grants;
mod in_hand;
pub mod redemption;
mod registry;
mod rows;

pub use approval::{Approval, Decision, LAPSES_MS, LONGEST_QUESTION, Question, Status};
pub use grants::{Grant, Granted};
pub use in_hand::{Holder, InHand};
pub use registry::Approvals;
pub use rows::{give_back, mark_used};
