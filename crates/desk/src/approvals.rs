//! Approvals: calls that wait for the user, decisions, and standing grants.
//!
//! An approval is a row. The station (`stations/approve.rs`) asks for it, a person
//! decides it (in the console, by `madoguchi approvals` or in the client's own
//! prompt), and the call uses it in its own transaction ([`redemption`]). Each
//! change of state is one `UPDATE` that names the expected state, so when two people
//! decide at once, the second is told so.

mod approval;
mod grants;
mod in_use;
pub mod redemption;
mod registry;
mod rows;

pub use approval::{
    APPROVAL_REQUIRED, Approval, ApprovalQuestion, Decision, LAPSES_MS, LONGEST_QUESTION, Status,
};
pub use grants::{Grant, GrantScope};
pub use in_use::{ApprovalHolder, ApprovalInUse};
pub use registry::Approvals;
pub use rows::{give_back, lapse_all, mark_used};
